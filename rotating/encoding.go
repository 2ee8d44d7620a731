package rotating

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/tickets"
)

// The format, version 1, frozen. All numbers are little-endian.
//
//	bytes  field
//	8      magic: 89 62 6c 6f 6f 6d 72 01, the last of them the version
//	8      window, in nanoseconds
//	8      generations to a window
//	8      n
//	8      p: IEEE 754
//	8      the time, in nanoseconds since 1970-01-01 UTC, signed
//	8      the time since the filter's beginning, in nanoseconds
//	8      number of layers, at least 1
//	4      CRC-32 of the numbers so far
//
// and for each layer, oldest first,
//
//	…      the layer, in the format of package bloom
//	8      its generation: when it began, in units of a generation since the filter's beginning
//	8      how many more keys it takes
//	4      CRC-32 of all numbers so far, without checksums
//
// A generation is the window divided by the generations, rounded up.
const magic = "\x89bloomr\x01"

// WriteTo writes the filter to w, in O(m): [Filter.SizeBytes] and some hundred bytes a
// layer. The bytes are the same on every architecture and readable for ever, by [Read]. A
// snapshot that survives a crash is persist.Save(path, f).
//
// It may run while keys are added: what it writes contains every key whose Add had
// returned true before WriteTo was called, and that is not forgotten before it returns.
//
// The error is that of w, or wraps [bloom.ErrNotPortable] as that of
// [bloom.BloomFilter.WriteTo].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	// Layers that are forgotten meanwhile must not be cleared and filled again: who is
	// inside of them keeps that from happening.
	now := f.live.Load()
	var visits []tickets.Visit
	for entered := false; !entered; {
		now = f.live.Load()
		for _, e := range *now {
			visits = append(visits, e.tickets.Enter())
		}
		if entered = f.live.Load() == now; !entered {
			leave(visits)
			visits = visits[:0]
		}
	}
	defer leave(visits)

	elapsed := max(f.elapsed(), time.Duration((*now)[len(*now)-1].generation)*f.length)
	out := frame.NewWriter(w)
	out.Magic(magic)
	out.Numbers(uint64(f.plan.window), uint64(f.plan.generations), f.plan.n, math.Float64bits(f.plan.p),
		uint64(f.time().UnixNano()), uint64(elapsed), uint64(len(*now)))
	for _, e := range *now {
		// After the bits: a key that comes meanwhile may have a place in vain, but none
		// is in the bits without one, or the filter that is read would take too many.
		out.Filter(e.BloomFilter)
		out.Numbers(uint64(e.generation), min(e.tickets.Left(), f.plan.layerKeys()))
	}
	n, err := out.Result()
	return n, frame.Wrap("rotating", err)
}

func leave(visits []tickets.Visit) {
	for _, v := range visits {
		v.Leave()
	}
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its
// end. At the end of the stream it returns io.EOF itself.
//
// The time between counts, by the time of day: keys whose window has passed since are
// forgotten. Where the clock is before that of the writer, no time has passed.
//
// Options of [WithBloom] must be what the filter was made with, if they are given; a
// secret key and a strategy of one's own must be given. [bloom.WithMaxBytes] bounds the
// memory of one layer. The errors are those of [bloom.Read].
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	f, err := read(frame.NewReader(r), newConfig(opts))
	return f, frame.Wrap("rotating", err)
}

func read(in *frame.Reader, c config) (*Filter, error) {
	if err := in.Magic(magic); err != nil {
		return nil, err
	}
	var window, generations, n, p, wrote, elapsed, count uint64
	if err := in.Numbers("the header", &window, &generations, &n, &p, &wrote, &elapsed, &count); err != nil {
		return nil, err
	}
	f := &Filter{clock: c.clock, plan: plan{time.Duration(window), int(min(generations, maxGenerations+1)), n, math.Float64frombits(p)}}
	if err := f.plan.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", bloom.ErrCorrupt, err)
	}
	f.length = f.plan.generation()
	f.start, f.before = f.time(), time.Duration(elapsed)
	// At most 4 generations' worth, as turn makes them.
	most := uint64(f.plan.maxLayers() + f.plan.generations)
	switch {
	case count < 1 || count > most:
		return nil, fmt.Errorf("%w: %d layers, want 1 to %d", bloom.ErrCorrupt, count, most)
	case f.before < 0:
		return nil, fmt.Errorf("%w: %d ns since the beginning, want at most %d", bloom.ErrCorrupt, elapsed, uint64(math.MaxInt64))
	}
	since := max(0, f.start.Sub(time.Unix(0, int64(wrote)))) // Sub saturates
	f.before += min(since, math.MaxInt64-f.before)
	var all live
	for i := range count {
		e, err := f.readLayer(in, all, int64(time.Duration(elapsed)/f.length), c.bloom)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
		all = append(all, e)
	}
	f.hasher, f.scheme = all[0].BloomFilter, all[0].Scheme()
	if err := digest.Check(f.hasher); err != nil {
		return nil, fmt.Errorf("%w: %w", bloom.ErrCorrupt, err)
	}
	f.live.Store(&all)
	return f, nil
}

// readLayer reads the layer that comes after the given ones.
func (f *Filter) readLayer(in *frame.Reader, older live, newest int64, opts []bloom.Option) (entry, error) {
	b, err := in.Filter("the filter", opts)
	if err != nil {
		return entry{}, err
	}
	var generation, left uint64
	if err := in.Numbers("the numbers", &generation, &left); err != nil {
		return entry{}, err
	}
	oldest := int64(0)
	if last := len(older) - 1; last >= 0 {
		oldest = older[last].generation
	}
	switch {
	case int64(generation) < oldest || int64(generation) > newest:
		return entry{}, fmt.Errorf("%w: generation %d, want %d to %d", bloom.ErrCorrupt, generation, oldest, newest)
	case left > f.plan.layerKeys():
		return entry{}, fmt.Errorf("%w: %d more keys, want at most %d", bloom.ErrCorrupt, left, f.plan.layerKeys())
	}
	if got, want := b.Params().N, f.plan.layerKeys(); got != want {
		return entry{}, fmt.Errorf("%w: it is for n = %d keys, want %d", bloom.ErrCorrupt, got, want)
	}
	if got, want := b.Params().P, f.plan.p/float64(f.plan.maxLayers()); got != want {
		return entry{}, fmt.Errorf("%w: it is for p = %v, want %v", bloom.ErrCorrupt, got, want)
	}
	if len(older) > 0 && (!b.Compatible(older[0].BloomFilter) || b.Params() != older[0].Params()) {
		return entry{}, fmt.Errorf("%w: it is %v, the first is %v", bloom.ErrCorrupt, b, older[0].BloomFilter)
	}
	f.born++
	return entry{&layer{b, tickets.New(left)}, int64(generation), f.born}, nil
}
