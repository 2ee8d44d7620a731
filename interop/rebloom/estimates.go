package rebloom

import (
	"fmt"

	"github.com/seed3447c163/bloom"
)

// Layers returns what each layer was made with, oldest first: the keys that it takes, its
// rate, its bits in all and to a key.
func (f *Filter) Layers() []bloom.Params {
	var params []bloom.Params
	for _, l := range f.all() {
		params = append(params, l.Params())
	}
	return params
}

// SizeBytes returns the memory that the bits of all layers take. BF.INFO adds that of the
// server's structures.
func (f *Filter) SizeBytes() uint64 { return sizeOf(f.all()) }

// Stats returns what a service wants to watch, in O(m). N is how many keys all layers of now
// are for, which is the capacity of BF.INFO, and EstimatedCount its exact count of the keys
// that were new. P is that of [New]. M, SizeBytes, Ones and FillRatio are of all layers
// together, K is that of the newest.
func (f *Filter) Stats() (s bloom.Stats) {
	layers := f.all()
	right := 1.0
	for _, l := range layers {
		of := l.Stats()
		s.N += of.N
		s.M += of.M
		s.K, s.Strategy, s.Hash = of.K, of.Strategy, of.Hash
		s.SizeBytes += of.SizeBytes
		s.Ones += of.Ones
		s.EstimatedCount += l.items.Load()
		right *= 1 - of.EstimatedFalsePositiveRate
	}
	s.P = f.Plan().P
	s.FillRatio = float64(s.Ones) / float64(s.M)
	s.EstimatedFalsePositiveRate = 1 - right
	return s
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	plan, layers := f.Plan(), f.all()
	return fmt.Sprintf("rebloom.Filter(n=%d p=%g expansion=%d layers=%d bytes=%d keys=%d)",
		plan.N, plan.P, plan.Expansion, len(layers), sizeOf(layers), itemsOf(layers))
}

// itemsOf returns how many keys were new.
func itemsOf(layers []*layer) (items uint64) {
	for _, l := range layers {
		items += l.items.Load()
	}
	return items
}
