package scalable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
)

func written(t testing.TB, f *Filter) []byte {
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// small is what the golden file holds: three layers.
func small(t testing.TB) *Filter {
	f := must(4, 0.1, WithTightening(0.5))
	var b [16]byte
	for i := range uint64(16) {
		if _, err := f.Add(key(&b, i)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestGolden(t *testing.T) {
	f := small(t)
	golden := frametest.Golden(t, "testdata/v1.golden", written(t, f))
	g, err := Read(bytes.NewReader(golden))
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != f.String() || len(g.Layers()) != 3 {
		t.Errorf("%v, want %v", g, f)
	}
	if again := written(t, g); !bytes.Equal(again, golden) {
		t.Error("written again, it is another")
	}
	frametest.Damage(t, golden, read)
	frametest.Failing(t, f.WriteTo)
}

func read(r io.Reader) error { _, err := Read(r); return err }

// snapshots returns two files of one filter of equal length, with some adds between them.
func snapshots(t testing.TB, n, adds uint64) (earlier, later []byte) {
	f := must(n, 0.1, WithGrowth(1))
	var b [16]byte
	for i := range adds {
		f.Add(key(&b, i))
	}
	earlier = written(t, f)
	for i := range n / 3 {
		f.Add(key(&b, 1000+i))
	}
	return earlier, written(t, f)
}

// TestCopies: no block of a file can be written over another one unnoticed.
func TestCopies(t *testing.T) {
	sizes := [][2]uint64{{4, 7}}
	if *effort.Long {
		sizes = [][2]uint64{{1, 1}, {10, 25}, {60, 170}, {150, 200}} // of 1 kB at most
	}
	for _, size := range sizes {
		data, _ := snapshots(t, size[0], size[1])
		frametest.Copies(t, data, read)
	}
}

// TestOtherDamage: nor anything else that storage does.
func TestOtherDamage(t *testing.T) {
	a, b := snapshots(t, 12, 40)
	frametest.Damages(t, effort.Times(10_000, 100_000, 11_000_000), read, a, b)
}

// TestMixedSnapshots: layers of two snapshots of one filter, with or without the numbers that
// follow them, are refused.
func TestMixedSnapshots(t *testing.T) {
	f := must(9, 0.1, WithGrowth(1))
	var b [16]byte
	for i := range uint64(7) {
		f.Add(key(&b, i))
	}
	earlier, one := written(t, f), len(f.Layers())
	for i := range uint64(2) {
		f.Add(key(&b, 7+i))
	}
	later := written(t, f)
	if one != 1 || len(f.Layers()) != 1 || len(earlier) != len(later) {
		t.Fatal("the snapshots have not one layer each")
	}
	head, tail := len(magic)+48, len(later)-16
	if err := read(bytes.NewReader(slices.Concat(earlier[:head], later[head:tail], earlier[tail:]))); !errors.Is(err, bloom.ErrCorrupt) {
		t.Errorf("a layer of a later snapshot: %v", err)
	}
	if err := read(bytes.NewReader(slices.Concat(earlier[:tail], later[tail:]))); !errors.Is(err, bloom.ErrCorrupt) {
		t.Errorf("numbers of a later snapshot: %v", err)
	}
}

// TestGrowsOnAfterRead: a filter that is read grows as the original does.
func TestGrowsOnAfterRead(t *testing.T) {
	secret := WithBloom(bloom.WithKey([16]byte{1, 2}))
	blocked := WithBloom(bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(5))
	own := WithBloom(bloom.WithHash(bloom.NewHash64("own", func(key []byte) uint64 {
		return binary.LittleEndian.Uint64(key) * 0x9e3779b97f4a7c15
	})))
	for _, c := range []struct{ made, read []Option }{
		{nil, nil},
		{[]Option{secret}, []Option{secret}},
		{[]Option{blocked}, []Option{blocked}},
		{[]Option{own}, []Option{own}},
		{[]Option{WithGrowth(3), WithTightening(0.8)}, []Option{WithGrowth(3), WithTightening(0.8)}},
		// What is in the file need not be given.
		{[]Option{WithGrowth(3), WithTightening(0.8)}, nil},
		{[]Option{WithBloom(bloom.WithSeed(3))}, nil},
		{[]Option{WithBloom(bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3))}, nil},
		{[]Option{WithBloom(bloom.WithStrategy(bloom.Blocked4), bloom.WithSeed(1<<40))}, nil},
	} {
		f := must(100, 0.001, c.made...)
		var b [16]byte
		for i := range uint64(450) {
			f.Add(key(&b, i))
		}
		g, err := Read(bytes.NewReader(written(t, f)), c.read...)
		if err != nil {
			t.Fatal(err)
		}
		for i := uint64(400); i < 2000; i++ {
			a, _ := f.Add(key(&b, i))
			c, err := g.Add(key(&b, i))
			if a != c || err != nil {
				t.Fatalf("%v: key %d: %v, %v; the original: %v", g, i, c, err, a)
			}
		}
		if !bytes.Equal(written(t, f), written(t, g)) {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

func TestWhatCannotBeWrittenOrRead(t *testing.T) {
	var b bytes.Buffer
	mapHash := WithBloom(bloom.WithHash(bloom.MapHash))
	if n, err := must(10, 0.1, mapHash).WriteTo(&b); !errors.Is(err, bloom.ErrNotPortable) || n != 0 || b.Len() != 0 {
		t.Errorf("MapHash: %d bytes, %v", n, err)
	}
	key := WithBloom(bloom.WithKey([16]byte{1}))
	keyed := written(t, must(10, 0.1, key, WithGrowth(3), WithTightening(0.6)))
	for name, c := range map[string]struct {
		opts []Option
		want error
	}{
		"a seed":           {[]Option{WithBloom(bloom.WithSeed(3))}, bloom.ErrIncompatible},
		"no key":           {nil, bloom.ErrIncompatible},
		"another key":      {[]Option{WithBloom(bloom.WithKey([16]byte{2}))}, bloom.ErrIncompatible},
		"another strategy": {[]Option{key, WithBloom(bloom.WithStrategy(bloom.Blocked))}, bloom.ErrIncompatible},
		"another growth":   {[]Option{key, WithGrowth(2)}, bloom.ErrIncompatible},
		"another series":   {[]Option{key, WithTightening(0.5)}, bloom.ErrIncompatible},
		"little memory":    {[]Option{key, WithBloom(bloom.WithMaxBytes(3))}, bloom.ErrTooLarge},
		"a bad option":     {[]Option{key, WithMaxLayers(0)}, bloom.ErrInvalid},
	} {
		if f, err := Read(bytes.NewReader(keyed), c.opts...); f != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, f, err, c.want)
		}
	}
	if f, err := Read(bytes.NewReader(written(t, small(t))), WithMaxLayers(2)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("more layers than wanted: %v, %v", f, err)
	}
}

// TestForgedNumbers: whoever makes up a file can make its checksums right, too.
func TestForgedNumbers(t *testing.T) {
	const n, p = 10, 0.1
	layers := *must(n, p).layers.Load()
	right := layers[0].BloomFilter
	second, err := must(n, p).newLayer(layers)
	if err != nil {
		t.Fatal(err)
	}
	made := func(n uint64, p float64, opts ...bloom.Option) *bloom.BloomFilter {
		return bloom.MustNew(n, p, opts...)
	}
	forge := func(n uint64, p, growth, tightening float64, count, left uint64, filters ...*bloom.BloomFilter) []byte {
		var b bytes.Buffer
		out := frame.NewWriter(&b)
		out.Magic(magic)
		out.Numbers(n, math.Float64bits(p), math.Float64bits(growth), math.Float64bits(tightening), count)
		for _, f := range filters {
			out.Filter(f)
			out.Numbers(left)
		}
		if _, err := out.Result(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if _, err := Read(bytes.NewReader(forge(n, p, 2, 0, 2, n, right, second.BloomFilter))); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	for _, c := range []struct {
		data []byte
		text string
	}{
		{forge(n, 0, 2, 0, 1, n, right), "p = 0, want 0 < p < 1"},
		{forge(n, 1, 2, 0, 1, n, right), "p = 1, want 0 < p < 1"},
		{forge(n, math.NaN(), 2, 0, 1, n, right), "p = NaN, want 0 < p < 1"},
		{forge(n, p, 0.5, 0, 1, n, right), "growth = 0.5, want 1 to 1000"},
		{forge(n, p, 1001, 0, 1, n, right), "growth = 1001, want 1 to 1000"},
		{forge(n, p, math.NaN(), 0, 1, n, right), "growth = NaN, want 1 to 1000"},
		{forge(n, p, 2, 1, 1, n, right), "tightening = 1, want 0 < r < 1"},
		{forge(n, p, 2, -0.5, 1, n, right), "tightening = -0.5, want 0 < r < 1"},
		{forge(n, p, 2, math.NaN(), 1, n, right), "tightening = NaN, want 0 < r < 1"},
		{forge(n, p, 2, 0, 0, n, right), "0 layers, want at least 1"},
		{forge(n, p, 2, 0, 1<<63, n, right), "it ends within"},
		{forge(n, p, 2, 0, 1, n+1, right), "11 more keys, want at most 10"},
		{forge(n, p, 2, 0, 1, n, made(n+1, p/2)), "it is for n = 11 and p = 0.05, want 10 and 0.05"},
		{forge(n, p, 2, 0, 1, n, made(n, p)), "it is for n = 10 and p = 0.1, want 10 and 0.05"},
		{forge(n, p, 2, 0, 2, n, right, right), "it is for n = 10 and p = 0.05, want 20 and 0.01"},
	} {
		f, err := Read(bytes.NewReader(c.data), WithBloom(bloom.WithMaxBytes(1<<20)))
		if f != nil || !errors.Is(err, bloom.ErrCorrupt) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, %v, want %q", f, err, c.text)
		}
	}
	for _, data := range [][]byte{
		forge(n, p, 2, 0, 2, n, right, made(2*n, second.Params().P, bloom.WithSeed(9))),
		forge(n, p, 2, 0, 2, n, right, made(2*n, second.Params().P, bloom.WithStrategy(bloom.Blocked))),
		forge(n, p, 2, 0, 1, n, made(n, p/2, bloom.WithStrategy(bloom.SeededHashing))),
	} {
		if f, err := Read(bytes.NewReader(data)); f != nil || !errors.Is(err, bloom.ErrCorrupt) {
			t.Errorf("a layer that is made otherwise: %v, %v", f, err)
		}
	}
}

// TestSnapshotWhileKeysCome: keys that come while the filter is written, and are in its
// bits, have taken their places, so that no layer of the copy gets more than it is for.
func TestSnapshotWhileKeysCome(t *testing.T) {
	const n = 200_000 // more than one write
	f := must(n, 0.01)
	var b [16]byte
	out := frametest.BusyWriter{Meanwhile: func() {
		for i := range uint64(n - 1) {
			f.Add(key(&b, i))
		}
	}}
	if _, err := f.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	g, err := Read(&out.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(n); i < 2*n; i++ {
		g.Add(key(&b, i))
	}
	for i, l := range *g.layers.Load() {
		if count, n := l.BloomFilter.Stats().EstimatedCount, l.Params().N; count > n+n/50 {
			t.Errorf("layer %d is for %d keys and has about %d", i, n, count)
		}
	}
}
