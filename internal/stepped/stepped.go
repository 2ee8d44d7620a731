// Package stepped stands in for sync/atomic in package bloom where a test decides what
// each load and each OR finds: proof/interleavings compiles the library with it.
package stepped

import "sync/atomic"

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

func (x *Uint64) Load() uint64           { return LoadUint64(&x.word) }
func (x *Uint64) Or(mask uint64) uint64  { return OrUint64(&x.word, mask) }
func (x *Uint64) Set(mask uint64)        { SetUint64(&x.word, mask) }
func (x *Uint64) And(mask uint64) uint64 { return atomic.AndUint64(&x.word, mask) }
func (x *Uint64) Store(value uint64)     { atomic.StoreUint64(&x.word, value) }
func (x *Uint64) Add(delta uint64) uint64 {
	return atomic.AddUint64(&x.word, delta)
}

func LoadUint64(word *uint64) uint64 {
	if Do != nil {
		return Do(word, Load, 0)
	}
	return atomic.LoadUint64(word)
}

func OrUint64(word *uint64, mask uint64) uint64 {
	if Do != nil {
		return Do(word, Or, mask)
	}
	return atomic.OrUint64(word, mask)
}

func SetUint64(word *uint64, mask uint64) {
	if Do != nil {
		Do(word, Set, mask)
		return
	}
	atomic.OrUint64(word, mask)
}
