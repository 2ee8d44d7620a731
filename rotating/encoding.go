package rotating

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/layered"
)

// The format, version 1. All numbers are little-endian.
//
//	bytes  field
//	8      magic: 89 62 6c 6f 6f 6d 72 01, the last of them the version
//	8      n
//	8      p: IEEE 754
//	8      window, in nanoseconds
//	8      generations to a window
//	8      the time: seconds since 1970-01-01 UTC, signed
//	8      and nanoseconds, less than 10^9
//	8      the generation of that time, 0 being the filter's first
//	8      how long that had lasted, in nanoseconds
//	8      number of layers, at least 1
//	8      checksum
//
// and for each layer, oldest first,
//
//	…      the layer, in the format of package bloom
//	8      its generation
//	8      how many more keys it takes
//	8      checksum
//
// A generation is the window divided by the generations, rounded up. docs/format.md defines the
// checksums and what a decoder must check.
const magic = "\x89bloomr\x01"

// WriteTo writes the filter to w, in O(m): the bits and some hundred bytes per layer. The bytes are
// the same on every architecture. persist.Save(path, f) writes a snapshot that survives a crash.
//
// WriteTo may run while keys are added. It writes every key whose Add returned true before the
// call and that is not forgotten before it ends.
//
// The error is that of w, or wraps [bloom.ErrNotPortable] as that of [bloom.BloomFilter.WriteTo].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	now := f.live.Load()
	wrote := f.time.read()
	at := f.time.moment(wrote)
	if g := now.Newest().Generation; at.generation < g {
		at = moment{generation: g}
	}
	out := frame.NewWriter(w)
	out.Magic(magic)
	out.Numbers(f.plan.n, math.Float64bits(f.plan.p), uint64(f.plan.window), uint64(f.plan.generations),
		uint64(wrote.Unix()), uint64(wrote.Nanosecond()), uint64(at.generation), uint64(at.within), uint64(len(*now)))
	for _, l := range *now {
		l.Write(out, uint64(l.Generation))
	}
	return out.Result()
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its end. At
// the end of the stream it returns io.EOF itself.
//
// The time of day decides how much time has passed since WriteTo; keys whose window has passed
// are forgotten. If the clock is before that of the writer, no time has passed.
//
// Options of [WithBloom] must agree with the filter. A secret key and a custom strategy or hash
// must be given; other options may be left out. [bloom.WithMaxBytes] limits the memory of all
// layers that there can be. The errors are those of [bloom.Read].
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	c, err := newConfig(append([]Option{WithGenerations(0)}, opts...))
	if err != nil {
		return nil, err
	}
	in := frame.NewReader(r)
	if err := in.Magic(magic); err != nil {
		return nil, err
	}
	var n, p, window, generations, seconds, nanoseconds, generation, within, count uint64
	if err := in.Numbers("the header", &n, &p, &window, &generations, &seconds, &nanoseconds, &generation, &within, &count); err != nil {
		return nil, err
	}
	f := &Filter{plan: plan{n, math.Float64frombits(p), time.Duration(window), int(min(generations, maxGenerations+1))}}
	if err := f.plan.validate(bloom.ErrCorrupt); err != nil {
		return nil, err
	}
	length, most := f.plan.generation(), uint64(f.plan.allLayers())
	switch {
	case nanoseconds >= uint64(time.Second):
		return nil, fmt.Errorf("%w: %d ns of a second, want less than 10^9", bloom.ErrCorrupt, nanoseconds)
	case generation > math.MaxInt64:
		return nil, fmt.Errorf("%w: generation %d, want at most %d", bloom.ErrCorrupt, generation, uint64(math.MaxInt64))
	case within >= uint64(length):
		return nil, fmt.Errorf("%w: %d ns of a generation, want less than %d", bloom.ErrCorrupt, within, uint64(length))
	case count < 1 || count > most:
		return nil, fmt.Errorf("%w: %d layers, want 1 to %d", bloom.ErrCorrupt, count, most)
	case c.generations != 0 && c.generations != f.plan.generations:
		return nil, fmt.Errorf("%w: the data has %d generations, want %d", bloom.ErrIncompatible, f.plan.generations, c.generations)
	}
	f.time = newTimeline(c.clock, length)
	wrote := time.Unix(int64(seconds), int64(nanoseconds))
	f.time.at = moment{int64(generation), time.Duration(within)}.after(wrote, f.time.start, length)
	// Everything is forgotten by then. A clock that was set far forward must not use up the numbers.
	f.time.at.generation = min(f.time.at.generation, saturate(int64(generation), generations+1))
	each := frame.Limited(c.bloom, bloom.MaxBytes(c.bloom...)/most)
	var all layered.Layers
	for i := range count {
		l, err := f.readLayer(in, all, int64(generation), each)
		if err != nil {
			return nil, fmt.Errorf("%w, in layer %d of at most %d", err, i, most)
		}
		all = append(all, l)
	}
	f.scheme = all[0].Scheme()
	if err := layered.CheckStrategy(f.scheme, bloom.ErrCorrupt); err != nil {
		return nil, err
	}
	f.live.Store(&all)
	return f, nil
}

// readLayer reads the layer that follows the given ones.
func (f *Filter) readLayer(in *frame.Reader, older layered.Layers, newest int64, opts []bloom.Option) (layered.Layer, error) {
	b, err := in.Filter("the filter", opts)
	if err != nil {
		return layered.Layer{}, err
	}
	var generation, left uint64
	if err := in.Numbers("the numbers", &generation, &left); err != nil {
		return layered.Layer{}, err
	}
	oldest := int64(0)
	if len(older) > 0 {
		oldest = older.Newest().Generation
	}
	got, keys, rate := b.Params(), f.plan.layerKeys(), f.plan.p/float64(f.plan.maxLayers())
	switch {
	case int64(generation) < oldest || int64(generation) > newest:
		return layered.Layer{}, fmt.Errorf("%w: generation %d, want %d to %d", bloom.ErrCorrupt, generation, oldest, newest)
	case left > keys:
		return layered.Layer{}, fmt.Errorf("%w: %d more keys, want at most %d", bloom.ErrCorrupt, left, keys)
	case got.N != keys || got.P != rate:
		return layered.Layer{}, fmt.Errorf("%w: it is for n = %d and p = %v, want %d and %v", bloom.ErrCorrupt, got.N, got.P, keys, rate)
	case len(older) > 0 && (!b.Compatible(older[0].BloomFilter) || got != older[0].Params()):
		return layered.Layer{}, fmt.Errorf("%w: it is %v, the first is %v", bloom.ErrCorrupt, b, older[0].BloomFilter)
	}
	l := layered.With(b, left)
	l.Generation, l.Serial = int64(generation), uint64(len(older))
	return l, nil
}
