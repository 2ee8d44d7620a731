package rotating

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/layered"
)

// A generation is a small filter that grows. Its layers have the rates of [layered.Rate], which sum to
// less than p/(generations + 1). There are never layers of more than generations + 1 generations: a
// layer that begins a generation replaces the ended ones, and all layers of a generation come before
// the next one begins. So the rates of all layers, the forgotten ones included, sum to less than p.
//
// The first layer of a generation is for the median of the generations whose layers exist, n/generations
// among them. Further layers go up to the largest of these, and then add half of what the generation has. So
// a single burst does not enlarge the generations after it, and the next burst takes one step.
//
// Each of the generations + 1 generations has memory of its own, for n/generations keys. Memory beyond that
// goes to the generation that needs it first.

// maxLayers is how many layers a generation can have. Each adds half, so 100 hold 2^58 keys.
const maxLayers = 128

// A part is what the layers of one generation have together.
type part struct {
	generation int64
	layers     int
	room       uint64 // keys that the layers are for
	keys       uint64
	bytes      uint64
}

// parts returns what each generation has, the oldest first.
func parts(l layered.Layers) (all []part) {
	for i := range l {
		if i == 0 || l[i].Generation != l[i-1].Generation {
			all = append(all, part{generation: l[i].Generation})
		}
		of := &all[len(all)-1]
		of.layers++
		of.room += l[i].Params().N
		of.keys += l[i : i+1].Keys()
		of.bytes += l[i].SizeBytes()
	}
	return all
}

// guess returns how many keys a generation has if n keys come in a window.
func (p plan) guess() uint64 {
	g := uint64(p.generations)
	return max(1, p.n/g+min(p.n%g, 1))
}

// rate returns the rate of layer i of a generation.
func (p plan) rate(i int) float64 { return layered.Rate(p.p/float64(p.generations+1), i) }

// next returns for how many keys the next layer of a generation is.
func (p plan) next(earlier []part, has part) uint64 {
	keys := []uint64{p.guess()}
	for _, one := range earlier {
		if one.keys > 0 {
			keys = append(keys, one.keys)
		}
	}
	slices.Sort(keys)
	if has.layers == 0 {
		return withMargin(keys[(len(keys)-1)/2])
	}
	largest := withMargin(keys[len(keys)-1])
	return max(has.room/2+has.room%2, largest-min(largest, has.room))
}

// withMargin adds three standard deviations of a number of keys that come at random.
func withMargin(keys uint64) uint64 {
	keys = min(keys, 1<<60) // a filter of that many is too large, too
	return keys + 3*uint64(math.Sqrt(float64(keys)))
}

// withLayer returns the layers with one more of generation g, and without those that have ended by then. If
// memory is short, the layer is for fewer keys: a sixteenth, or what n/generations keys still need.
func (f *Filter) withLayer(l layered.Layers, g int64) (layered.Layers, error) {
	earlier, has := parts(l), part{generation: g}
	if last := len(earlier) - 1; last >= 0 && earlier[last].generation == g {
		earlier, has = earlier[:last], earlier[last]
	}
	keys, least := f.plan.next(earlier, has), uint64(1)
	if guess := f.plan.guess(); has.room < guess {
		least = min(keys, guess-has.room)
	} else {
		least = max(1, keys/16)
	}
	for len(earlier) > 0 && earlier[0].generation < g-int64(f.plan.generations) {
		l, earlier = l[earlier[0].layers:], earlier[1:]
	}
	taken, kept, limit := l.SizeBytes(), f.kept(earlier), layered.Limit(f.opts)
	b, err := (*bloom.BloomFilter)(nil), failure.Errorf(bloom.ErrTooLarge, "it has %d layers, want no more", maxLayers)
	for ; has.layers < maxLayers; keys = max(least, keys/2) {
		b, err = layered.NewLayer(keys, f.plan.rate(has.layers), f.opts, limit-min(limit, taken+kept))
		if keys == least || !errors.Is(err, bloom.ErrTooLarge) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w, in layer %d of generation %d of a filter for n = %d keys at p = %v, whose layers take %d of at most %d bytes; "+
			"%d bytes are kept for other generations, and the next generation has room", err, has.layers, g, f.plan.n, f.plan.p, taken, limit, kept)
	}
	return slices.Clone(l).Append(b, g, 0, keys), nil // without the memory of the ended ones
}

// kept returns how many bytes are kept for generations other than the present one: what the earlier ones do
// not use of their own memory, and that of the generations that begin before the present one is forgotten.
func (f *Filter) kept(earlier []part) uint64 {
	kept := uint64(f.plan.generations-len(earlier)) * f.own
	for _, one := range earlier {
		kept += f.own - min(f.own, one.bytes)
	}
	return kept
}

// promised is the number of layers per generation that the strategy and the hash must support. So many
// layers hold 100 times n/generations keys.
const promised = 13

// checkPlan sets the scheme and the memory reserved for each generation. It returns an error if the
// strategy or the hash would end the growth, or if n keys per window need more than the limit.
func (f *Filter) checkPlan() (err error) {
	first := withMargin(f.plan.guess())
	keys := []uint64{first}
	for all := first; len(keys) < promised; all += keys[len(keys)-1] {
		keys = append(keys, all/2+all%2)
	}
	plan := func(i int) (uint64, float64, error) { return keys[i], f.plan.rate(i), nil }
	if err := layered.CheckGrowth(plan, promised-1, f.plan.n, f.plan.p, f.opts); err != nil {
		return err
	}
	// A generation may begin with a smaller layer. The next one, with a lower rate, is then for the rest. A
	// part more is for sizes of two layers that are larger than that of one.
	s, err := bloom.NewScheme(first, f.plan.rate(1), f.opts...)
	if err == nil {
		f.scheme, err = bloom.NewScheme(first, f.plan.rate(0), f.opts...)
	}
	if err != nil {
		return fmt.Errorf("%w, in a generation of a filter for n = %d keys at p = %v", err, f.plan.n, f.plan.p)
	}
	f.own = s.SizeBytes() + s.SizeBytes()/32 + 64
	if all, limit := uint64(f.plan.generations)+1, layered.Limit(f.opts); f.own > limit/all {
		return failure.Errorf(bloom.ErrTooLarge, "%d generations of %d bytes, want at most %d bytes in all", all, f.own, limit)
	}
	return layered.CheckStrategy(f.scheme, bloom.ErrInvalid)
}
