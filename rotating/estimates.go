package rotating

import (
	"fmt"
	"time"

	"github.com/seed3447c163/bloom"
)

// remembered are the layers that are not forgotten by the clock.
func (f *Filter) remembered() live {
	now := f.live.Load()
	oldest := f.generation(now) - int64(f.plan.generations)
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
func (f *Filter) EstimatedCount() (count uint64) {
	for _, e := range f.remembered() {
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
		right *= 1 - e.EstimatedFalsePositiveRate()
	}
	return 1 - right
}

// Window returns for how long keys are remembered at least.
func (f *Filter) Window() time.Duration { return f.plan.window }

// Generation returns for how much longer they are remembered at most.
func (f *Filter) Generation() time.Duration { return f.length }

// Layer returns what each layer is made with: the keys that it takes, its rate, its bits
// in all and to a key.
func (f *Filter) Layer() bloom.Params { return f.scheme.Params() }

// SizeBytes returns the memory that the bits take, those of layers that wait to be used
// again included. It waits while a layer is made clean.
func (f *Filter) SizeBytes() uint64 {
	f.turning.Lock()
	defer f.turning.Unlock()
	return uint64(len(*f.live.Load())+len(f.retired)+len(f.clean)) * f.scheme.SizeBytes()
}

// String describes the filter in a line for a log.
func (f *Filter) String() string {
	layers := f.remembered()
	return fmt.Sprintf("rotating.Filter(window=%v generations=%d n=%d p=%g layers=%d strategy=%s bytes=%d keys=%d)",
		f.plan.window, f.plan.generations, f.plan.n, f.plan.p, len(layers), f.scheme.Strategy(), uint64(len(layers))*f.scheme.SizeBytes(), f.EstimatedCount())
}
