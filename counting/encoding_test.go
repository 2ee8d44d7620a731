package counting

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
)

func read(r io.Reader) error { _, err := Read(r); return err }

// format has a golden file with every value of a counter, and two snapshots of one filter.
func format(t testing.TB) frametest.Format {
	var b [16]byte
	f := with(100, 3, bloom.WithSeed(7))
	for i := range uint64(18) {
		for range i {
			f.Add(key(&b, i))
		}
	}
	f.Remove(key(&b, 3))

	g := with(100, 3, bloom.WithSeed(7))
	for i := range uint64(16) {
		for range 1 + i%9 {
			g.Add(key(&b, i))
		}
	}
	earlier := frametest.Written(t, g)
	for i := range uint64(10) {
		g.Remove(key(&b, i))
	}
	fill(fill(g, 1000, 10), 1000, 10)
	return frametest.Format{Write: f.WriteTo, Read: read, Earlier: earlier, Later: frametest.Written(t, g)}
}

func TestFormat(t *testing.T) {
	golden := format(t).Test(t, "testdata/v1.golden")
	f, err := Read(bytes.NewReader(golden))
	if err != nil || !bytes.Equal(frametest.Written(t, f), golden) {
		t.Errorf("%v, %v", f, err)
	}
}

func FuzzRead(f *testing.F) {
	format(f).Fuzz(f, func(data []byte) ([]byte, bool) {
		g, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		if err != nil {
			return nil, false
		}
		return frametest.Written(f, g), true
	})
}

// TestRoundTrip: a filter that is read has the counters of the original, for every strategy.
func TestRoundTrip(t *testing.T) {
	for i, s := range strategies {
		opts := []bloom.Option{bloom.WithStrategy(s)}
		if i == len(strategies)-1 {
			opts = append(opts, bloom.WithKey([16]byte{1, 2, 3}))
		} else if s == bloom.Blocked8 {
			opts = append(opts, bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3))
		}
		g, err := Read(bytes.NewReader(frametest.Written(t, fill(must(500, 0.01, opts...), 0, 600))), opts...)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, g, 0, 600)
		empty(t, g)
	}
}

func TestOptions(t *testing.T) {
	frametest.Options(t, func(opts ...bloom.Option) (io.WriterTo, uint64) {
		f := must(1000, 0.01, opts...)
		return f, f.bytes()
	}, func(r io.Reader, opts ...bloom.Option) error { _, err := Read(r, opts...); return err })
}

// TestForgedPlanes: a forged file with the right checksums can have bits of different filters.
func TestForgedPlanes(t *testing.T) {
	for i := range counterBits {
		parts := []any{}
		for j := range counterBits {
			n := uint64(10)
			if j == i {
				n = 20
			}
			parts = append(parts, bloom.MustNew(n, 0.1))
		}
		err := read(bytes.NewReader(frametest.Forge(t, magic, append(parts, []uint64{})...)))
		frametest.Refused(t, err, bloom.ErrCorrupt, "bit 0 is ")
	}
}
