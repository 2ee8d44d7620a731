// Package digest has what the filters made of several filters need to hash a key
// once and ask all of them.
package digest

import (
	"fmt"

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
	H1, H2 [Group]uint64
	Found  [Group]bool
}

// Hash hashes a group of keys.
func Hash[K []byte | string](b *Batch, s bloom.Scheme, keys []K) {
	for i := range keys {
		switch key := any(&keys[i]).(type) {
		case *[]byte:
			b.H1[i], b.H2[i] = s.Hash(*key)
		case *string:
			b.H1[i], b.H2[i] = s.HashString(*key)
		}
		b.Found[i] = false
	}
}

// CheckAnswers panics if there is not as much room for answers as there are keys.
func CheckAnswers(pkg string, keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("%s: room for %d answers to %d keys, want as many, or nil", pkg, len(answers), keys))
	}
}
