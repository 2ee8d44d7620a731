// Package stepped replaces sync/atomic and sync in tests that decide the order of operations.
// proof/interleavings compiles the library with it.
package stepped

import (
	"sync/atomic"
	"unsafe"
)

// An Op is an operation on a word.
type Op int

const (
	Load Op = iota
	Or      // the caller looks at the old value
	Set     // an OR without a result
)

// Do does an operation and returns the old value. If it is nil, the processor does the operation.
var Do func(word *uint64, op Op, mask uint64) (old uint64)

// Pointer is not stepped.
type Pointer[T any] = atomic.Pointer[T]

// A Uint64 is an atomic.Uint64.
type Uint64 struct{ word uint64 }

func (x *Uint64) Load() uint64          { return LoadUint64(&x.word) }
func (x *Uint64) Or(mask uint64) uint64 { return OrUint64(&x.word, mask) }
func (x *Uint64) Set(mask uint64)       { SetUint64(&x.word, mask) }
func (x *Uint64) And(mask uint64) uint64 {
	return change(&x.word, func(old uint64) (uint64, uint64) { return old & mask, old })
}
func (x *Uint64) Store(value uint64) {
	change(&x.word, func(uint64) (uint64, uint64) { return value, 0 })
}
func (x *Uint64) Add(delta uint64) uint64 {
	return change(&x.word, func(old uint64) (uint64, uint64) { return old + delta, old }) + delta
}
func (x *Uint64) CompareAndSwap(before, value uint64) bool {
	return change(&x.word, func(old uint64) (uint64, uint64) {
		if old == before {
			return value, 1
		}
		return old, 0
	}) == before
}

func LoadUint64(word *uint64) uint64 {
	if Do != nil {
		return Do(word, Load, 0)
	}
	return change(word, func(old uint64) (uint64, uint64) { return old, old })
}

func OrUint64(word *uint64, mask uint64) uint64 {
	if Do != nil {
		return Do(word, Or, mask)
	}
	return change(word, func(old uint64) (uint64, uint64) { return old | mask, old })
}

func SetUint64(word *uint64, mask uint64) {
	if Do != nil {
		Do(word, Set, mask)
		return
	}
	change(word, func(old uint64) (uint64, uint64) { return old | mask, 0 })
}

// change does an operation on a word and returns the old value. f returns the next value, and what the
// thread finds.
func change(word *uint64, f func(old uint64) (next, found uint64)) (old uint64) {
	access(unsafe.Pointer(word), nil, func() (found, before, after uint64) {
		old = atomic.LoadUint64(word)
		next, found := f(old)
		if next != old {
			atomic.StoreUint64(word, next)
		}
		return found, old, next
	})
	return old
}
