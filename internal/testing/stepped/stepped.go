// Package stepped replaces sync/atomic and sync in tests that run threads in every order of their steps. A step is an
// operation of this package, such as an atomic load. The tests of checks/proof/interleavings compile the library with
// this package.
package stepped

import (
	"sync/atomic"
	"unsafe"
)

// Pointer is atomic.Pointer itself, so its operations are not steps. Shared is for steps.
type Pointer[T any] = atomic.Pointer[T]

type number interface{ int64 | uint64 }

// An integer replaces atomic.Int64 or atomic.Uint64.
type integer[N number] struct{ word N }

type (
	Int64  = integer[int64]
	Uint64 = integer[uint64]
)

func (x *integer[N]) Load() N      { return load(&x.word) }
func (x *integer[N]) Or(mask N) N  { return or(&x.word, mask) }
func (x *integer[N]) Set(mask N)   { set(&x.word, mask) }
func (x *integer[N]) Bump(delta N) { change(&x.word, func(old N) (N, N) { return old + delta, 0 }) } // adds without a result
func (x *integer[N]) And(mask N) N {
	return change(&x.word, func(old N) (N, N) { return old & mask, old })
}
func (x *integer[N]) Swap(value N) N {
	return change(&x.word, func(old N) (N, N) { return value, old })
}
func (x *integer[N]) Store(value N) { change(&x.word, func(N) (N, N) { return value, 0 }) }
func (x *integer[N]) Add(delta N) N {
	return change(&x.word, func(old N) (N, N) { return old + delta, old }) + delta
}

func (x *integer[N]) CompareAndSwap(before, value N) bool {
	return change(&x.word, func(old N) (N, N) {
		if old == before {
			return value, 1
		}
		return old, 0
	}) == before
}

func LoadUint64(word *uint64) uint64            { return load(word) }
func OrUint64(word *uint64, mask uint64) uint64 { return or(word, mask) }
func SetUint64(word *uint64, mask uint64)       { set(word, mask) }

func load[N number](word *N) N { return change(word, func(old N) (N, N) { return old, old }) }
func or[N number](word *N, mask N) N {
	return change(word, func(old N) (N, N) { return old | mask, old })
}
func set[N number](word *N, mask N) { change(word, func(old N) (N, N) { return old | mask, 0 }) }

// change does one step on a word and returns the old value. f returns the next value, and the result of the step for
// the thread.
func change[N number](word *N, f func(old N) (next, found N)) (old N) {
	access(unsafe.Pointer(word), nil, func() (found, before, after uint64) {
		old = *word
		next, finds := f(old)
		*word = next
		return uint64(finds), uint64(old), uint64(next)
	})
	return old
}
