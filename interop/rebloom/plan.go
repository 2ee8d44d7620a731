package rebloom

import "math"

// A Plan is what BF.RESERVE was told.
type Plan struct {
	N         uint64  // keys of the first layer
	P         float64 // false-positive rate of the whole filter
	Expansion uint32  // 0 if the filter does not grow
}

// Plan returns what the filter was made for. It stays the same when the filter grows.
func (f *Filter) Plan() Plan { return f.plan(f.all()[0]) }

func (f *Filter) plan(first *layer) Plan {
	plan := Plan{N: first.capacity, P: first.rate}
	if f.options&optionNoScaling == 0 {
		plan.P *= 2 // see New
		plan.Expansion = f.expansion
	}
	return plan
}

// ReadPlan returns the [Filter.Plan] of the filter with this header, which is the data of
// the first chunk: BF.SCANDUMP gives it for iterator 0. The error is that of [FromChunks].
func ReadPlan(header []byte) (Plan, error) {
	r := reader{limit: math.MaxUint64}
	if err := r.header(header); err != nil {
		return Plan{}, err
	}
	return r.f.plan(r.layers[0]), nil
}
