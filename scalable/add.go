package scalable

import (
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/memory"
)

// Add adds a key. It returns true if the key is definitely new and this call added it, false if
// it was probably there already.
//
// If several goroutines add the same new key, at most one gets true. Exactly one does, unless the
// key is a false positive at that moment.
//
// The error wraps [bloom.ErrFull] if the key is new and there is no room for it. Then Add adds nothing. Room that other
// running adds have reserved counts as taken, even if they give it back later.
func (f *Filter) Add(key []byte) (bool, error) {
	f.now() // panics for the zero Filter
	return f.add(f.scheme.Digest(key))
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(key string) (bool, error) { return f.Add(memory.BytesOf(key)) }

// AddMany adds keys in order, as [Filter.Add] does, but faster if the layers are larger than the cache. It returns how
// many were definitely new. If added is not nil, AddMany sets added[i] to the answer for keys[i]. It stops at the first
// error.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	batch.CheckAnswers("scalable", len(keys), added)
	return layered.AddMany(f.scheme, keys, added, f.now, f.add)
}

func (f *Filter) add(h1, h2 uint64) (bool, error) { return f.layers.Add(h1, h2, 0, false) }
