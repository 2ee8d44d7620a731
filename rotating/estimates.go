package rotating

import (
	"fmt"

	"github.com/seed3447c163/bloom"
)

// remembered are the layers that are not forgotten by the clock.
func (f *Filter) remembered() live {
	now := f.live.Load()
	oldest := f.oldest(now)
	for i, e := range *now {
		if e.generation >= oldest {
			return (*now)[i:]
		}
	}
	return nil
}

// EstimatedCount returns how many keys are remembered: those whose Add returned true, a
// key that was renewed once for each generation in which it was. It counts them, in
// constant time for each layer, and is about right while keys are added. Keys beyond the n
// that were planned may be missing in it.
func (f *Filter) EstimatedCount() uint64 { return f.keys(f.remembered()) }

// keys returns how many tickets of these layers are taken.
func (f *Filter) keys(layers live) (count uint64) {
	for _, e := range layers {
		count += f.plan.layerKeys() - min(e.tickets.Left(), f.plan.layerKeys())
	}
	return count
}

// EstimatedFalsePositiveRate returns the rate at which keys that are not remembered are
// answered with true as things stand, in O(m): one less the product of the layers' chances
// to be right.
func (f *Filter) EstimatedFalsePositiveRate() float64 {
	right := 1.0
	for _, e := range f.remembered() {
		right *= 1 - e.Stats().EstimatedFalsePositiveRate
	}
	return 1 - right
}

// SizeBytes returns the memory that the bits take, those of layers that wait to be used
// again included. It waits while a layer is made clean.
func (f *Filter) SizeBytes() uint64 {
	f.turning.Lock()
	defer f.turning.Unlock()
	return uint64(len(*f.live.Load())+f.stock.layers()) * f.scheme.SizeBytes()
}

// Stats returns what a service wants to watch, in O(m). N and P are those of [New]. M, Ones,
// FillRatio and the estimates are of the layers that are remembered, SizeBytes is the memory
// of all; K is that of each layer.
func (f *Filter) Stats() bloom.Stats {
	layers := f.remembered()
	each := f.scheme.Params()
	s := bloom.Stats{N: f.plan.n, P: f.plan.p, K: each.K, SizeBytes: f.SizeBytes(), EstimatedCount: f.keys(layers)}
	s.Strategy, s.Hash = f.scheme.Strategy().Name(), f.scheme.Hash().Name()
	right := 1.0
	for _, e := range layers {
		of := e.Stats()
		s.M += of.M
		s.Ones += of.Ones
		right *= 1 - of.EstimatedFalsePositiveRate
	}
	if s.M > 0 {
		s.FillRatio = float64(s.Ones) / float64(s.M)
	}
	s.EstimatedFalsePositiveRate = 1 - right
	return s
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	layers := f.remembered()
	return fmt.Sprintf("rotating.Filter(n=%d p=%g window=%v generations=%d layers=%d strategy=%s bytes=%d keys=%d)",
		f.plan.n, f.plan.p, f.plan.window, f.plan.generations, len(layers), f.scheme.Strategy(), uint64(len(layers))*f.scheme.SizeBytes(), f.keys(layers))
}
