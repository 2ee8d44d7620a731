package scalable

import (
	"fmt"

	"github.com/seed3447c163/bloom"
)

// EstimatedCount returns how many keys have been added as new, those whose Add
// returned true. It counts them, in constant time for each layer: while keys are
// added, it is about right, and a race while a layer is added may count a key twice.
// The different keys are more by those that were taken for others, a share of at most
// p.
func (f *Filter) EstimatedCount() (count uint64) {
	for _, l := range *f.layers.Load() {
		count += l.keys()
	}
	return count
}

// keys returns how many keys the layer has taken.
func (l *layer) keys() uint64 { return l.Params().N - min(l.tickets.Left(), l.Params().N) }

// EstimatedFalsePositiveRate returns the rate at which keys that were never added are
// answered with true as things stand, in O(m): one less the product of the layers'
// chances to be right. But for the estimate's own error it stays at most p.
func (f *Filter) EstimatedFalsePositiveRate() float64 {
	right := 1.0
	for _, l := range *f.layers.Load() {
		right *= 1 - l.Stats().EstimatedFalsePositiveRate
	}
	return 1 - right
}

// Layers returns what each layer was made with, oldest first: the keys that it takes,
// its rate, its bits in all and to a key.
func (f *Filter) Layers() []bloom.Params {
	now := *f.layers.Load()
	params := make([]bloom.Params, len(now))
	for i, l := range now {
		params[i] = l.Params()
	}
	return params
}

// SizeBytes returns the memory that the bits of all layers take.
func (f *Filter) SizeBytes() uint64 { return f.layers.Load().bytes() }

// Stats returns what a service wants to watch, in O(m). N is how many keys all layers of now
// are for: when there are more, it grows. M, SizeBytes, Ones and FillRatio are of all layers
// together, K is that of the newest.
func (f *Filter) Stats() (s bloom.Stats) {
	right := 1.0
	for _, l := range *f.layers.Load() {
		of := l.Stats()
		s.N += of.N
		s.M += of.M
		s.K, s.Strategy, s.Hash = of.K, of.Strategy, of.Hash
		s.SizeBytes += of.SizeBytes
		s.Ones += of.Ones
		s.EstimatedCount += l.keys()
		right *= 1 - of.EstimatedFalsePositiveRate
	}
	s.P = f.p
	s.FillRatio = float64(s.Ones) / float64(s.M)
	s.EstimatedFalsePositiveRate = 1 - right
	return s
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	now := *f.layers.Load()
	return fmt.Sprintf("scalable.Filter(n=%d p=%g layers=%d strategy=%s bytes=%d keys=%d)",
		f.n, f.p, len(now), f.scheme.Strategy(), now.bytes(), f.EstimatedCount())
}
