package scalable

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/tickets"
)

// The format, version 1. All numbers are little-endian.
//
//	bytes  field
//	8      magic: 89 62 6c 6f 6f 6d 73 01, the last of them the version
//	8      n
//	8      p: IEEE 754
//	8      growth: IEEE 754
//	8      tightening: IEEE 754, 0 for the default series
//	8      number of layers, at least 1
//	8      checksum
//
// and for each layer, oldest first,
//
//	…      the layer, in the format of package bloom; its n and p are those of the plan
//	8      how many more keys it takes
//	8      checksum
//
// A checksum is CRC-32 and CRC-32C of all that comes before it: the magic, the numbers, and of
// each layer its last 8 bytes, which are a checksum themselves; but not the checksums between
// them. So the last one binds all. docs/format.md says what a decoder must check.
const magic = "\x89blooms\x01"

// WriteTo writes the filter to w, in O(m): [Filter.SizeBytes] and some hundred bytes a
// layer. The bytes are the same on every architecture and readable by every later release, by [Read]. A
// snapshot that survives a crash is persist.Save(path, f).
//
// It may run while keys are added: what it writes contains every key whose Add had
// returned before WriteTo was called. Limits are not written.
//
// The error is that of w, or wraps [bloom.ErrNotPortable] as that of
// [bloom.BloomFilter.WriteTo].
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	now := *f.layers.Load()
	out := frame.NewWriter(w)
	out.Magic(magic)
	out.Numbers(f.n, math.Float64bits(f.p), math.Float64bits(f.config.growth), math.Float64bits(f.config.tightening), uint64(len(now)))
	for _, l := range now {
		// After the bits: a key that comes meanwhile may have taken a ticket that is not used, but none
		// is in the bits without one, or the filter that is read would take too many.
		out.Filter(l.BloomFilter)
		out.Numbers(min(l.tickets.Left(), l.Params().N))
	}
	return out.Result()
}

// Read reads a filter that [Filter.WriteTo] has written, in O(m), and nothing beyond its
// end. At the end of the stream it returns io.EOF itself.
//
// Options of [WithBloom] must be what the filter was made with, if they are given, and so
// must growth and tightening; a secret key and a strategy or hash of your own must be given.
// Of Blocked, all layers to come have as many words to a key as the first, if it is not given.
// Limits are as given now.
//
// The errors are those of [bloom.Read]; [bloom.WithMaxBytes] bounds the memory of all layers
// together.
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	wanted, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	in := frame.NewReader(r)
	if err := in.Magic(magic); err != nil {
		return nil, err
	}
	var n, p, growth, tightening, count uint64
	if err := in.Numbers("the header", &n, &p, &growth, &tightening, &count); err != nil {
		return nil, err
	}
	f := &Filter{n: n, p: math.Float64frombits(p), config: wanted}
	f.config.growth, f.config.tightening = math.Float64frombits(growth), math.Float64frombits(tightening)
	if err := f.agrees(wanted, count); err != nil {
		return nil, err
	}
	var all layers
	room := f.config.maxBytes
	for i := range count {
		l, err := f.readLayer(in, all, room)
		if err != nil {
			return nil, fmt.Errorf("%w, in layer %d", err, i)
		}
		all = append(all, l)
		room -= l.SizeBytes()
	}
	f.scheme = all[0].Scheme()
	if err := digest.Check(f.scheme); err != nil {
		return nil, frame.Corrupt(err)
	}
	f.config.bloom = append(optionsOf(f.scheme), wanted.bloom...)
	f.layers.Store(&all)
	return f, nil
}

// agrees checks what the header says against itself and against what is wanted.
func (f *Filter) agrees(wanted config, count uint64) error {
	c := f.config
	c.set.tightening = c.tightening != 0
	switch err := c.validate(); {
	case err != nil:
		return frame.Corrupt(err)
	case !(f.p > 0 && f.p < 1):
		return fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrCorrupt, f.p)
	case count < 1:
		return fmt.Errorf("%w: 0 layers, want at least 1", bloom.ErrCorrupt)
	case wanted.set.growth && wanted.growth != c.growth:
		return fmt.Errorf("%w: the data's growth is %v, want %v", bloom.ErrIncompatible, c.growth, wanted.growth)
	case wanted.set.tightening && wanted.tightening != c.tightening:
		return fmt.Errorf("%w: the data's tightening is %v, want %v", bloom.ErrIncompatible, c.tightening, wanted.tightening)
	case c.maxLayers > 0 && count > uint64(c.maxLayers):
		return fmt.Errorf("%w: %d layers, want at most %d", bloom.ErrTooLarge, count, c.maxLayers)
	}
	return nil
}

// readLayer reads the layer that comes after the given ones, of at most so many bytes.
func (f *Filter) readLayer(in *frame.Reader, older layers, room uint64) (*layer, error) {
	opts := f.config.bloom
	opts = append(opts[:len(opts):len(opts)], bloom.WithMaxBytes(room))
	b, err := in.Filter("the filter", opts)
	if err != nil {
		return nil, err
	}
	var left uint64
	if err := in.Numbers("the number of keys", &left); err != nil {
		return nil, err
	}
	keys, rate, err := f.config.plan(f.n, f.p, len(older))
	if err != nil {
		return nil, frame.Corrupt(err)
	}
	// The last bits of a power may differ between machines.
	if got := b.Params(); got.N != keys && !close(float64(got.N), float64(keys)) || !close(got.P, rate) {
		return nil, fmt.Errorf("%w: it is for n = %d and p = %v, want %d and %v", bloom.ErrCorrupt, got.N, got.P, keys, rate)
	}
	if left > b.Params().N {
		return nil, fmt.Errorf("%w: %d more keys, want at most %d", bloom.ErrCorrupt, left, b.Params().N)
	}
	if len(older) > 0 {
		if first := older[0].Scheme(); b.Scheme().Hash() != first.Hash() || b.Scheme().Seed() != first.Seed() || family(b) != family(older[0].BloomFilter) {
			return nil, fmt.Errorf("%w: it is %v, the first is %v", bloom.ErrCorrupt, b, older[0].BloomFilter)
		}
	}
	return &layer{b, tickets.New(left, b.Params().M)}, nil
}

// optionsOf returns the options with which a scheme like s is made, but for a secret key.
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

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }

// family returns the strategy's name; those that Blocked chooses from are one.
func family(f *bloom.BloomFilter) string {
	name := f.Strategy().Name()
	if strings.HasPrefix(name, bloom.Blocked.Name()) {
		return bloom.Blocked.Name()
	}
	return name
}
