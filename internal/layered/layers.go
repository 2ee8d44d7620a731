// Package layered has code that filters of several layers share: layers with tickets, batches, statistics, and a
// layer's part of a file.
package layered

import (
	"cmp"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/layered/tickets"
)

// A Layer is a filter and a ticket for each key that it is sized for.
type Layer struct {
	*bloom.BloomFilter
	Tickets    *tickets.Box
	Generation int64  // of its keys; 0 in a filter that does not forget
	Serial     uint64 // layers are numbered from 0 in the order in which they are added
}

// Add adds a key and reports whether the call has won in this layer. If it has not won, it gives the ticket back. If a
// custom strategy panics, the ticket stays taken.
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

// Youngest returns the newest layer that has the key, or nil. It does not look at layers with a smaller Serial.
func (l Layers) Youngest(h1, h2, serial uint64) *Layer {
	for i := len(l) - 1; i >= 0 && l[i].Serial >= serial; i-- {
		if l[i].ContainsDigest(h1, h2) {
			return &l[i]
		}
	}
	return nil
}

// Append returns the layers followed by a layer of f. f has the given number of keys and room for left more. Append may
// reuse the array of l beyond its end, so it must not be called twice for the same layers.
func (l Layers) Append(f *bloom.BloomFilter, generation int64, keys, left uint64) Layers {
	next := Layer{BloomFilter: f, Tickets: tickets.New(keys, left, f.Params().M), Generation: generation}
	if len(l) > 0 {
		next.Serial = l.Newest().Serial + 1
	}
	return append(l, next)
}

// Write writes a layer: its filter, the numbers, the number of its keys, and its room for more. The bits are read
// before the tickets: each key in the bits has taken its ticket, so the copy does not exceed its room.
func (l *Layer) Write(out *format.FrameWriter, numbers ...uint64) {
	out.Filter(l.BloomFilter)
	keys, left := l.Tickets.Count()
	out.Numbers(append(numbers, keys, left)...)
}

// Read reads the layer that follows l: its filter, the numbers, the number of its keys, and its room for more. After
// the numbers are set, Read calls plan, which returns the n and the rate that a layer with these numbers must have; n =
// 0 means any.
func (l Layers) Read(in *format.FrameReader, opts []bloom.Option, plan func() (uint64, float64, error), numbers ...*uint64) (f *bloom.BloomFilter, keys, left uint64, err error) {
	if f, err = format.ReadFilter(in, "the filter", bloom.Read, opts); err != nil {
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
	case got.N > got.M: // a layer takes more than one bit per key; so the sum of N over all layers cannot overflow
		err = failure.Errorf(bloom.ErrCorrupt, "it is for n = %d keys in m = %d bits, want at most a key per bit", got.N, got.M)
	case left > got.N || keys > got.N-left:
		err = failure.Errorf(bloom.ErrCorrupt, "%d keys and %d more, want at most %d", keys, left, got.N)
	case len(l) > 0 && (f.Scheme().Strategy() != l[0].Scheme().Strategy() || !SameHash(f, l[0].BloomFilter)):
		err = failure.Errorf(bloom.ErrCorrupt, "it is %v, the first is %v", f, l[0].BloomFilter)
	default:
		err = CheckStrategy(f.Scheme(), bloom.ErrCorrupt)
	}
	return f, keys, left, err
}

// SizeBytes returns the number of bytes that the bits of all layers take.
func (l Layers) SizeBytes() (sum uint64) {
	for i := range l {
		sum += l[i].SizeBytes()
	}
	return sum
}

// Keys returns the number of keys in all layers.
func (l Layers) Keys() (sum uint64) {
	for i := range l {
		keys, _ := l[i].Tickets.Count()
		sum += keys
	}
	return sum
}

// Stats describes all layers together. N is the sum over all layers, K is that of the newest layer, and EstimatedCount
// is the result of Keys.
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

// Total adds M, SizeBytes and Ones of one more filter to sum. K, Strategy and Hash of sum become those of the filter.
func Total(sum *bloom.Stats, of bloom.Stats) {
	sum.K, sum.Strategy, sum.Hash = of.K, of.Strategy, of.Hash
	sum.M += of.M
	sum.SizeBytes += of.SizeBytes
	sum.Ones += of.Ones
}

// CheckStrategy returns an error of the given kind if the strategy needs the key itself.
func CheckStrategy(s *bloom.Scheme, kind error) error {
	if !s.Strategy().NeedsKey() {
		return nil
	}
	return failure.Errorf(kind, "strategy %q needs the key itself, want one that works on its digest, such as DoubleHashing", s.Strategy())
}

// SameHash reports whether two filters have the same hash and seed.
func SameHash(a, b *bloom.BloomFilter) bool {
	s, t := a.Scheme(), b.Scheme()
	return s.Hash() == t.Hash() && s.Seed() == t.Seed()
}
