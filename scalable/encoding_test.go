package scalable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// fill adds a range of keys.
func fill(f *Filter, first, keys uint64) *Filter {
	var b [16]byte
	for i := range keys {
		layeredtest.Unfailing{Growing: f}.Add(key(&b, first+i))
	}
	return f
}

func read(r io.Reader) error { _, err := Read(r); return err }

// formatOf returns the format with a golden file of three layers, and two snapshots of one layer.
func formatOf(t testing.TB) conformance.Format {
	g := fill(must(9, 0.1), 0, 12)
	earlier := conformance.Written(t, g)
	return conformance.Format{
		Values: []io.WriterTo{fill(must(4, 0.1), 0, 16), must(10_000, 0.01)}, Large: fill(must(2_000_000, 0.01), 0, 1000), Zero: []io.WriterTo{new(Filter)},
		Read: conformance.Reader(Read), Sealed: true, Stream: true, Version: 7,
		Earlier: earlier, Later: conformance.Written(t, fill(g, 100, 3)),
	}
}

func TestFormat(t *testing.T) {
	if f := formatOf(t).TestGolden(t, "testdata/v2.golden").(*Filter); len(f.Layers()) != 3 {
		t.Error(f)
	}
}

func FuzzRead(f *testing.F) { formatOf(f).Fuzz(f) }

// TestGrowsOnAfterRead: a filter that is read grows as the original does, with the options that its
// file does not have.
func TestGrowsOnAfterRead(t *testing.T) {
	secret := []bloom.Option{bloom.WithSecret([16]byte{1, 2})}
	blocked := []bloom.Option{bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(5)}
	custom := []bloom.Option{bloom.WithHash(bloom.NewHash64("custom", func(key []byte) uint64 {
		return binary.LittleEndian.Uint64(key) * 0x9e3779b97f4a7c15
	}))}
	for _, c := range []struct {
		n          uint64
		made, read []bloom.Option
	}{
		{0, nil, nil},
		{100, secret, secret},
		{100, blocked, blocked},
		{100, custom, custom},
		{100, []bloom.Option{bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3)}, nil},
		{100, []bloom.Option{bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(1 << 40)}, nil},
	} {
		f := fill(must(c.n, 0.001, c.made...), 0, 450)
		g, err := Read(bytes.NewReader(conformance.Written(t, f)), c.read...)
		if err != nil {
			t.Fatal(err)
		}
		fill(f, 400, 1600)
		fill(g, 400, 1600)
		if !bytes.Equal(conformance.Written(t, f), conformance.Written(t, g)) {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

func TestOptions(t *testing.T) {
	conformance.Options(t, func(opts ...bloom.Option) (io.WriterTo, uint64) {
		f := must(10, 0.1, opts...)
		return f, f.SizeBytes()
	}, conformance.Reader(Read))
}

// TestReadLimit: the limit is for all layers together, also as the filter grows.
func TestReadLimit(t *testing.T) {
	f := fill(must(10, 0.01), 0, 60)
	data := conformance.Written(t, f)
	g, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(f.SizeBytes()))
	if err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	for i := uint64(60); err == nil; i++ {
		_, err = g.Add(key(&b, i))
	}
	conformance.Refused(t, err, bloom.ErrFull, "in layer 3")
	_, err = Read(bytes.NewReader(data), bloom.WithMaxBytes(f.SizeBytes()-1))
	conformance.Refused(t, err, bloom.ErrTooLarge, "in layer 2")
}

// TestOptionsAreKept: a caller that uses its slice of options again changes no later layer.
func TestOptionsAreKept(t *testing.T) {
	opts := []bloom.Option{bloom.WithStrategy(bloom.Blocked)}
	f := must(10, 0.01, opts...)
	g, err := Read(bytes.NewReader(conformance.Written(t, f)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	opts[0] = bloom.WithStrategy(bloom.DoubleHashing)
	for _, f := range []*Filter{f, g} {
		if s := fill(f, 0, 20).Stats(); s.Strategy != "blocked" {
			t.Errorf("the newest layer is %s", s.Strategy)
		}
	}
}

// few returns a filter that claims to be for n keys, in 64 bits.
func few(t *testing.T, n uint64, p float64) *bloom.BloomFilter {
	f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{N: n, P: p, M: 64, K: 1}))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestForgedNumbers: a forged file can have the right checksums.
func TestForgedNumbers(t *testing.T) {
	const n, p = 10, 0.1
	first, second := bloom.MustNew(n, p/2), bloom.MustNew(2*n, p/6)
	forge := func(p float64, count, left uint64, filters ...*bloom.BloomFilter) []byte {
		parts := []any{[]uint64{n, math.Float64bits(p), count}}
		for _, f := range filters {
			parts = append(parts, f, []uint64{0, left})
		}
		return conformance.Forge(t, magic, parts...)
	}
	if err := read(bytes.NewReader(forge(p, 2, n, first, second))); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	const tinyP = 1e-18 // the first layer can have its rate, later ones cannot
	for _, c := range []struct {
		data []byte
		text string
	}{
		{forge(tinyP, 1, n, bloom.MustNew(n, tinyP/2)), "in layer "},
		{forge(0, 1, n, first), "p = 0, want 0 < p < 1"},
		{forge(1, 1, n, first), "p = 1, want 0 < p < 1"},
		{forge(math.NaN(), 1, n, first), "p = NaN, want 0 < p < 1"},
		{forge(p, 0, n, first), "0 layers, want at least 1"},
		{forge(p, 1<<63, n, first), "it ends within"},
		{forge(p, 1, n+1, first), "0 keys and 11 more, want at most 10"},
		{forge(p, 1, n, bloom.MustNew(n+1, p/2)), "it is for n = 11 and p = 0.05, want 10 and 0.05"},
		{conformance.Forge(t, magic, []uint64{1 << 62, math.Float64bits(p), 1}, few(t, 1<<62, p/2), []uint64{1 << 62, 0}), "want at most a key per bit, in layer 0"},
		{forge(p, 1, n, bloom.MustNew(n, p)), "it is for n = 10 and p = 0.1, want 10 and 0.05"},
		{forge(p, 2, n, first, bloom.MustNew(2*n, p/6, bloom.WithSeed(9))), "in layer 1"},
		{forge(p, 2, n, first, bloom.MustNew(2*n, p/6, bloom.WithStrategy(bloom.Blocked))), "in layer 1"},
		{forge(p, 1, n, bloom.MustNew(n, p/2, bloom.WithStrategy(bloom.SeededHashing))), "needs the key itself"},
	} {
		conformance.Refused(t, read(bytes.NewReader(c.data)), bloom.ErrCorrupt, c.text)
	}
}

// TestSnapshotWhileKeysCome: keys that come while the filter is written, and are in its bits, have
// their tickets, so that no layer of the copy takes more than it is for.
func TestSnapshotWhileKeysCome(t *testing.T) {
	const n = 200_000 // more than one write per layer
	f := must(n, 0.01)
	in, out := io.Pipe()
	go func() { _, err := f.WriteTo(out); out.CloseWithError(err) }()
	first := make([]byte, 8)
	_, err := io.ReadFull(in, first)
	fill(f, 0, n-1)
	g, err2 := Read(io.MultiReader(bytes.NewReader(first), in))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	holdNoMore(t, fill(g, n, n))
}
