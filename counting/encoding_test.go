package counting

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
)

func read(r io.Reader) error { _, err := Read(r); return err }

// formatOf returns the format with a golden file that has every value of a counter, and two snapshots of one filter.
func formatOf(t testing.TB) conformance.Format {
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
	earlier := conformance.Written(t, g)
	for i := range uint64(10) {
		g.Remove(key(&b, i))
	}
	fill(fill(g, 1000, 10), 1000, 10)
	return conformance.Format{
		Values: []io.WriterTo{f, must(10_000, 0.01)}, Large: fill(must(1_000_000, 0.01), 0, 1000), Zero: []io.WriterTo{new(Filter)},
		Read: conformance.Reader(Read), Sealed: true, Stream: true, Version: 7, Copies: 2,
		Earlier: earlier, Later: conformance.Written(t, g),
	}
}

func TestFormat(t *testing.T) { formatOf(t).TestGolden(t, "testdata/v1.golden") }

func FuzzRead(f *testing.F) { formatOf(f).Fuzz(f) }

func TestOptions(t *testing.T) {
	conformance.Options(t, func(opts ...bloom.Option) (io.WriterTo, uint64) {
		f := must(1000, 0.01, opts...)
		return f, f.SizeBytes()
	}, conformance.Reader(Read))
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
		err := read(bytes.NewReader(conformance.Forge(t, magic, append(parts, []uint64{})...)))
		conformance.Refused(t, err, bloom.ErrCorrupt, "bit 0 is ")
	}
}
