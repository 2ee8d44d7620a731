// Package layered is shared by filters made of several plain filters: layers with tickets, batches of
// lookups, statistics, and a layer's part of a file.
package layered

import (
	"cmp"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/layered/tickets"
)

// A Layer is one of the filters. It has a ticket for each key that it is sized for.
type Layer struct {
	*bloom.BloomFilter
	Tickets    *tickets.Box
	Generation int64  // of its keys; 0 in a filter that does not forget
	Serial     uint64 // layers are numbered from 0 in the order in which they are added
}

// Add adds a key and reports whether the call has won in this layer. A ticket is given back if the call
// has not won. If a custom strategy panics, the ticket stays taken.
func (l *Layer) Add(h1, h2 uint64, ticket *tickets.Cell) (won bool) {
	won = l.AddDigest(h1, h2)
	if ticket != nil && !won {
		ticket.Give()
	}
	return won
}

// Layers are the layers at one moment, oldest first. They are never changed, only replaced.
type Layers []Layer

// Newest returns the layer that keys are added to.
func (l Layers) Newest() *Layer { return &l[len(l)-1] }

// Youngest returns the newest layer that has the key, and nil if none has it. Layers with a
// smaller serial number are not asked.
func (l Layers) Youngest(h1, h2, serial uint64) *Layer {
	for i := len(l) - 1; i >= 0 && l[i].Serial >= serial; i-- {
		if l[i].ContainsDigest(h1, h2) {
			return &l[i]
		}
	}
	return nil
}

// Append returns the layers followed by one for f, which has that many keys and takes left more. It changes
// no layers that have been published, but must not be called twice for the same ones.
func (l Layers) Append(f *bloom.BloomFilter, generation int64, keys, left uint64) Layers {
	next := Layer{BloomFilter: f, Tickets: tickets.New(keys, left, f.Params().M), Generation: generation}
	if len(l) > 0 {
		next.Serial = l.Newest().Serial + 1
	}
	return append(l, next)
}

// Write writes a layer: its filter, then the numbers, how many keys it has, and how many more it takes. The
// bits come first: a key in the bits has its ticket, so the copy never takes too many keys.
func (l *Layer) Write(out *frame.Writer, numbers ...uint64) {
	out.Filter(l.BloomFilter)
	keys, left := l.Tickets.Count()
	out.Numbers(append(numbers, keys, left)...)
}

// Read reads the layer that follows these ones: its filter, the numbers, how many keys it has, and how many
// more it takes. rate returns the rate that a layer with these numbers must have, and for how many keys
// it must be, or 0 for any number.
func (l Layers) Read(in *frame.Reader, opts []bloom.Option, plan func() (uint64, float64, error), numbers ...*uint64) (f *bloom.BloomFilter, keys, left uint64, err error) {
	if f, err = in.Filter("the filter", opts); err != nil {
		return nil, 0, 0, err
	}
	if err := in.Numbers("the numbers", append(numbers, &keys, &left)...); err != nil {
		return nil, 0, 0, err
	}
	n, p, err := plan()
	switch got := f.Params(); {
	case err != nil:
	case n != 0 && got.N != n || got.P != p:
		err = failure.Errorf(bloom.ErrCorrupt, "it is for n = %d and p = %v, want %d and %v", got.N, got.P, cmp.Or(n, got.N), p)
	case left > got.N || keys > got.N-left:
		err = failure.Errorf(bloom.ErrCorrupt, "%d keys and %d more, want at most %d", keys, left, got.N)
	case len(l) > 0 && (f.Scheme().Strategy() != l[0].Scheme().Strategy() || !SameHash(f, l[0].BloomFilter)):
		err = failure.Errorf(bloom.ErrCorrupt, "it is %v, the first is %v", f, l[0].BloomFilter)
	default:
		err = CheckStrategy(f.Scheme(), bloom.ErrCorrupt)
	}
	return f, keys, left, err
}

// SizeBytes returns the memory of the bits.
func (l Layers) SizeBytes() (sum uint64) {
	for i := range l {
		sum += l[i].SizeBytes()
	}
	return sum
}

// Keys returns how many keys have been added.
func (l Layers) Keys() (sum uint64) {
	for i := range l {
		keys, _ := l[i].Tickets.Count()
		sum += keys
	}
	return sum
}

// Stats returns the numbers of all layers together: N is the sum of their n, K belongs to the
// newest, EstimatedCount is Keys.
func (l Layers) Stats() (s bloom.Stats) {
	right := 1.0
	for i := range l {
		of := l[i].Stats()
		Total(&s, of)
		s.N += of.N
		right *= 1 - of.EstimatedFalsePositiveRate
	}
	s.EstimatedCount = l.Keys()
	s.EstimatedFalsePositiveRate = 1 - right
	return s
}

// Total adds the bits of one more filter to the sum, which gets its K and its names.
func Total(sum *bloom.Stats, of bloom.Stats) {
	sum.K, sum.Strategy, sum.Hash = of.K, of.Strategy, of.Hash
	sum.M += of.M
	sum.SizeBytes += of.SizeBytes
	sum.Ones += of.Ones
	sum.FillRatio = float64(sum.Ones) / float64(sum.M)
}

// CheckStrategy returns an error of the given kind if the strategy needs more than the digest.
func CheckStrategy(s bloom.Scheme, kind error) error {
	if !s.Strategy().NeedsKey() {
		return nil
	}
	return failure.Errorf(kind, "strategy %q needs the key itself, want one that works on its digest, such as DoubleHashing", s.Strategy())
}

// SameHash reports whether both filters hash keys alike.
func SameHash(a, b *bloom.BloomFilter) bool {
	s, t := a.Scheme(), b.Scheme()
	return s.Hash() == t.Hash() && s.Seed() == t.Seed()
}
