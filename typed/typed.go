// Package typed adds values such as numbers and structs to filters and looks them up. A function appends each value to
// a byte slice.
//
//	f, err := bloom.New(1_000_000, 0.01)
//	if err != nil {
//		return err
//	}
//	ids := typed.New(f, binary.LittleEndian.AppendUint64)
//	if ids.Add(4711) {
//		// 4711 is definitely new
//	}
//
// [New] takes a bloom.BloomFilter, counting.Filter or persist.File. [NewGrowing] takes a filter of package scalable,
// rotating or redisbloom: their Add can fail. Package bloomtest tests functions that append values. An example of [New]
// has such a function for a struct. [docs/guide.md] shows how to use hash/maphash instead.
//
// [docs/guide.md]: https://github.com/seed3447c163/bloom/blob/main/docs/guide.md#keys-of-any-type
package typed

import "github.com/seed3447c163/bloom"

// A Set holds keys and has a fixed size: a [bloom.BloomFilter], a Filter of package counting, or a File of package
// persist. Its methods are those of BloomFilter. They must not keep the keys or the answers after they return.
type Set interface {
	Add(key []byte) bool
	Contains(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	ContainsMany(keys [][]byte, found []bool) int
}

var _ Set = (*bloom.BloomFilter)(nil)

// A Filter adds values of type T to a [Set] and looks them up. A function encodes a value as
// bytes; two values are the same key if their bytes are equal.
//
// All methods are safe for concurrent use by multiple goroutines if the set and the function are.
//
// A call takes about 10 ns more than the set's method, and a batch 1 ns more per value (BenchmarkTyped). Neither
// allocates for keys of up to 128 bytes. To save the time, hash a value and call AddDigest and ContainsDigest of
// [bloom.BloomFilter].
type Filter[T any] struct {
	encoder[T, Set]
}

// New returns a Filter that adds values to set and looks them up in set. A set can have several
// Filters of different types.
//
// appendKey appends the bytes that stand for v to dst and returns the extended slice. It must not keep dst: the memory
// is used again. The standard library has such functions, for example binary.LittleEndian.AppendUint64.
//
// Different values need different bytes. If a value has two strings, write the length before the
// first; otherwise ("ab", "c") and ("a", "bc") are the same key. The bytes of a value must stay the
// same as long as the set, or a file of it, lives.
//
// New panics if set or appendKey is nil. Methods that take a value panic if appendKey returns nil, as functions do
// after an error: otherwise all such values would be the same key.
func New[T any](set Set, appendKey func(dst []byte, v T) []byte) *Filter[T] {
	checkNew(set, appendKey == nil)
	return &Filter[T]{encoder[T, Set]{"Filter", appendKey, set}}
}

// Add adds a value and returns the answer of the set's Add.
func (f *Filter[T]) Add(v T) (added bool) {
	b := f.begin()
	added = f.set.Add(f.key(b, v))
	b.end()
	return added
}

// AddMany is [bloom.BloomFilter.AddMany] for values. It returns how many were definitely new. If added is not nil,
// AddMany sets added[i] to the answer of Add for values[i].
//
// It panics if added is neither nil nor as long as values.
func (f *Filter[T]) AddMany(values []T, added []bool) int {
	count, _ := f.many(values, added, func(keys [][]byte, added []bool) (int, error) { return f.set.AddMany(keys, added), nil })
	return count
}
