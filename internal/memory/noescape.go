package memory

import "unsafe"

// NoEscape returns the same slice, hidden from the compiler's escape analysis. Use the result only as the argument of a
// call of a function of this module. It must not outlive s, because the compiler does not see that the memory is in
// use.
//
// The compiler assumes that a function called through a variable keeps its arguments. So without NoEscape, a key on the
// stack of the caller of Add would move to the heap.
//
// Why this is safe:
//
//  1. hide passes the pointer on as a number, so the compiler does not see that both are the same.
//  2. The runtime does not adjust a number when it moves a stack, and the garbage collector does not see it.
//  3. The number exists in the frame of hide only. The runtime moves stacks in calls only, and hide calls
//     nothing. A goroutine that is preempted in hide is scanned conservatively and not moved
//     (isShrinkStackSafe in the runtime).
//  4. The target is in the frame of a function that waits for the call to return.
//
// hide must call nothing, hence its directives. If it were inlined, it would be in a frame that calls. The checks of
// stack size, -race and -d=checkptr are calls. unsafe.Slice is in NoEscape, because its multiplication is a call on
// 32-bit ARM. See TestStackMovesInTheCall of package bloom.
//
// A function that keeps the slice would have a pointer into a reused stack. So NoEscape is only for functions of this
// module: they keep nothing. A function of the library's caller gets a copy in a [Buffer].
func NoEscape[E any](s []E) []E {
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
