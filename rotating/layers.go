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

// A generation is a small filter that grows. Its layers have the rates of [layered.Rate]: together less than
// p/(generations + 1). There are never layers of more than generations + 1 generations: when a generation gets its
// first layer, the layers of forgotten generations are dropped, and no layer is added to an earlier generation. So the
// rates of all layers, including forgotten ones that were not dropped yet, sum to less than p.
//
// The first layer of a generation is for the median of n/generations and the key counts of the earlier generations that
// still exist. Each further layer brings the room up to the largest of these numbers, and adds at least half of the
// room so far. So a single burst does not enlarge the generations after it, and the next burst needs only one more
// layer.
//
// Memory for n/generations keys is reserved for each of the generations + 1 generations. The rest goes to the
// generation that needs it first.

// maxLayers is the largest number of layers of a generation. Each layer adds half of the room so far, so 100 layers
// hold 2^58 keys.
const maxLayers = 128

// A part has the totals of the layers of one generation.
type part struct {
	generation int64
	layers     int
	room       uint64 // keys that the layers are for
	keys       uint64
	bytes      uint64
}

// parts returns the part of each generation, the oldest first.
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

// guess returns the expected number of keys of a generation: n/generations, rounded up, and at least 1.
func (p plan) guess() uint64 {
	g := uint64(p.generations)
	return max(1, p.n/g+min(p.n%g, 1))
}

// rate returns the false-positive rate for layer i of a generation.
func (p plan) rate(i int) float64 { return layered.Rate(p.p/float64(p.generations+1), i) }

// next returns the number of keys for the next layer of a generation. The parameter earlier describes the earlier
// generations. The parameter has describes this one, which may have no layers yet.
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

// withMargin returns keys plus three standard deviations of a Poisson distribution whose mean is keys.
func withMargin(keys uint64) uint64 {
	keys = min(keys, 1<<52) // more keys need more than the 2^53 bits that a filter can have
	return keys + 3*uint64(math.Sqrt(float64(keys)))
}

// withLayer appends a layer for generation g and drops the layers that are forgotten in that generation. If memory is
// short, the layer is for fewer keys: at least a sixteenth of them. But the generation always gets room for
// n/generations keys.
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
	return slices.Clone(l).Append(b, g, 0, keys), nil // a clone, so that dropped layers are freed
}

// kept returns the number of bytes that the newest generation must leave to others: to each earlier generation, the
// unused part of its reserved memory; to each generation that begins before the newest is forgotten, all of its
// reserved memory.
func (f *Filter) kept(earlier []part) uint64 {
	kept := uint64(f.plan.generations-len(earlier)) * f.own
	for _, one := range earlier {
		kept += f.own - min(f.own, one.bytes)
	}
	return kept
}

// promised is the number of layers per generation that the strategy and the hash must support. They hold 100 times
// n/generations keys.
const promised = 13

// checkPlan sets the scheme and the memory reserved for each generation. It returns an error if the strategy or the
// hash cannot have the rates of later layers, or if n keys per window need more than the memory limit.
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
	// If a generation's first layer is for fewer keys, a second layer is for the rest, at a lower rate. Two layers may
	// take a little more memory than one. So own is the size of one layer at the second rate, plus 1/32 and 64 bytes.
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
