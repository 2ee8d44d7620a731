// Package layered is shared by filters made of several plain filters: layers with tickets, batches of
// lookups, statistics, and a layer's part of a file.
package layered

import (
	"errors"
	"fmt"

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

// Add adds a key and reports whether the call has won in this layer. A ticket is used if the call
// has won or a custom strategy panics, and given back otherwise.
func (l *Layer) Add(h1, h2 uint64, ticket bool) (won bool) {
	if !ticket {
		return l.AddDigest(h1, h2)
	}
	ended := false
	defer func() {
		if won || !ended {
			l.Tickets.Use()
		} else {
			l.Tickets.Give()
		}
	}()
	won = l.AddDigest(h1, h2)
	ended = true
	return won
}

// Left returns how many more keys the layer takes.
func (l *Layer) Left() uint64 { return min(l.Tickets.Left(), l.Params().N) }

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

// And returns the layers with one more: a filter that takes that many more keys. It changes no layers that
// have been published, but must not be called twice for the same ones.
func (l Layers) And(f *bloom.BloomFilter, generation int64, left uint64) Layers {
	next := Layer{BloomFilter: f, Tickets: tickets.New(left, f.Params().M), Generation: generation}
	if len(l) > 0 {
		next.Serial = l.Newest().Serial + 1
	}
	return append(l, next)
}

// Write writes a layer: its filter, then the numbers and how many more keys it takes. The bits come
// first: a key in the bits has its ticket, so the copy never takes too many keys.
func (l *Layer) Write(out *frame.Writer, numbers ...uint64) {
	out.Filter(l.BloomFilter)
	out.Numbers(append(numbers, l.Left())...)
}

// Read reads a filter for n keys at rate p that follows these layers, the numbers, and how many more keys it
// takes.
func (l Layers) Read(in *frame.Reader, n uint64, p float64, opts []bloom.Option, numbers ...*uint64) (*bloom.BloomFilter, uint64, error) {
	f, err := in.Filter("the filter", opts)
	if err != nil {
		return nil, 0, err
	}
	var left uint64
	if err := in.Numbers("the numbers", append(numbers, &left)...); err != nil {
		return nil, 0, err
	}
	switch got := f.Params(); {
	case got.N != n || got.P != p:
		err = failure.Errorf(bloom.ErrCorrupt, "it is for n = %d and p = %v, want %d and %v", got.N, got.P, n, p)
	case left > n:
		err = failure.Errorf(bloom.ErrCorrupt, "%d more keys, want at most %d", left, n)
	case len(l) > 0 && (f.Scheme().Strategy() != l[0].Scheme().Strategy() || !SameHash(f, l[0].BloomFilter)):
		err = failure.Errorf(bloom.ErrCorrupt, "it is %v, the first is %v", f, l[0].BloomFilter)
	default:
		err = CheckStrategy(f.Scheme(), bloom.ErrCorrupt)
	}
	return f, left, err
}

// SizeBytes returns the memory of the bits.
func (l Layers) SizeBytes() (sum uint64) {
	for i := range l {
		sum += l[i].SizeBytes()
	}
	return sum
}

// Keys returns how many keys have taken a ticket.
func (l Layers) Keys() (sum uint64) {
	for i := range l {
		sum += l[i].Params().N - l[i].Left()
	}
	return sum
}

// Stats returns the numbers of all layers together: N is the sum of their n, K belongs to the
// newest, EstimatedCount counts tickets.
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

// NoText makes a type that embeds it refuse to be marshaled to text and JSON, which would
// otherwise lose its keys without an error. Package gob refuses such a type by itself.
type NoText struct{}

// MarshalText returns an error.
func (NoText) MarshalText() ([]byte, error) {
	return nil, fmt.Errorf("bloom: a filter of several layers has no text or JSON form, want WriteTo and Read: %w", errors.ErrUnsupported)
}
