// Package typed adds values to filters and looks them up: numbers, structs and everything else that
// a function can append to a byte slice.
package typed

import (
	"sync"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/memory"
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

// A Filter adds values of type T to a [Set] and looks them up. A function encodes a value as
// bytes; two values are the same key if their bytes are equal.
//
// All methods are safe for concurrent use by multiple goroutines if the set and the function are.
//
// The function gets memory on the heap that is never used again. One of some thousand calls
// allocates it for the next ones, if keys have up to 128 bytes. That costs 10 ns per call of Add and
// Contains, and 1 ns per value in a batch (BenchmarkTyped). A program that hashes a value itself and
// calls AddDigest and ContainsDigest of [bloom.BloomFilter] saves that time.
type Filter[T any] struct {
	set       Set
	filter    *bloom.BloomFilter // the set, if it is one: a batch is faster by direct calls
	appendKey func(dst []byte, v T) []byte
}

// New returns a Filter that adds values to set and looks them up in set. A set can have several
// Filters of different types.
//
// appendKey appends the bytes that stand for v to dst and returns the extended slice. It must not
// keep dst. The standard library has such functions, for example binary.LittleEndian.AppendUint64.
//
// Different values need different bytes. If a value has two strings, write the length before the
// first; otherwise ("ab", "c") and ("a", "bc") are the same key. The bytes of a value must stay the
// same as long as the set, or a file of it, lives.
//
// New panics if set or appendKey is nil. All other methods panic if appendKey returns nil, as a
// function does that drops an error: all values would be one key.
func New[T any](set Set, appendKey func(dst []byte, v T) []byte) *Filter[T] {
	f, isFilter := set.(*bloom.BloomFilter)
	if set == nil || isFilter && f == nil || appendKey == nil {
		panic("typed: New with a nil set or append function")
	}
	return &Filter[T]{set, f, appendKey}
}

// Functions of the caller get memory on the heap that is not used again: they may keep it although
// they must not.
type buffers struct {
	keys    memory.Arena[byte]
	lists   memory.Arena[[]byte]
	answers memory.Arena[bool]
}

var pooled = sync.Pool{New: func() any { return new(buffers) }}

// keyBytes is the largest key without an allocation.
const keyBytes = 128

// key returns the bytes of a value.
func (f *Filter[T]) key(m *buffers, v T) []byte {
	room := m.keys.Room(keyBytes)
	key := f.appendKey(room, v)
	if key == nil {
		panic("typed: the append function returned nil")
	}
	// A function that trims returns a part of what it has appended. Wherever that begins, its
	// capacity ends where the room does. A larger capacity means other memory.
	if cap(key) <= cap(room) {
		m.keys.Use(cap(room) - cap(key) + len(key))
	}
	return key
}

func (f *Filter[T]) buffers() *buffers {
	if f == nil || f.appendKey == nil {
		panic("typed: use of a Filter that was not made by New")
	}
	return pooled.Get().(*buffers)
}

// Add adds a value, with the answer of [bloom.BloomFilter.Add].
func (f *Filter[T]) Add(v T) (added bool) {
	m := f.buffers()
	added = f.set.Add(f.key(m, v))
	pooled.Put(m)
	return added
}

// Contains returns false if the value was definitely never added, true if it probably was.
func (f *Filter[T]) Contains(v T) (found bool) {
	m := f.buffers()
	found = f.set.Contains(f.key(m, v))
	pooled.Put(m)
	return found
}

// AddMany is [bloom.BloomFilter.AddMany] for values. It returns how many were definitely new. If
// added is not nil, added[i] becomes the answer of Add to values[i].
//
// It panics if added is neither nil nor as long as values.
func (f *Filter[T]) AddMany(values []T, added []bool) int {
	return f.many(values, added, true)
}

// ContainsMany is [bloom.BloomFilter.ContainsMany] for values. It returns how many were probably
// added. If found is not nil, found[i] becomes the answer of Contains to values[i].
//
// It panics if found is neither nil nor as long as values.
func (f *Filter[T]) ContainsMany(values []T, found []bool) int {
	return f.many(values, found, false)
}

// groupKeys is how many values become keys at a time: several groups of a batch.
const groupKeys = 64

// many adds values, or looks them up.
func (f *Filter[T]) many(values []T, answers []bool, add bool) (count int) {
	memory.CheckAnswers("typed", len(values), answers)
	m := f.buffers()
	for len(values) > 0 {
		n := min(len(values), groupKeys)
		var list [groupKeys][]byte
		for i, v := range values[:n] {
			list[i] = f.key(m, v)
		}
		switch own := answers[:min(n, len(answers))]; {
		case f.filter == nil:
			count += f.manyOfSet(m, list[:n], own, add)
		case add:
			count += f.filter.AddMany(list[:n], own)
		default:
			count += f.filter.ContainsMany(list[:n], own)
		}
		values, answers = values[n:], answers[min(n, len(answers)):]
	}
	pooled.Put(m)
	return count
}

// manyOfSet calls a set, which gets copies.
func (f *Filter[T]) manyOfSet(m *buffers, list [][]byte, answers []bool, add bool) (count int) {
	keys := append(m.lists.Room(len(list)), list...)
	m.lists.Use(len(list))
	var own []bool
	if answers != nil {
		own = m.answers.Room(len(list))[:len(list)]
		m.answers.Use(len(list))
	}
	if add {
		count = f.set.AddMany(keys, own)
	} else {
		count = f.set.ContainsMany(keys, own)
	}
	copy(answers, own)
	return count
}
