package rebloom

import (
	"fmt"

	"github.com/seed3447c163/bloom"
)

// Layers returns the parameters of each layer, oldest first.
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

// Stats returns statistics of all layers together, in O(m). N is the capacity of BF.INFO, and
// EstimatedCount its exact count of the keys that were new. P is that of [New]. K is that of the
// newest layer.
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
		right *= 1 - of.EstimatedFalsePositiveRate
	}
	s.EstimatedCount = itemsOf(layers)
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

func sizeOf(layers []*layer) (bytes uint64) {
	for _, l := range layers {
		bytes += l.SizeBytes()
	}
	return bytes
}

// itemsOf returns how many keys were new.
func itemsOf(layers []*layer) (items uint64) {
	for _, l := range layers {
		items += l.items.Load()
	}
	return items
}

// A Plan is the arguments of BF.RESERVE.
type Plan struct {
	N         uint64  // keys of the first layer
	P         float64 // false-positive rate of the whole filter
	Expansion uint32  // 0 if the filter does not grow
}

// Plan returns what the filter was made for. It stays the same when the filter grows.
func (f *Filter) Plan() Plan { return f.plan(f.all()[0].Params()) }

func (f *Filter) plan(first bloom.Params) Plan {
	plan := Plan{N: first.N, P: first.P}
	if f.options&optionNoScaling == 0 {
		plan.P *= 2 // see New
		plan.Expansion = f.expansion
	}
	return plan
}

// ReadPlan returns the [Filter.Plan] of the filter with this header, which is the data of
// the first chunk: BF.SCANDUMP gives it for iterator 0. The error is that of [FromChunks].
func ReadPlan(header []byte) (Plan, error) {
	r := reader{limit: bloom.MaxBytes()}
	if err := r.header(header); err != nil {
		return Plan{}, err
	}
	return r.f.plan(r.shapes[0].Params()), nil
}
