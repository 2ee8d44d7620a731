package rotating

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/layered"
)

// docs/spec.md defines the format and what a decoder must check. The last byte of magic is the version.
const magic = format.Rotating + "\x02"

// WriteTo writes the filter to w, in O(m): the bits, and some hundred bytes per layer. The bytes are the same on every
// architecture. To save a filter in a file, call persist.Save.
//
// WriteTo may run while keys are added. It writes every key whose Add returned true before the call, unless the key is
// forgotten before the end of the call.
//
// WriteTo returns any error from w. The error wraps [bloom.ErrNotPortable] if no other process could read the bytes,
// see [bloom.Scheme.Portable].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	now := f.layers.Load()
	if now == nil {
		return 0, failure.Errorf(bloom.ErrInvalid, "the zero rotating.Filter, want one of New or Read")
	}
	t := f.time.portable()
	if g := now.Newest().Generation; t.at.generation < g {
		t = t.from(g) // no layer may be newer than the start
	}
	out := format.NewFrameWriter(w, magic)
	out.Numbers(f.plan.n, math.Float64bits(f.plan.p), uint64(f.plan.window), uint64(f.plan.generations),
		uint64(t.start.Unix()), uint64(t.start.Nanosecond()), uint64(t.at.generation), uint64(t.at.within), uint64(len(*now)))
	for _, l := range *now {
		l.Write(out, uint64(l.Generation))
	}
	return out.Result()
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its end. At
// the end of the stream it returns io.EOF itself.
//
// A filter that is read keeps the rules under Clock in the package documentation.
//
// [WithGenerations] and the options of [WithBloom] must agree with the filter. A secret and a custom strategy or hash
// must be given; other options may be left out. [bloom.WithMaxBytes] limits the memory of all layers together, now and
// as the filter grows. [Filter.Window] returns the window. For another window, make a new filter.
//
// Read returns the same errors as [bloom.Read].
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	c, err := newConfig(config{}, opts)
	if err != nil {
		return nil, err
	}
	in, err := format.NewFrameReader(r, magic)
	if err != nil {
		return nil, err
	}
	var n, p, window, generations, seconds, nanoseconds, generation, within, count uint64
	if err := in.Numbers("the header", &n, &p, &window, &generations, &seconds, &nanoseconds, &generation, &within, &count); err != nil {
		return nil, err
	}
	f := newFilter(plan{n, math.Float64frombits(p), time.Duration(window), int(min(generations, maxGenerations+1))})
	if err := f.plan.validate(bloom.ErrCorrupt); err != nil {
		return nil, err
	}
	length, most := f.plan.generation(), maxLayers*(generations+1)
	switch {
	case nanoseconds >= uint64(time.Second):
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d ns of a second, want less than 10^9", nanoseconds)
	case generation > math.MaxInt64:
		return nil, failure.Errorf(bloom.ErrCorrupt, "generation %d, want at most %d", generation, uint64(math.MaxInt64))
	case within >= uint64(length):
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d ns of a generation, want less than %d", within, uint64(length))
	case count < 1 || count > most:
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d layers, want 1 to %d", count, most)
	case c.generations != 0 && c.generations != f.plan.generations:
		return nil, failure.Errorf(bloom.ErrIncompatible, "the data has %d generations, want %d", f.plan.generations, c.generations)
	}
	start, at := time.Unix(int64(seconds), int64(nanoseconds)), moment{int64(generation), time.Duration(within)}
	f.time = timeline{c.clock, length, start, at}.portable()
	var all layered.Layers
	used := uint64(0) // not summed anew for each layer: a forged file may have 10^5
	for i := range int(count) {
		if all, err = f.readLayer(in, all, generation, layered.Left(c.bloom, used)); err != nil {
			return nil, fmt.Errorf("%w, in layer %d of %d", err, i, count)
		}
		used += all.Newest().SizeBytes()
	}
	f.opts = append(layered.OptionsOf(all[0].Scheme()), c.bloom...)
	if err := f.checkPlan(); errors.Is(err, bloom.ErrInvalid) {
		return nil, failure.As(bloom.ErrCorrupt, err) // New refuses such a p
	} else if err != nil {
		return nil, err
	}
	f.layers.Begin(all)
	return f, nil
}

// readLayer reads the next layer and appends it to all. The generation of the layer must be at most newest.
func (f *Filter) readLayer(in *format.FrameReader, all layered.Layers, newest uint64, opts []bloom.Option) (layered.Layers, error) {
	var generation uint64
	plan := func() (n uint64, rate float64, err error) {
		oldest, i := uint64(0), 0
		if len(all) > 0 {
			oldest, newest = uint64(all.Newest().Generation), min(newest, uint64(all[0].Generation)+uint64(f.plan.generations))
		}
		for i < len(all) && all[len(all)-1-i].Generation == int64(generation) {
			i++
		}
		switch {
		case generation < oldest || generation > newest:
			err = failure.Errorf(bloom.ErrCorrupt, "generation %d, want %d to %d", generation, oldest, newest)
		case i >= maxLayers:
			err = failure.Errorf(bloom.ErrCorrupt, "more than %d layers in generation %d", maxLayers, generation)
		}
		return 0, f.plan.rate(i), err
	}
	b, keys, left, err := all.Read(in, opts, plan, &generation)
	if err != nil {
		return nil, err
	}
	return all.Append(b, int64(generation), keys, left), nil
}
