package rotating

import (
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// Add adds a key. It returns true if the key was definitely not added in the last window and this
// call added it, false if it probably was, in that window or up to a generation earlier.
//
// If several goroutines add the same key, at most one gets true. Exactly one does, except in the two cases under
// Guarantees in the package documentation.
//
// Once Add has returned true, every later Contains of the key is true until the window has passed.
//
// The error wraps [bloom.ErrFull] if the key is new and there is no room for it. Then Add adds nothing. There is room
// again when a generation ends; Add does not wait for it.
func (f *Filter) Add(key []byte) (bool, error) {
	h1, h2 := f.digest(key)
	return f.add(h1, h2, false)
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(key string) (bool, error) { return f.Add(memory.BytesOf(key)) }

// Renew adds a key and returns the same answer as [Filter.Add]. If the key is present, its window begins again. A
// renewed key takes the room of a new key, once per generation.
//
// Once Renew has returned without an error, every later Contains of the key is true until the window has passed. After
// an error that wraps [bloom.ErrFull], nothing has changed.
func (f *Filter) Renew(key []byte) (bool, error) {
	h1, h2 := f.digest(key)
	return f.add(h1, h2, true)
}

// AddMany adds keys in order, as [Filter.Add] does, but faster if the layers are larger than the cache. It returns how
// many were definitely new. If added is not nil, AddMany sets added[i] to the answer for keys[i]. It stops at the first
// error.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	batch.CheckAnswers("rotating", len(keys), added)
	f.check()
	add := func(h1, h2 uint64) (bool, error) { return f.add(h1, h2, false) }
	return layered.AddMany(f.scheme, keys, added, f.remembered, add)
}

// add adds a key. If renew is true, it also renews a key that is present. It reads the clock once.
func (f *Filter) add(h1, h2 uint64, renew bool) (bool, error) {
	return f.layers.Add(h1, h2, f.time.generation(), renew)
}
