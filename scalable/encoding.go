package scalable

import (
	"io"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/layered"
)

// docs/formats.md defines the file, whose last byte of magic is the version, and what a decoder must
// check.
const magic = "\x89blooms\x01"

// WriteTo writes the filter to w, in O(m): the bits and some hundred bytes per layer. The bytes are
// the same on every architecture. persist.Save(path, f) writes a snapshot that survives a crash.
//
// WriteTo may run while keys are added. It writes every key whose Add returned before the call.
//
// WriteTo returns any error from w. Like [bloom.BloomFilter.WriteTo], it returns an error that wraps
// [bloom.ErrNotPortable] for a hash or strategy that no file can name.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	if f.layers.Load() == nil {
		return 0, errZero
	}
	now := f.now()
	out := frame.NewWriter(w)
	out.Magic(magic)
	out.Numbers(f.n, math.Float64bits(f.p), uint64(len(now)))
	for i := range now {
		now[i].Write(out)
	}
	return out.Result()
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its end. At
// the end of the stream it returns io.EOF itself.
//
// Options must agree with the filter. A secret key and a custom strategy or hash must be given;
// other options may be left out.
//
// [bloom.WithMaxBytes] limits the memory of all layers together, now and as the filter grows. Read
// returns the same errors as [bloom.Read].
func Read(r io.Reader, opts ...bloom.Option) (*Filter, error) {
	in := frame.NewReader(r)
	if err := in.Magic(magic); err != nil {
		return nil, err
	}
	var n, p, count uint64
	if err := in.Numbers("the header", &n, &p, &count); err != nil {
		return nil, err
	}
	f := &Filter{n: n, p: math.Float64frombits(p), opts: opts}
	switch {
	case !(f.p > 0 && f.p < 1):
		return nil, format.Errorf(bloom.ErrCorrupt, "p = %v, want 0 < p < 1", f.p)
	case count < 1:
		return nil, format.Errorf(bloom.ErrCorrupt, "0 layers, want at least 1")
	}
	var all layered.Layers
	for i := range count {
		l, err := f.readLayer(in, all)
		if err != nil {
			return nil, format.In(err, "layer %d", i)
		}
		all = append(all, l)
	}
	f.scheme = all[0].Scheme()
	if err := layered.CheckStrategy(f.scheme, bloom.ErrCorrupt); err != nil {
		return nil, err
	}
	f.opts = append(optionsOf(f.scheme), opts...)
	f.start(all)
	return f, nil
}

// readLayer reads the layer that follows the given ones.
func (f *Filter) readLayer(in *frame.Reader, older layered.Layers) (layered.Layer, error) {
	b, err := in.Filter("the filter", frame.Limited(f.opts, bloom.MaxBytes(f.opts...)-older.SizeBytes()))
	if err != nil {
		return layered.Layer{}, err
	}
	var left uint64
	if err := in.Numbers("the number of keys", &left); err != nil {
		return layered.Layer{}, err
	}
	keys, rate, err := plan(f.n, f.p, len(older), bloom.ErrCorrupt)
	if err != nil {
		return layered.Layer{}, err
	}
	switch got := b.Params(); {
	case got.N != keys || got.P != rate:
		return layered.Layer{}, format.Errorf(bloom.ErrCorrupt, "it is for n = %d and p = %v, want %d and %v", got.N, got.P, keys, rate)
	case left > keys:
		return layered.Layer{}, format.Errorf(bloom.ErrCorrupt, "%d more keys, want at most %d", left, keys)
	case len(older) > 0 && (b.Strategy() != older[0].Strategy() || !layered.SameHash(b, older[0].BloomFilter)):
		return layered.Layer{}, format.Errorf(bloom.ErrCorrupt, "it is %v, the first is %v", b, older[0].BloomFilter)
	}
	l := layered.With(b, left)
	l.Serial = uint64(len(older))
	return l, nil
}

// optionsOf returns the options that make a scheme like s, except for a secret key.
func optionsOf(s bloom.Scheme) []bloom.Option {
	opts := []bloom.Option{bloom.WithStrategy(s.Strategy())}
	if !s.Keyed() {
		opts = append(opts, bloom.WithHash(s.Hash()))
	}
	if s.Seed() != 0 {
		opts = append(opts, bloom.WithSeed(s.Seed()))
	}
	return opts
}
