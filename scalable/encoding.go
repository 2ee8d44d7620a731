package scalable

import (
	"fmt"
	"io"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/layered"
)

// docs/spec.md defines the format and what a decoder must check. The last byte of magic is the version.
const magic = format.Scalable + "\x02"

// WriteTo writes the filter to w, in O(m): the bits, and some hundred bytes per layer. The bytes are the same on every
// architecture. To save a filter in a file, call persist.Save.
//
// WriteTo may run while keys are added. It writes every key whose Add returned before the call.
//
// WriteTo returns any error from w. The error wraps [bloom.ErrNotPortable] if no other process could read the bytes,
// see [bloom.Scheme.Portable].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	if f.layers.Load() == nil {
		return 0, failure.Errorf(bloom.ErrInvalid, "the zero scalable.Filter, want one of New or Read")
	}
	now := f.now()
	out := format.NewFrameWriter(w, magic)
	out.Numbers(f.n, math.Float64bits(f.p), uint64(len(now)))
	for i := range now {
		now[i].Write(out)
	}
	return out.Result()
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its end. At
// the end of the stream it returns io.EOF itself.
//
// Options must agree with the filter. A secret and a custom strategy or hash must be given;
// other options may be left out.
//
// [bloom.WithMaxBytes] limits the memory of all layers together, now and as the filter grows. Read
// returns the same errors as [bloom.Read].
func Read(r io.Reader, opts ...bloom.Option) (*Filter, error) {
	in, err := format.NewFrameReader(r, magic)
	if err != nil {
		return nil, err
	}
	var n, p, count uint64
	if err := in.Numbers("the header", &n, &p, &count); err != nil {
		return nil, err
	}
	f := newFilter(n, math.Float64frombits(p), nil)
	switch {
	case !(f.p > 0 && f.p < 1):
		return nil, failure.Errorf(bloom.ErrCorrupt, "p = %v, want 0 < p < 1", f.p)
	case count < 1:
		return nil, failure.Errorf(bloom.ErrCorrupt, "0 layers, want at least 1")
	}
	var all layered.Layers
	for i := range int(min(count, math.MaxInt)) {
		plan := func() (uint64, float64, error) { return plan(n, f.p, i, bloom.ErrCorrupt) }
		b, keys, left, err := all.Read(in, layered.Left(opts, all.SizeBytes()), plan)
		if err != nil {
			return nil, fmt.Errorf("%w, in layer %d", err, i)
		}
		all = all.Append(b, 0, keys, left)
	}
	f.scheme = all[0].Scheme()
	f.opts = append(layered.OptionsOf(f.scheme), opts...)
	if err := f.checkGrowth(); err != nil { // New refuses such a p
		return nil, failure.As(bloom.ErrCorrupt, err)
	}
	f.layers.Begin(all)
	return f, nil
}
