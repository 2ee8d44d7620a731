package scalable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
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

// format has a golden file of three layers, and two snapshots of one layer.
func format(t testing.TB) frametest.Format {
	f, g := must(4, 0.1), must(9, 0.1)
	var b [16]byte
	add := func(f *Filter, keys, first uint64) {
		for i := range keys {
			if _, err := f.Add(key(&b, first+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(f, 16, 0)
	add(g, 12, 0)
	earlier := written(t, g)
	add(g, 3, 100)
	return frametest.Format{Write: f.WriteTo, Read: func(r io.Reader) error { _, err := Read(r); return err }, Earlier: earlier, Later: written(t, g)}
}

func TestFormat(t *testing.T) {
	golden := format(t).Test(t, "testdata/v1.golden")
	f, err := Read(bytes.NewReader(golden))
	if err != nil || len(f.Layers()) != 3 || !bytes.Equal(written(t, f), golden) {
		t.Errorf("%v, %v", f, err)
	}
}

func FuzzRead(f *testing.F) {
	format(f).Fuzz(f, func(data []byte) ([]byte, bool) {
		g, err := Read(bytes.NewReader(data), WithBloom(bloom.WithMaxBytes(1<<20)))
		if err != nil {
			return nil, false
		}
		again := written(f, g)
		g.AddString("one more")
		return again, true
	})
}

// TestGrowsOnAfterRead: a filter that is read grows as the original does.
func TestGrowsOnAfterRead(t *testing.T) {
	secret := WithBloom(bloom.WithKey([16]byte{1, 2}))
	blocked := WithBloom(bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(5))
	custom := WithBloom(bloom.WithHash(bloom.NewHash64("custom", func(key []byte) uint64 {
		return binary.LittleEndian.Uint64(key) * 0x9e3779b97f4a7c15
	})))
	for _, c := range []struct{ made, read []Option }{
		{[]Option{secret}, []Option{secret}},
		{[]Option{blocked}, []Option{blocked}},
		{[]Option{custom}, []Option{custom}},
		// What is in the file need not be given.
		{[]Option{WithGrowth(3)}, nil},
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
	keyed := written(t, must(10, 0.1, key, WithGrowth(3)))
	for name, c := range map[string]struct {
		opts []Option
		want error
	}{
		"a seed":           {[]Option{WithBloom(bloom.WithSeed(3))}, bloom.ErrIncompatible},
		"no key":           {nil, bloom.ErrIncompatible},
		"another key":      {[]Option{WithBloom(bloom.WithKey([16]byte{2}))}, bloom.ErrIncompatible},
		"another strategy": {[]Option{key, WithBloom(bloom.WithStrategy(bloom.Blocked))}, bloom.ErrIncompatible},
		"another growth":   {[]Option{key, WithGrowth(2)}, bloom.ErrIncompatible},
		"little memory":    {[]Option{key, WithBloom(bloom.WithMaxBytes(3))}, bloom.ErrTooLarge},
		"a bad option":     {[]Option{key, WithGrowth(0)}, bloom.ErrInvalid},
	} {
		if f, err := Read(bytes.NewReader(keyed), c.opts...); f != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, f, err, c.want)
		}
	}
}

// TestForgedNumbers: a forged file can have the right checksums.
func TestForgedNumbers(t *testing.T) {
	const n, p = 10, 0.1
	layers := *must(n, p).layers.Load()
	right := layers[0].BloomFilter
	second, err := must(n, p).newLayer(layers)
	if err != nil {
		t.Fatal(err)
	}
	forge := func(p, growth float64, count, left uint64, filters ...*bloom.BloomFilter) []byte {
		var b bytes.Buffer
		out := frame.NewWriter(&b)
		out.Magic(magic)
		out.Numbers(n, math.Float64bits(p), math.Float64bits(growth), count)
		for _, f := range filters {
			out.Filter(f)
			out.Numbers(left)
		}
		if _, err := out.Result(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if _, err := Read(bytes.NewReader(forge(p, 2, 2, n, right, second.BloomFilter))); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	made := bloom.MustNew
	for _, c := range []struct {
		data []byte
		text string
	}{
		{forge(0, 2, 1, n, right), "p = 0, want 0 < p < 1"},
		{forge(1, 2, 1, n, right), "p = 1, want 0 < p < 1"},
		{forge(math.NaN(), 2, 1, n, right), "p = NaN, want 0 < p < 1"},
		{forge(p, 0.5, 1, n, right), "growth = 0.5, want 1 to 1000"},
		{forge(p, 1001, 1, n, right), "growth = 1001, want 1 to 1000"},
		{forge(p, math.NaN(), 1, n, right), "growth = NaN, want 1 to 1000"},
		{forge(p, 2, 0, n, right), "0 layers, want at least 1"},
		{forge(p, 2, 1<<63, n, right), "it ends within"},
		{forge(p, 2, 1, n+1, right), "11 more keys, want at most 10"},
		{forge(p, 2, 1, n, made(n+1, p/2)), "it is for n = 11 and p = 0.05, want 10 and 0.05"},
		{forge(p, 2, 1, n, made(n, p)), "it is for n = 10 and p = 0.1, want 10 and 0.05"},
		{forge(p, 2, 2, n, right, right), "it is for n = 10 and p = 0.05, want 20 and 0.01"},
		{forge(p, 2, 2, n, right, made(2*n, second.Params().P, bloom.WithSeed(9))), "in layer 1"},
		{forge(p, 2, 2, n, right, made(2*n, second.Params().P, bloom.WithStrategy(bloom.Blocked))), "in layer 1"},
		{forge(p, 2, 1, n, made(n, p/2, bloom.WithStrategy(bloom.SeededHashing))), "needs the key itself"},
	} {
		f, err := Read(bytes.NewReader(c.data), WithBloom(bloom.WithMaxBytes(1<<20)))
		if f != nil || !errors.Is(err, bloom.ErrCorrupt) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, %v, want %q", f, err, c.text)
		}
	}
}

// TestSnapshotWhileKeysCome: keys that come while the filter is written, and are in its bits, have
// their tickets, so that no layer of the copy takes more than it is for.
func TestSnapshotWhileKeysCome(t *testing.T) {
	const n = 200_000 // more than one write per layer
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
