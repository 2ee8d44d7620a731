package counting

import (
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Filter is a set of keys, like [bloom.BloomFilter], from which keys can be removed. Make one
// with [New]. The zero Filter is not usable: its methods return an error or panic, except String.
//
// All methods are safe for concurrent use by multiple goroutines. A Filter does not marshal to
// text, JSON or gob: use [Filter.WriteTo] and [Read].
type Filter struct {
	counters counters
	scheme   *bloom.Scheme
}

// New returns an empty filter whose false-positive rate is at most p while it has at most n different keys. It has a
// counter of 4 bits for each bit of the [bloom.BloomFilter] that bloom.New makes from the same arguments. It takes
// every strategy.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1 or an option is invalid, and
// [bloom.ErrTooLarge] if the counters take more than the machine's memory or
// [bloom.WithMaxBytes].
func New(n uint64, p float64, opts ...bloom.Option) (*Filter, error) {
	scheme, err := bloom.NewScheme(n, p, opts...)
	if err != nil {
		return nil, err
	}
	return newFilter(scheme, bloom.MaxBytes(opts...))
}

func newFilter(scheme *bloom.Scheme, limit uint64) (*Filter, error) {
	m := scheme.Params().M
	if bytes := wordsFor(m) * 8; bytes > limit {
		return nil, failure.Errorf(bloom.ErrTooLarge, "m = %d counters are %d bytes, want at most %d", m, bytes, limit)
	}
	c, err := memory.NewWords(wordsFor(m))
	if err != nil {
		return nil, failure.Errorf(bloom.ErrTooLarge, "m = %d counters of %d bits are %w", m, counterBits, err)
	}
	return &Filter{counters: c, scheme: scheme}, nil
}

// check panics for the zero Filter.
func (f *Filter) check() {
	if f.counters == nil {
		panic("counting: use of the zero Filter: make one by New or Read")
	}
}

// maxK is the largest k for which nothing is allocated. Only strategies of other systems have a larger k.
const maxK = 64

// A buffer has room for a key's positions on the caller's stack.
type buffer [maxK]uint64

// positions returns the key's distinct positions, so that Add and Remove change each counter once.
func (f *Filter) positions(b *buffer, key []byte) []uint64 {
	f.check()
	all := f.scheme.AppendPositions(b[:0], key)
	distinct := all[:0]
next:
	for _, pos := range all {
		for _, other := range distinct {
			if pos == other {
				continue next
			}
		}
		distinct = append(distinct, pos)
	}
	return distinct
}

// How an add finds its one winner
//
// It works as in package bloom, with "not 0" instead of "set". The first pass finds the key's last counter that is 0.
// The second pass adds 1 to all others, then to this one. The add wins if this counter was still 0.
//
// At most one winner:
//  1. When A wins, A has added 1 to all the key's counters. They stay above 0 until the key is
//     removed.
//  2. So if B wins later, because a counter was 0, a Remove of the key has begun in between.
//
// At least one winner, if no add or remove of another key changes a counter of this key from or to 0 at that moment:
// then the proof in package bloom holds.
//
// steps_test.go tests both in every order of the atomic operations.

// Add adds a key; a key that is present is added once more. It returns true if the key is definitely new and this call
// added it, false if it was probably present already.
//
// If several goroutines add the same new key, at most one gets true. Exactly one does, unless a key
// that shares a counter with it is added or removed at that moment.
//
// Once Add has returned, Contains of the key is true until it has been removed as often as it was
// added.
func (f *Filter) Add(key []byte) bool {
	var b buffer
	positions := f.positions(&b, key)
	last := -1
	for i, pos := range positions {
		if f.counters.get(pos) == 0 {
			last = i
		}
	}
	for i, pos := range positions {
		if i != last {
			f.counters.up(pos)
		}
	}
	return last >= 0 && f.counters.up(positions[last]) == 0
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(key string) bool { return f.Add(memory.BytesOf(key)) }

// Remove undoes one Add of a key. It returns true if the key was probably present. It returns false, and changes
// nothing, if the key is definitely absent. Remove only keys that were added: see the package documentation. Two
// goroutines that remove a key added once break this rule, and both may get true.
func (f *Filter) Remove(key []byte) bool {
	var b buffer
	positions := f.positions(&b, key)
	for _, pos := range positions {
		if f.counters.get(pos) == 0 {
			return false
		}
	}
	for i, pos := range positions {
		if f.counters.down(pos) == 0 {
			// Another goroutine has removed the key, or its Add has not returned.
			for _, undo := range positions[:i] {
				f.counters.up(undo)
			}
			return false
		}
	}
	return true
}

// RemoveString is [Filter.Remove] for a string, without copying it.
func (f *Filter) RemoveString(key string) bool { return f.Remove(memory.BytesOf(key)) }

// Contains returns false if the key is definitely absent, true if it is probably present.
func (f *Filter) Contains(key []byte) bool {
	f.check()
	var b buffer
	for _, pos := range f.scheme.AppendPositions(b[:0], key) {
		if f.counters.get(pos) == 0 {
			return false
		}
	}
	return true
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.Contains(memory.BytesOf(key)) }

// AddMany adds keys in order, as [Filter.Add] does. It returns how many were definitely new. If added is not nil,
// AddMany sets added[i] to the answer for keys[i].
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int) {
	batch.CheckAnswers("counting", len(keys), added)
	for i, key := range keys {
		count += batch.Answer(f.Add(key), added, i)
	}
	return count
}

// ContainsMany looks up keys as [Filter.Contains] does. It returns how many are probably present. If found is not nil,
// ContainsMany sets found[i] to the answer for keys[i].
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	batch.CheckAnswers("counting", len(keys), found)
	for i, key := range keys {
		count += batch.Answer(f.Contains(key), found, i)
	}
	return count
}
