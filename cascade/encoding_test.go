package cascade

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
	"github.com/stretchr/testify/require"
)

func written(t testing.TB, c *Cascade) []byte {
	var b bytes.Buffer
	n, err := c.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

func read(r io.Reader) error { _, err := Read(r); return err }

func small(t testing.TB, first uint64) *Cascade {
	c, err := New(t.Context(), 0.3, numbered("k", first, 12), numbered("k", first+12, 30))
	require.NoError(t, err)
	return c
}

func TestGolden(t *testing.T) {
	c := small(t, 0)
	golden := frametest.Golden(t, "testdata/v1.golden", written(t, c))
	d, err := Read(bytes.NewReader(golden))
	require.NoError(t, err)
	require.Equal(t, c.String(), d.String())
	require.Equal(t, golden, written(t, d))
	holds(t, d, numbered("k", 0, 12), numbered("k", 12, 30))
	frametest.Damage(t, golden, read)
	frametest.Failing(t, c.WriteTo)
}

// A level of one cascade in the place of another's is found, as is any copy of a part.
func TestPartsAreBound(t *testing.T) {
	frametest.Copies(t, written(t, small(t, 0)), read)
	a, b := small(t, 0), small(t, 1000)
	for i := range min(len(a.filters), len(b.filters)) {
		mixed := &Cascade{filters: append([]*bloom.BloomFilter{}, a.filters...)}
		mixed.filters[i] = b.filters[i]
		if mixed.filters[i].Params().M != a.filters[i].Params().M {
			continue
		}
		whole, part := written(t, a), written(t, mixed)
		if len(whole) != len(part) {
			continue
		}
		// The bytes of the level from one file, all others from the other.
		copy(part[len(part)-8:], whole[len(whole)-8:])
		require.ErrorIs(t, read(bytes.NewReader(part)), bloom.ErrCorrupt, "level %d", i)
	}
}

func TestOtherDamage(t *testing.T) {
	frametest.Damages(t, effort.Times(500, 5000, 10_000_000), read, written(t, small(t, 0)), written(t, small(t, 1000)))
}

func TestRoundTrips(t *testing.T) {
	key := bloom.WithKey([16]byte{7})
	for name, opts := range map[string][]bloom.Option{
		"plain": nil, "key": {key}, "seed": {bloom.WithSeed(9)}, "blocked": {bloom.WithStrategy(bloom.Blocked)},
		"rapid": {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(9)},
	} {
		in, out := numbered("k", 0, 500), numbered("k", 500, 5000)
		c, err := New(t.Context(), 0, in, out, opts...)
		require.NoError(t, err)
		data := written(t, c)
		d, err := Read(io.MultiReader(bytes.NewReader(data), bytes.NewReader([]byte("more"))), opts...)
		require.NoError(t, err, name)
		holds(t, d, in, out)
		require.Equal(t, data, written(t, d))
	}
	c, err := New(t.Context(), 0, numbered("k", 0, 0), numbered("k", 0, 10))
	require.NoError(t, err)
	d, err := Read(bytes.NewReader(written(t, c)))
	require.NoError(t, err)
	require.Zero(t, d.SizeBytes())
	_, err = Read(bytes.NewReader(nil))
	require.Equal(t, io.EOF, err)
}

func TestReadRefuses(t *testing.T) {
	c, err := New(t.Context(), 0, numbered("k", 0, 100), numbered("k", 100, 1000), bloom.WithKey([16]byte{7}))
	require.NoError(t, err)
	data := written(t, c)
	_, err = Read(bytes.NewReader(data))
	require.ErrorIs(t, err, bloom.ErrIncompatible, "without the key")
	_, err = Read(bytes.NewReader(data), bloom.WithKey([16]byte{8}))
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	_, err = Read(bytes.NewReader(data), bloom.WithKey([16]byte{7}), bloom.WithMaxBytes(c.SizeBytes()-1))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = Read(bytes.NewReader(data), bloom.WithKey([16]byte{7}), bloom.WithMaxBytes(c.SizeBytes()))
	require.NoError(t, err)
	_, err = New(t.Context(), 0, numbered("k", 0, 100), numbered("k", 100, 1000), bloom.WithMaxBytes(c.SizeBytes()-1))
	require.ErrorIs(t, err, bloom.ErrTooLarge)

	mapped, err := New(t.Context(), 0, numbered("k", 0, 100), numbered("k", 100, 1000), bloom.WithHash(bloom.MapHash))
	require.NoError(t, err)
	_, err = mapped.WriteTo(io.Discard)
	require.ErrorIs(t, err, bloom.ErrNotPortable)

	lying := append([]byte(magic), binary.LittleEndian.AppendUint64(nil, 1<<40)...)
	require.ErrorIs(t, read(bytes.NewReader(append(lying, make([]byte, 8)...))), bloom.ErrCorrupt)
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, small(f, 0)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(written(t, c)))
		if err != nil || again.String() != c.String() {
			t.Fatalf("%v, written and read again: %v, %v", c, again, err)
		}
	})
}
