// Package typed adds and looks up values in filters: numbers, structs and everything else that a
// function can append to a byte slice.
package typed

import (
	"encoding"
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/noescape"
)

// A Set holds keys: a [bloom.BloomFilter], a Filter of package rotating or counting, a File of
// package persist. A Filter of package scalable is not a Set, because its Add returns an error. The
// methods are those of BloomFilter. They must not keep the keys or the answers beyond the call.
type Set interface {
	Add(key []byte) bool
	Contains(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	ContainsMany(keys [][]byte, found []bool) int
}

// A Filter adds values of type T to a [Set] and looks them up. A function says which bytes stand
// for a value; two values are the same key if their bytes are equal.
//
// All methods are safe for concurrent use by multiple goroutines if the set and the function are.
// They allocate nothing for keys of up to 128 bytes if the function only appends.
type Filter[T any] struct {
	set       Set
	filter    *bloom.BloomFilter // the set, if it is one: direct calls are faster
	appendKey func(dst []byte, v T) []byte
}

// New returns a Filter that adds values to set and looks them up in set. A set can have several
// Filters of different types.
//
// appendKey appends the bytes that stand for v to dst and returns the extended slice. It must not
// keep dst, which may be on a stack. The standard library has such functions, for example
// binary.LittleEndian.AppendUint64; [AppendBinary] is one for every type with an AppendBinary
// method.
//
// Different values need different bytes. If a value has two strings, write the length before the
// first; otherwise ("ab", "c") and ("a", "bc") are the same key. The bytes of a value must stay the
// same as long as the set, or a file of it, lives.
//
// New panics if set or appendKey is nil.
func New[T any](set Set, appendKey func(dst []byte, v T) []byte) *Filter[T] {
	f, isFilter := set.(*bloom.BloomFilter)
	if set == nil || isFilter && f == nil || appendKey == nil {
		panic("typed: New with a nil set or append function")
	}
	return &Filter[T]{set, f, appendKey}
}

// AppendBinary is an append function for every type with an AppendBinary method, such as
// netip.Addr: typed.New(set, typed.AppendBinary[netip.Addr]).
//
// It panics for a value whose AppendBinary returns an error, because neither true nor false would be
// right for a value without bytes. Check such values before, for example a time.Time with an odd
// zone, or write a function that gives them bytes.
func AppendBinary[T encoding.BinaryAppender](dst []byte, v T) []byte {
	key, err := v.AppendBinary(dst)
	if err != nil {
		panic(fmt.Sprintf("typed: a %T that cannot be a key: %v", v, err))
	}
	return key
}

// keyBytes is the largest key without an allocation.
const keyBytes = 128

// Add adds a value, with the answer of [bloom.BloomFilter.Add].
func (f *Filter[T]) Add(v T) bool {
	var buf [keyBytes]byte
	key := f.appendTo(noescape.Slice(buf[:0]), v)
	if f.filter != nil {
		return f.filter.Add(key)
	}
	return f.set.Add(key)
}

// Contains returns false if the value was definitely never added, true if it probably was.
func (f *Filter[T]) Contains(v T) bool {
	var buf [keyBytes]byte
	key := f.appendTo(noescape.Slice(buf[:0]), v)
	if f.filter != nil {
		return f.filter.Contains(key)
	}
	return f.set.Contains(key)
}

func (f *Filter[T]) appendTo(dst []byte, v T) []byte {
	if f == nil || f.appendKey == nil {
		panic("typed: use of a Filter that was not made by New")
	}
	return f.appendKey(dst, v)
}

// AddMany is [bloom.BloomFilter.AddMany] for values. It returns how many were definitely new. If
// added is not nil, added[i] becomes the answer of Add to values[i].
//
// It panics if added is neither nil nor as long as values.
func (f *Filter[T]) AddMany(values []T, added []bool) (count int) {
	digest.CheckAnswers("typed", len(values), added)
	var keys group[T]
	for first := 0; first < len(values); first += groupKeys {
		end := min(first+groupKeys, len(values))
		list, answers := keys.of(f, values[first:end]), part(added, first, end)
		if f.filter != nil {
			count += f.filter.AddMany(list, answers)
		} else {
			count += f.set.AddMany(noescape.Slice(list), noescape.Slice(answers))
		}
	}
	return count
}

// ContainsMany is [bloom.BloomFilter.ContainsMany] for values. It returns how many were probably
// added. If found is not nil, found[i] becomes the answer of Contains to values[i].
//
// It panics if found is neither nil nor as long as values.
func (f *Filter[T]) ContainsMany(values []T, found []bool) (count int) {
	digest.CheckAnswers("typed", len(values), found)
	var keys group[T]
	for first := 0; first < len(values); first += groupKeys {
		end := min(first+groupKeys, len(values))
		list, answers := keys.of(f, values[first:end]), part(found, first, end)
		if f.filter != nil {
			count += f.filter.ContainsMany(list, answers)
		} else {
			count += f.set.ContainsMany(noescape.Slice(list), noescape.Slice(answers))
		}
	}
	return count
}

// part returns the answers of a group.
func part(answers []bool, first, end int) []bool {
	if answers == nil {
		return nil
	}
	return answers[first:end]
}

// groupKeys is how many values become keys at a time: several groups of a batch.
const groupKeys = 64

// A group is the memory for the keys of some values, one key behind the other. Keys without room are
// on the heap.
type group[T any] struct {
	keys [groupKeys][]byte
	buf  [groupKeys * keyBytes]byte
}

// of returns the keys of values, valid until the next call.
func (g *group[T]) of(f *Filter[T], values []T) [][]byte {
	free := noescape.Slice(g.buf[:0])
	for i, v := range values {
		key := f.appendTo(free, v)
		g.keys[i] = key
		// A function that trims returns a part of what it has appended. Wherever that begins, its
		// capacity ends where the buffer does. A larger capacity is that of another buffer.
		if cap(key) <= cap(free) {
			used := cap(free) - cap(key) + len(key)
			free = free[used:used]
		}
	}
	return g.keys[:len(values)]
}
