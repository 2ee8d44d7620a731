// Package digest has what the filters made of several filters need to hash a key
// once and ask all of them.
package digest

import (
	"fmt"
	"strings"

	"github.com/seed3447c163/bloom"
)

// Hasher returns a filter that serves to hash the keys of all filters made with
// these options. The error wraps bloom.ErrInvalid if the options are not valid or
// their strategy needs more than the digest.
func Hasher(pkg string, opts []bloom.Option) (*bloom.BloomFilter, error) {
	f, err := bloom.New(1, 0.5, opts...)
	if err != nil {
		return nil, err
	}
	if err := Check(f); err != nil {
		return nil, fmt.Errorf("%s: %w", pkg, err)
	}
	return f, nil
}

// Check returns an error that wraps bloom.ErrInvalid if the filter's strategy needs more
// than the digest.
func Check(f *bloom.BloomFilter) error {
	if !needsKey(f) {
		return nil
	}
	return fmt.Errorf("%w: strategy %q needs the key itself, want one that works on its digest, such as DoubleHashing", bloom.ErrInvalid, f.Strategy())
}

// needsKey reports whether ContainsHash panics for the reason that it documents.
func needsKey(f *bloom.BloomFilter) (needs bool) {
	defer func() {
		if r := recover(); r != nil {
			needs = strings.Contains(fmt.Sprint(r), "needs the key itself")
		}
	}()
	f.ContainsHash(0, 0)
	return false
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
func Hash[K []byte | string](b *Batch, f *bloom.BloomFilter, keys []K) {
	for i := range keys {
		switch key := any(&keys[i]).(type) {
		case *[]byte:
			b.H1[i], b.H2[i] = f.Hash(*key)
		case *string:
			b.H1[i], b.H2[i] = f.HashString(*key)
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
