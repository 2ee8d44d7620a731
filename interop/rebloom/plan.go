package rebloom

// A Plan is what BF.RESERVE was told.
type Plan struct {
	N         uint64  // keys of the first layer
	P         float64 // false-positive rate of the whole filter
	Expansion uint32  // 0 if the filter does not grow
}

// ReadPlan returns what the filter with this header was made for. The header is the data
// of the first chunk, which BF.SCANDUMP gives for iterator 0; it says no less when the
// filter has grown. The error is that of [Read].
func ReadPlan(header []byte) (Plan, error) {
	r := reader{limit: 1<<64 - 1}
	if err := r.header(header); err != nil {
		return Plan{}, err
	}
	first := r.layers[0]
	plan := Plan{N: first.capacity, P: first.rate}
	if r.f.options&optionNoScaling == 0 {
		plan.P *= 2 // see New
		plan.Expansion = r.f.expansion
	}
	return plan, nil
}
