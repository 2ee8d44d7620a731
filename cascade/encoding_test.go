package cascade

import (
	"bytes"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
	"github.com/stretchr/testify/require"
)

func read(r io.Reader) error { _, err := Read(r); return err }

func small(t testing.TB, first uint64) *Cascade {
	c, err := New(t.Context(), 0.3, numbered("k", first, 12), numbered("k", first+12, 30))
	require.NoError(t, err)
	return c
}

// format has a golden file, and files of two other cascades of equal length.
func format(t testing.TB) frametest.Format {
	earlier := frametest.Written(t, small(t, 1000))
	for first := uint64(2000); ; first += 1000 {
		if later := frametest.Written(t, small(t, first)); len(later) == len(earlier) {
			return frametest.Format{Write: small(t, 0).WriteTo, Read: read, Earlier: earlier, Later: later}
		}
	}
}

func TestFormat(t *testing.T) {
	golden := format(t).Test(t, "testdata/v1.golden")
	c, err := Read(bytes.NewReader(golden))
	require.NoError(t, err)
	require.Equal(t, golden, frametest.Written(t, c))
	holds(t, c, numbered("k", 0, 12), numbered("k", 12, 30))
}

func FuzzRead(f *testing.F) {
	format(f).Fuzz(f, func(data []byte) ([]byte, bool) {
		c, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		if err != nil {
			return nil, false
		}
		return frametest.Written(f, c), true
	})
}

// TestRoundTrips: a cascade that is read answers as the original does, for every kind of options.
func TestRoundTrips(t *testing.T) {
	for name, opts := range map[string][]bloom.Option{
		"plain": nil, "key": {bloom.WithKey([16]byte{7})}, "seed": {bloom.WithSeed(9)}, "blocked": {bloom.WithStrategy(bloom.Blocked)},
		"rapid": {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(9)},
	} {
		for _, ins := range []uint64{0, 500} {
			in, out := numbered("k", 0, ins), numbered("k", 500, 5000)
			c, err := New(t.Context(), 0, in, out, opts...)
			require.NoError(t, err)
			data := frametest.Written(t, c)
			d, err := Read(bytes.NewReader(data), opts...)
			require.NoError(t, err, name)
			holds(t, d, in, out)
			require.Equal(t, data, frametest.Written(t, d))
		}
	}
}

func TestOptions(t *testing.T) {
	made := func(opts ...bloom.Option) (*Cascade, error) {
		return New(t.Context(), 0, numbered("k", 0, 100), numbered("k", 100, 1000), opts...)
	}
	frametest.Options(t, func(opts ...bloom.Option) (io.WriterTo, uint64) {
		c, err := made(opts...)
		require.NoError(t, err)
		return c, c.sizeBytes()
	}, func(r io.Reader, opts ...bloom.Option) error { _, err := Read(r, opts...); return err })
	c, err := made()
	require.NoError(t, err)
	_, err = made(bloom.WithMaxBytes(c.sizeBytes() - 1))
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
		frametest.Refused(t, read(bytes.NewReader(frametest.Forge(t, magic, c.parts...))), bloom.ErrCorrupt, c.text)
	}
}
