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
// A generation is the window divided by the generations, rounded up. A checksum is CRC-32 and
// CRC-32C of all that comes before it: the magic, the numbers, and of each layer its last 8
// bytes, which are a checksum themselves; but not the checksums between them. So the last one
// binds all. docs/format.md says what a decoder must check.
const magic = "\x89bloomr\x01"

// WriteTo writes the filter to w, in O(m): [Filter.SizeBytes] and some hundred bytes a
// layer. The bytes are the same on every architecture and readable by every later release, by [Read]. A
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
	f.turning.Lock()
	now := f.live.Load()
	visits := make([]tickets.Visit, len(*now))
	for i, e := range *now {
		visits[i] = e.tickets.Enter()
	}
	f.turning.Unlock()
	defer leave(visits)

	wrote := f.time.read()
	at := f.time.moment(wrote)
	if g := now.newest().generation; at.generation < g {
		at = moment{generation: g}
	}
	out := frame.NewWriter(w)
	out.Magic(magic)
	out.Numbers(f.plan.n, math.Float64bits(f.plan.p), uint64(f.plan.window), uint64(f.plan.generations),
		uint64(wrote.Unix()), uint64(wrote.Nanosecond()), uint64(at.generation), uint64(at.within), uint64(len(*now)))
	for _, e := range *now {
		// After the bits: a key that comes meanwhile may have taken a ticket that is not used, but none
		// is in the bits without one, or the filter that is read would take too many.
		out.Filter(e.BloomFilter)
		out.Numbers(uint64(e.generation), min(e.tickets.Left(), f.plan.layerKeys()))
	}
	return out.Result()
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
// secret key and a strategy of your own must be given. [bloom.WithMaxBytes] bounds the
// memory of all layers that there can be, as in [New]. The errors are those of [bloom.Read].
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	c, err := newConfig(opts)
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
	if err := f.plan.validate(); err != nil {
		return nil, frame.Corrupt(err)
	}
	length := f.plan.generation()
	// As addLayer makes them: a clean one is not written.
	most := uint64(f.plan.allLayers() - 1)
	switch {
	case nanoseconds >= uint64(time.Second):
		return nil, fmt.Errorf("%w: %d ns of a second, want less than 10^9", bloom.ErrCorrupt, nanoseconds)
	case generation > math.MaxInt64:
		return nil, fmt.Errorf("%w: generation %d, want at most %d", bloom.ErrCorrupt, generation, uint64(math.MaxInt64))
	case within >= uint64(length):
		return nil, fmt.Errorf("%w: %d ns of a generation, want less than %d", bloom.ErrCorrupt, within, uint64(length))
	case count < 1 || count > most:
		return nil, fmt.Errorf("%w: %d layers, want 1 to %d", bloom.ErrCorrupt, count, most)
	}
	f.time = newTimeline(c.clock, length)
	wrote := time.Unix(int64(seconds), int64(nanoseconds))
	f.time.at = moment{int64(generation), time.Duration(within)}.after(wrote, f.time.start, length)
	// Everything is forgotten by then. A clock that was set far forward must not use up the numbers.
	f.time.at.generation = min(f.time.at.generation, saturate(int64(generation), generations+1))
	each := bloom.WithMaxBytes(bloom.MaxBytes(c.bloom...) / uint64(f.plan.allLayers()))
	var all live
	for i := range count {
		e, err := f.readLayer(in, all, int64(generation), append(c.bloom[:len(c.bloom):len(c.bloom)], each))
		if err != nil {
			return nil, fmt.Errorf("%w, in layer %d of at most %d", err, i, f.plan.allLayers())
		}
		all = append(all, e)
	}
	f.scheme = all[0].Scheme()
	if err := digest.Check(f.scheme); err != nil {
		return nil, frame.Corrupt(err)
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
	f.serial++
	return entry{&layer{b, tickets.New(left, b.Params().M)}, int64(generation), f.serial}, nil
}
