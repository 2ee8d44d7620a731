//go:build !arm

package bloom

import "unsafe"

// This file alone hides pointers from the compiler.
//
// A function of a user's that is called through a variable may do with its argument
// whatever it likes, as far as the compiler knows: so it would move the argument to the
// heap, and with a key the buffer on the stack of the caller of Add, at each call. The
// contract of such functions forbids what the compiler is afraid of: they must not keep
// the slice beyond the call. So the functions here pass the pointer as a number for
// the length of one expression, after which the compiler has lost track of it.
//
// Why that is safe: a pointer as a number is not adjusted when the runtime copies a stack
// because it must grow, and not seen by the garbage collector. Stacks are copied at calls
// only (a goroutine that is preempted between two calls is not moved, isShrinkStackSafe in
// the runtime), and there is none between the two conversions. In the function that is
// called it is a pointer again, which is adjusted and seen like every other. What it points
// to outlives the call: the variable is in the frame of a function that waits for the call
// to return.
//
// They are not inlined: within its own function the compiler may keep the number in place of
// the address of the variable, and use it after a call that has moved the stack. So the number exists in a frame without calls only, and
// whoever calls these functions has pointers on both sides.
//
// The rule that follows for the code all the same: what these functions return is an argument
// of the call and nothing else. TestStackGrowsInTheCall.
//
// On 32-bit ARM positions of the first call were lost all the same, for a reason that was not
// found: there nothing is hidden, and own functions cost an allocation. escape_arm.go.
//
// With -d=checkptr, which -race implies, the compiler would put calls of its own between
// the conversions: hence go:nocheckptr.
//
// A function that breaks the contract and keeps the slice has a pointer into a stack that
// is used for something else: it reads what is not the key, and the garbage collector may
// end the program when it finds the pointer ("found bad pointer in Go heap").

// unescaped returns the same key.
//
//go:noinline
//go:nosplit
//go:nocheckptr
func unescaped(key []byte) []byte {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(key)))
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), len(key))
}

// unescapedPositions and unescapedMasks return the same slice, for the functions of own
// strategies.
//
//go:noinline
//go:nosplit
//go:nocheckptr
func unescapedPositions(dst []uint64) []uint64 {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	return unsafe.Slice(*(**uint64)(unsafe.Pointer(&p)), len(dst))
}

//go:noinline
//go:nosplit
//go:nocheckptr
func unescapedMasks(dst []Mask) []Mask {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	return unsafe.Slice(*(**Mask)(unsafe.Pointer(&p)), len(dst))
}
