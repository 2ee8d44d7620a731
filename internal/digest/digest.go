// Package digest has what the filters made of several filters need to hash a key
// once and ask all of them.
package digest

import (
	"fmt"
	"unsafe"

	"github.com/seed3447c163/bloom"
)

// Check returns an error that wraps bloom.ErrInvalid if the strategy needs more than the
// digest.
func Check(s bloom.Scheme) error {
	if !s.Strategy().NeedsKey() {
		return nil
	}
	return fmt.Errorf("%w: strategy %q needs the key itself, want one that works on its digest, such as DoubleHashing", bloom.ErrInvalid, s.Strategy())
}

// Group is how many keys of a batch are worked on at a time: all digests first,
// then layer by layer, so that the cache misses of different keys overlap.
const Group = 64

// A Batch is a group of keys.
type Batch struct {
	Keys   int // how many there are
	H1, H2 [Group]uint64
	Found  [Group]bool
}

// Hash hashes the first keys, as many as a group has.
func Hash[K []byte | string](b *Batch, s bloom.Scheme, keys []K) {
	b.Keys = min(len(keys), Group)
	for i := range b.Keys {
		switch key := any(&keys[i]).(type) {
		case *[]byte:
			b.H1[i], b.H2[i] = s.Digest(*key)
		case *string:
			b.H1[i], b.H2[i] = s.Digest(Bytes(*key))
		}
		b.Found[i] = false
	}
}

// Ask asks a filter for the keys that were not found yet, and returns how many it has. The
// questions do not depend on each other, so the processor works on the next ones while it
// waits for the memory of the first.
func (b *Batch) Ask(f *bloom.BloomFilter) (count int) {
	for i := range b.Keys {
		if !b.Found[i] && f.ContainsDigest(b.H1[i], b.H2[i]) {
			b.Found[i] = true
			count++
		}
	}
	return count
}

// Answer copies what was found into answers, if there are any, from the first-th on.
func (b *Batch) Answer(answers []bool, first int) {
	if answers != nil {
		copy(answers[first:], b.Found[:b.Keys])
	}
}

// CheckAnswers panics if there is not as much room for answers as there are keys.
func CheckAnswers(pkg string, keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("%s: room for %d answers to %d keys, want as many, or nil", pkg, len(answers), keys))
	}
}

// Bytes views a string as bytes without copying it. The result must not be written to, nor kept
// beyond the call it is made for.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
