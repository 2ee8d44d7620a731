package cascade

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/stretchr/testify/require"
)

func read(r io.Reader) error { _, err := Read(r); return err }

func small(t testing.TB, first uint64) *Cascade {
	c, err := New(t.Context(), 0.3, numbered("k", first, 12), numbered("k", first+12, 30))
	require.NoError(t, err)
	return c
}

// formatOf returns the format with a golden file, and files of two other cascades of equal length.
func formatOf(t testing.TB) conformance.Format {
	earlier := conformance.Written(t, small(t, 1000))
	for first := uint64(2000); ; first += 1000 {
		if later := conformance.Written(t, small(t, first)); len(later) == len(earlier) {
			large, err := New(t.Context(), 1e-6, numbered("k", 0, 350_000), numbered("k", 350_000, 351_000))
			require.NoError(t, err)
			return conformance.Format{
				Large:  large,
				Values: []io.WriterTo{small(t, 0)},
				Read:   conformance.Reader(Read), Sealed: true, Stream: true, Version: 7,
				Earlier: earlier, Later: later,
			}
		}
	}
}

func TestFormat(t *testing.T) {
	c := formatOf(t).TestGolden(t, "testdata/v1.golden").(*Cascade)
	holds(t, c, numbered("k", 0, 12), numbered("k", 12, 30))
}

func FuzzRead(f *testing.F) { formatOf(f).Fuzz(f) }

func TestOptions(t *testing.T) {
	made := func(opts ...bloom.Option) (*Cascade, error) {
		return New(t.Context(), 0, numbered("k", 0, 100), numbered("k", 100, 1000), opts...)
	}
	conformance.Options(t, func(opts ...bloom.Option) (io.WriterTo, uint64) {
		c, err := made(opts...)
		require.NoError(t, err)
		return c, c.SizeBytes()
	}, conformance.Reader(Read))
	c, err := made()
	require.NoError(t, err)
	_, err = made(bloom.WithMaxBytes(c.SizeBytes() - 1))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestForgedNumbers: a forged file can have the right checksums.
func TestForgedNumbers(t *testing.T) {
	f := bloom.MustNew(10, 0.1)
	seeded, keyed := bloom.MustNew(10, 0.1, bloom.WithSeed(9)), bloom.MustNew(10, 0.1, bloom.WithStrategy(bloom.SeededHashing))
	for _, c := range []struct {
		parts []any
		text  string
	}{
		{[]any{[]uint64{1 << 40}}, "1099511627776 levels, want at most 1024"},
		{[]any{[]uint64{2}, f, seeded, []uint64{}}, "level 1 is "},
		{[]any{[]uint64{1}, keyed, []uint64{}}, "needs the key itself"},
	} {
		conformance.Refused(t, read(bytes.NewReader(conformance.Forge(t, magic, c.parts...))), bloom.ErrCorrupt, c.text)
	}
}
