// Package noescape hides pointers from the compiler's escape analysis. It alone does so.
//
// The compiler assumes that a function called through a variable may keep its arguments. So it
// moves them to the heap: with a key, the buffer on the stack of the caller of Add, at each
// call. The contract of such functions forbids what the compiler assumes: they must not keep
// the slice beyond the call.
//
// Why this is safe: hide passes the pointer on as a number, and the compiler does not see
// that both are the same. A number is neither adjusted when the runtime moves a growing
// stack, nor seen by the garbage collector. But it exists in the frame of hide only. Stacks
// are moved in calls only (a goroutine that is preempted elsewhere stays where it is and is
// scanned conservatively: isShrinkStackSafe in the runtime), and hide calls nothing. Before
// and after, the pointer is like every other. Its target outlives the call: the variable is in
// the frame of a function that waits for the call to return.
//
// So everything rests on hide calling nothing, hence its directives. Inlined, it would be in a
// frame that calls; a check of the stack's size is a call, and so are the checks of -race and
// -d=checkptr. unsafe.Slice stands outside: it multiplies by the size of an element, which is
// on 32-bit ARM a call that may grow the stack. TestStackGrowsAtEachDepth of package bloom.
//
// A function that breaks the contract and keeps the slice has a pointer into a stack that is
// used for something else: it reads other data, and the garbage collector may end the program
// when it finds the pointer ("found bad pointer in Go heap").
package noescape

import "unsafe"

// Slice returns the same slice. It is for the argument of the call of a caller's function and
// for nothing else: the result must not outlive the variable, and the compiler does not see
// that the variable is in use.
func Slice[E any](s []E) []E {
	return unsafe.Slice((*E)(hide(unsafe.Pointer(unsafe.SliceData(s)))), cap(s))[:len(s)]
}

// hide returns p.
//
//go:noinline
//go:nosplit
//go:nocheckptr
//go:norace
func hide(p unsafe.Pointer) unsafe.Pointer {
	number := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&number))
}
