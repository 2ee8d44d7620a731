package counting

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
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

// small is what the golden file holds: every value of a counter is in it.
func small(t testing.TB) *Filter {
	f, err := NewWithParams(bloom.Params{M: 100, K: 3, N: 10, P: 0.1}, bloom.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	for i := range uint64(18) {
		for range i {
			f.Add(key(&b, i))
		}
	}
	f.Remove(key(&b, 3))
	return f
}

// snapshots returns two files of one filter, with some adds and removes between them.
func snapshots(t testing.TB, m uint64) (earlier, later []byte) {
	f, err := NewWithParams(bloom.Params{M: m, K: 3, N: m / 10, P: 0.1}, bloom.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	for i := range m / 6 {
		for range 1 + i%9 {
			f.Add(key(&b, i))
		}
	}
	earlier = written(t, f)
	for i := range m / 10 {
		f.Remove(key(&b, i))
		f.Add(key(&b, 1000+i))
		f.Add(key(&b, 1000+i))
	}
	return earlier, written(t, f)
}

func read(r io.Reader) error { _, err := Read(r); return err }

func format(t testing.TB) frametest.Format {
	earlier, later := snapshots(t, 100)
	return frametest.Format{Write: small(t).WriteTo, Read: read, Earlier: earlier, Later: later}
}

func TestFormat(t *testing.T) {
	golden := format(t).Test(t, "testdata/v1.golden")
	f, err := Read(bytes.NewReader(golden))
	if err != nil || !slices.Equal(snapshot(f), snapshot(small(t))) {
		t.Errorf("%v, %v", f, err)
	}
}

func FuzzRead(f *testing.F) {
	format(f).Fuzz(f, func(data []byte) ([]byte, bool) {
		g, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		if err != nil {
			return nil, false
		}
		return written(f, g), true
	})
}

func TestScatter(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for range 10_000 {
		if x := random.Uint64(); gather(scatter(x)) != x&0xffff || scatter(x)&^lowest != 0 {
			t.Fatalf("scatter(%x) = %x", x, scatter(x))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	secret := [16]byte{1, 2, 3}
	for _, s := range strategies {
		opts := []bloom.Option{bloom.WithStrategy(s)}
		if s.Name() == "own" {
			opts = append(opts, bloom.WithKey(secret))
		} else if s == bloom.Blocked8 {
			opts = append(opts, bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3))
		}
		f := must(500, 0.01, opts...)
		var b [16]byte
		for i := range uint64(600) {
			f.Add(key(&b, i))
		}
		g, err := Read(bytes.NewReader(written(t, f)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(600) {
			if !g.Remove(key(&b, i)) {
				t.Fatalf("%v: key %d is missing", g, i)
			}
		}
		if g.Stats().Ones != 0 || g.Params() != f.Params() {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

func TestWhatCannotBeWrittenOrRead(t *testing.T) {
	var b bytes.Buffer
	if n, err := must(10, 0.1, bloom.WithHash(bloom.MapHash)).WriteTo(&b); !errors.Is(err, bloom.ErrNotPortable) || n != 0 || b.Len() != 0 {
		t.Errorf("MapHash: %d bytes, %v", n, err)
	}
	keyed := written(t, must(10, 0.1, bloom.WithKey([16]byte{1})))
	for _, opts := range [][]bloom.Option{nil, {bloom.WithKey([16]byte{2})}, {bloom.WithKey([16]byte{1}), bloom.WithStrategy(bloom.Blocked)}} {
		if f, err := Read(bytes.NewReader(keyed), opts...); f != nil || !errors.Is(err, bloom.ErrIncompatible) {
			t.Errorf("with %d options: %v, %v", len(opts), f, err)
		}
	}
	if f, err := Read(bytes.NewReader(keyed), bloom.WithKey([16]byte{1}), bloom.WithMaxBytes(3)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("with 3 bytes of memory: %v, %v", f, err)
	}
	// Planes of different filters, with the right checksum.
	a, c := bloom.MustNew(10, 0.1), bloom.MustNew(20, 0.1)
	for i := range counterBits {
		planes := []*bloom.BloomFilter{a, a, a, a}
		planes[i] = c
		var b bytes.Buffer
		out := frame.NewWriter(&b)
		out.Magic(magic)
		for _, plane := range planes {
			out.Filter(plane)
		}
		out.Numbers()
		if _, err := out.Result(); err != nil {
			t.Fatal(err)
		}
		if f, err := Read(&b); f != nil || !errors.Is(err, bloom.ErrCorrupt) {
			t.Errorf("mixed: %v, %v", f, err)
		}
	}
}
