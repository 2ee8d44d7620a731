package bloom

import (
	"encoding"
	"fmt"
	"sync"
)

// A Set is what keys are added to and asked for: a [BloomFilter], a Filter of package
// rotating or counting, a File of package persist. (Filters whose Add returns an error, as
// in package scalable, are not.) The methods are as those of BloomFilter.
type Set interface {
	Add(key []byte) bool
	Contains(key []byte) bool
	AddMany(keys [][]byte, added []bool) int
	ContainsMany(keys [][]byte, found []bool) int
}

// A Typed is a [Set] whose keys are values of type T. A function says which
// bytes stand for a value; two values are the same key if their bytes are.
//
// All methods are safe for concurrent use by multiple goroutines, as the set's
// own are, if the function is. They allocate nothing as long as the function only appends:
// the bytes go into buffers that are used again.
type Typed[T any] struct {
	set       Set
	filter    *BloomFilter // the set, if it is one: calls by its type are faster
	appendKey func(dst []byte, v T) []byte
}

// NewTyped returns an empty filter for n different values with a false-positive
// rate of at most p, as [New] does, with New's errors. appendKey appends the bytes
// that stand for v to dst and returns the extended slice; it must not keep dst.
// There are binary.LittleEndian.AppendUint64 and others in the standard library, and,
// for every type with an AppendBinary method, [AppendBinary].
//
// The bytes must tell apart what is to be told apart: two strings in a row need the
// length of the first before them, or ("ab", "c") is the same key as ("a", "bc").
// And they must stay the same for as long as the filter, or a file of it, lives.
//
// It panics if appendKey is nil.
func NewTyped[T any](n uint64, p float64, appendKey func(dst []byte, v T) []byte, opts ...Option) (*Typed[T], error) {
	f, err := New(n, p, opts...)
	if err != nil {
		return nil, err
	}
	return TypedOver(f, appendKey), nil
}

// TypedOver returns a view of a set that exists, for instance of a filter that was
// read from a file: keys that are added to either are in both. Several views of
// different types on one set are possible.
//
// It panics if set or appendKey is nil.
func TypedOver[T any](set Set, appendKey func(dst []byte, v T) []byte) *Typed[T] {
	f, isFilter := set.(*BloomFilter)
	if set == nil || isFilter && f == nil || appendKey == nil {
		panic("bloom: a Typed with a nil set or append function")
	}
	return &Typed[T]{set, f, appendKey}
}

// AppendBinary is an append function for every type with an AppendBinary method,
// such as netip.Addr: bloom.NewTyped(n, p, bloom.AppendBinary[netip.Addr]).
//
// A value whose AppendBinary returns an error has no bytes, and neither true nor
// false would be right for it: AppendBinary panics. Where values may be such, as a
// time.Time with an odd zone may, check them before, or write a function that gives
// them bytes.
func AppendBinary[T encoding.BinaryAppender](dst []byte, v T) []byte {
	key, err := v.AppendBinary(dst)
	if err != nil {
		panic(fmt.Sprintf("bloom: a %T that cannot be a key: %v", v, err))
	}
	return key
}

// Filter returns the filter itself, not a copy: for its estimates, to write it to a
// file, to unite it with others, or to add keys as bytes. It is nil if the set is not a
// BloomFilter.
func (t *Typed[T]) Filter() *BloomFilter { return t.filter }

// Add adds a value, with the answer of [BloomFilter.Add]: true if it is definitely
// new and this call is the one that added it, false if it was probably there.
func (t *Typed[T]) Add(v T) bool {
	b := keyBuffers.Get().(*keyBuffer)
	key := t.appendKey(b.free, v)
	yes := t.add(key)
	b.fit(len(key))
	keyBuffers.Put(b)
	return yes
}

// Contains returns false if the value was definitely never added, true if it
// probably was.
func (t *Typed[T]) Contains(v T) bool {
	b := keyBuffers.Get().(*keyBuffer)
	key := t.appendKey(b.free, v)
	yes := t.contains(key)
	b.fit(len(key))
	keyBuffers.Put(b)
	return yes
}

func (t *Typed[T]) add(key []byte) bool {
	if t.filter != nil {
		return t.filter.Add(key)
	}
	return t.set.Add(key)
}

func (t *Typed[T]) contains(key []byte) bool {
	if t.filter != nil {
		return t.filter.Contains(key)
	}
	return t.set.Contains(key)
}

