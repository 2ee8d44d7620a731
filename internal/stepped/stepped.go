// Package stepped stands in for sync/atomic and sync where a test decides in which order
// operations are done: proof/interleavings compiles the library with it.
package stepped

import (
	"sync/atomic"
	"unsafe"
)

// An Op is what is about to be done to a word.
type Op int

const (
	Load Op = iota
	Or      // the caller looks at the old value
	Set     // an OR whose result nobody uses
)

// Do does it in place of the processor, and returns the old value. Without one, or where it
// is nil, the processor does.
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

// change is an operation on a word, which f does: it returns what is there then, and what the
// thread has found. Change returns what was there before.
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
