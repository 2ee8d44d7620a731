package counting

import (
	"fmt"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/words"
)

// A Filter is a set of keys, as a [bloom.BloomFilter] is, from which keys can be
// removed. Make one with [New]; the zero Filter holds nothing and panics when used.
//
// All methods are safe for concurrent use by multiple goroutines.
type Filter struct {
	counters counters
	scheme   bloom.Scheme
}

// New returns an empty filter for n different keys at a time, with a false-positive rate
// of at most p while there are no more. It has a counter for each bit of the
// [bloom.BloomFilter] that bloom.New makes of the same arguments: 4 times the memory.
// All strategies will do.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1 or an option is not valid,
// and [bloom.ErrTooLarge] if the counters take more than the machine's memory or
// [bloom.WithMaxBytes].
func New(n uint64, p float64, opts ...bloom.Option) (*Filter, error) {
	scheme, err := bloom.NewScheme(n, p, opts...)
	if err != nil {
		return nil, err
	}
	return newFilter(scheme, bloom.MaxBytes(opts...))
}

// NewWithParams returns an empty filter of exactly params.M counters with params.K
// counters to a key; see [bloom.NewWithParams], whose errors it has.
func NewWithParams(params bloom.Params, opts ...bloom.Option) (*Filter, error) {
	scheme, err := bloom.NewSchemeWithParams(params, opts...)
	if err != nil {
		return nil, err
	}
	return newFilter(scheme, bloom.MaxBytes(opts...))
}

func newFilter(scheme bloom.Scheme, limit uint64) (*Filter, error) {
	c, err := newCounters(scheme.Params().M, limit)
	if err != nil {
		return nil, err
	}
	return &Filter{c, scheme}, nil
}

// maxCounters is where a number of bits has no room in 64 of them.
const maxCounters = 1 << 62 / counterBits

func newCounters(m, limit uint64) (counters, error) {
	if m >= maxCounters {
		return nil, fmt.Errorf("%w: m = %d counters, want at most %d", bloom.ErrTooLarge, m, uint64(maxCounters-1))
	}
	if bytes := wordsFor(m) * 8; bytes > limit {
		return nil, fmt.Errorf("%w: m = %d counters are %d bytes, want at most %d", bloom.ErrTooLarge, m, bytes, limit)
	}
	c, err := words.New(wordsFor(m))
	if err != nil {
		return nil, fmt.Errorf("%w: m = %d counters of %d bits are %w", bloom.ErrTooLarge, m, counterBits, err)
	}
	return c, nil
}

// maxK is the most counters that a key may have without an allocation: of the strategies,
// only those of other systems go beyond.
const maxK = 64

// A buffer has room for a key's positions on the caller's stack.
type buffer [maxK]uint64

// positions returns where a key's counters are. Those that coincide are one counter,
// which is counted once: Remove then takes back exactly what Add has given.
func (f *Filter) positions(b *buffer, key []byte) []uint64 {
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
// As that of package bloom, with "not 0" in place of "set". The first pass looks, and
// remembers the last counter that is 0. The second counts all others up, then the
// remembered one, and has won if that was 0 until then.
//
// At most one winner. When A wins, all the key's counters have been counted by A, and
// what A has counted is there until the key is removed. So if B wins later, with a
// counter that was 0 until then, a Remove of the key has begun in between.
//
// At least one, if meanwhile no other key's counters rise from 0 or fall to 0 that are
// the key's too: then its zeros only ever become fewer, which is all that the proof in
// package bloom needs. steps_test.go tries both in every order.

// Add adds a key, once more if it is there already. It returns true if the key is
// definitely new and this call is the one that added it, false if it was probably there
// already.
//
// Of any number of goroutines that add the same new key at the same time, exactly one
// gets true. The exception: if another key that has a counter in common with it is added
// or removed in those nanoseconds, nobody may get true, an ordinary false positive.
//
// Once Add has returned, Contains of the key is true until it has been removed as often
// as it was added.
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

// AddString is [Filter.Add] for a string, without copying it: a string and its bytes are
// the same key.
func (f *Filter) AddString(key string) bool { return f.Add(bytesOf(key)) }

// Remove takes back one Add of a key. It returns false if the key is definitely not
// there, and then changes nothing; true if it probably was there. It must have been: see
// the package's docs for what removing any other key does. Two goroutines that remove a
// key which was added once do that, and both may get true.
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
			// Someone else has removed it meanwhile, or its Add had not returned.
			for _, undo := range positions[:i] {
				f.counters.up(undo)
			}
			return false
		}
	}
	return true
}

// RemoveString is [Filter.Remove] for a string, without copying it.
func (f *Filter) RemoveString(key string) bool { return f.Remove(bytesOf(key)) }

// Contains returns false if the key is definitely not there, true if it probably is.
func (f *Filter) Contains(key []byte) bool {
	var b buffer
	for _, pos := range f.scheme.AppendPositions(b[:0], key) {
		if f.counters.get(pos) == 0 {
			return false
		}
	}
	return true
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(key string) bool { return f.Contains(bytesOf(key)) }
