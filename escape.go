package bloom

import "unsafe"

// This file alone hides pointers from the compiler.
//
// A user's function that is called through a variable may do with its argument
// whatever it likes, as far as the compiler knows: so it would move the argument to the
// heap, and with a key the buffer on the stack of the caller of Add, at each call. The
// contract of such functions forbids what the compiler is afraid of: they must not keep
// the slice beyond the call.
//
// Why that is safe: noescape passes the pointer on as a number, and the compiler does not
// see that the two are the same. A number is neither adjusted when the runtime moves a
// stack that must grow, nor seen by the garbage collector. But it exists in the frame of
// noescape only, stacks are moved in calls only (a goroutine that is preempted elsewhere
// stays where it is and is scanned conservatively: isShrinkStackSafe in the runtime), and
// noescape calls nothing. Before and after, it is a pointer like every other. What it points
// to outlives the call: the variable is in the frame of a function that waits for the call
// to return.
//
// So everything rests on noescape calling nothing, hence the directives. Inlined, it
// would be in a frame that calls; a check of the stack's size is a call, and so are the
// checks of -race and -d=checkptr. unsafe.Slice stands outside: it multiplies by the size of
// an element, which on 32-bit ARM is a call that may grow the stack. With it inside,
// positions were written to where the stack had been. TestStackGrowsAtEachDepth.
//
// A function that breaks the contract and keeps the slice has a pointer into a stack that
// is used for something else: it reads what is not the key, and the garbage collector may
// end the program when it finds the pointer ("found bad pointer in Go heap").

// unescaped returns the same slice, a key or the buffer for its bits. It is for the argument
// of the call of an own function and nothing else: such a slice may not outlive its variable,
// and the compiler does not see that it is in use.
func unescaped[E any](s []E) []E {
	return unsafe.Slice((*E)(noescape(unsafe.Pointer(unsafe.SliceData(s)))), len(s))
}

// noescape returns p.
//
//go:noinline
//go:nosplit
//go:nocheckptr
//go:norace
func noescape(p unsafe.Pointer) unsafe.Pointer {
	number := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&number))
}