// AddMany is [BloomFilter.AddMany] for values: it adds them as Add does one after
// the other, and faster. It returns how many of them were definitely new; if added
// is not nil, added[i] becomes what Add of values[i] would return.
//
// It panics if added is neither nil nor as long as values.
func (t *Typed[T]) AddMany(values []T, added []bool) (count int) {
	checkAnswers(len(values), added)
	b := keyBuffers.Get().(*keyBuffer)
	for first := 0; first < len(values); first += typedBatch {
		group := values[first:min(first+typedBatch, len(values))]
		keys := appendKeys(b, group, t.appendKey)
		count += t.addGroup(b, keys, answersOf(added, first, len(keys)))
	}
	clear(b.keys[:])
	keyBuffers.Put(b)
	return count
}

// ContainsMany is [BloomFilter.ContainsMany] for values: it asks for them as
// Contains does one after the other, and faster. It returns how many of them were
// probably added; if found is not nil, found[i] becomes what Contains of values[i]
// would return.
//
// It panics if found is neither nil nor as long as values.
func (t *Typed[T]) ContainsMany(values []T, found []bool) (count int) {
	checkAnswers(len(values), found)
	b := keyBuffers.Get().(*keyBuffer)
	for first := 0; first < len(values); first += typedBatch {
		group := values[first:min(first+typedBatch, len(values))]
		keys := appendKeys(b, group, t.appendKey)
		count += t.containsGroup(b, keys, answersOf(found, first, len(keys)))
	}
	clear(b.keys[:])
	keyBuffers.Put(b)
	return count
}

func (t *Typed[T]) addGroup(b *keyBuffer, keys [][]byte, added []bool) int {
	if t.filter != nil {
		return addMany(t.filter, keys, added)
	}
	count := t.set.AddMany(keys, b.answers[:len(keys)])
	copy(added, b.answers[:])
	return count
}

func (t *Typed[T]) containsGroup(b *keyBuffer, keys [][]byte, found []bool) int {
	if t.filter != nil {
		return containsMany(t.filter, keys, found)
	}
	count := t.set.ContainsMany(keys, b.answers[:len(keys)])
	copy(found, b.answers[:])
	return count
}

// answersOf is the part of the answers that belongs to a group.
func answersOf(answers []bool, first, n int) []bool {
	if answers == nil {
		return nil
	}
	return answers[first : first+n]
}

// typedBatch is how many values become keys at a time: several groups of a batch.
const typedBatch = 4 * batchSize

// A keyBuffer is memory for keys. An append function is not known to the compiler,
// so a buffer on the caller's stack would be moved to the heap at each call. Of the
// ways around that, a pool is the fastest that is safe. BenchmarkTyped.
type keyBuffer struct {
	free []byte // empty, with the capacity to use
	keys [typedBatch][]byte

	// A set that is called through an interface may keep what it is given, for all that the
	// compiler knows: so it is given this, and not the caller's slice.
	answers [typedBatch]bool
}

var keyBuffers = sync.Pool{New: func() any { return &keyBuffer{free: make([]byte, 0, 128)} }}

// maxKeyBuffer is the largest buffer that is kept: a few huge values should not
// hold memory for good.
const maxKeyBuffer = 1 << 20

// fit makes the buffer large enough for what it would have had to hold just now.
// The slice that an append function has returned is not kept, even if it is larger:
// if the function has not appended, it may belong to someone else.
func (b *keyBuffer) fit(size int) {
	if size > cap(b.free) && size <= maxKeyBuffer/2 {
		b.free = make([]byte, 0, 2*size)
	}
}

// appendKeys makes keys of a group of values, one behind the other, valid until the
// next call. Those for which there is no more room are on the heap.
func appendKeys[T any](b *keyBuffer, group []T, appendKey func([]byte, T) []byte) [][]byte {
	free, size := b.free, 0
	for i, v := range group {
		key := appendKey(free, v)
		b.keys[i] = key
		size += len(key)
		// A function that trims returns a part of what it has appended. Wherever that begins, its
		// capacity ends where the buffer does; a larger one is that of another buffer.
		if cap(key) <= cap(free) {
			used := cap(free) - cap(key) + len(key)
			free = free[used:used]
		}
	}
	b.fit(size)
	return b.keys[:len(group)]
}
