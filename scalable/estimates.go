package scalable

import (
	"fmt"

	"github.com/seed3447c163/bloom"
)

// EstimatedCount returns how many keys have been added as new, those whose Add
// returned true. It counts them, in constant time for each layer: while keys are
// added, it is about right, and a race while a layer is born may count a key twice.
// The different keys are more by those that were taken for others, a share of at most
// p.
func (f *Filter) EstimatedCount() (count uint64) {
	for _, l := range *f.layers.Load() {
		count += l.Params().N - min(l.tickets.Left(), l.Params().N)
	}
	return count
}

// EstimatedFalsePositiveRate returns the rate at which keys that were never added are
// answered with true as things stand, in O(m): one less the product of the layers'
// chances to be right. But for the estimate's own error it stays at most p.
func (f *Filter) EstimatedFalsePositiveRate() float64 {
	right := 1.0
	for _, l := range *f.layers.Load() {
		right *= 1 - l.EstimatedFalsePositiveRate()
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

// N returns the number of keys after which it grows for the first time.
func (f *Filter) N() uint64 { return f.n }

// P returns the rate that it keeps.
func (f *Filter) P() float64 { return f.p }

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	now := *f.layers.Load()
	return fmt.Sprintf("scalable.Filter(n=%d p=%g layers=%d strategy=%s bytes=%d keys=%d)",
		f.n, f.p, len(now), f.hasher.Strategy(), now.bytes(), f.EstimatedCount())
}
