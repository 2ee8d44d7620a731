package guard

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/persist"
)

// formatOf has a golden file, and two other snapshots of equal length.
func formatOf(t testing.TB) conformance.Format {
	of := func(position string, keys ...string) snapshot {
		f := bloom.MustNew(10, 0.01)
		for _, key := range keys {
			f.AddString(key)
		}
		l := newLayer(f, uint64(len(keys)))
		l.listed = 1
		return snapshot{l, []byte(position)}
	}
	large := bloom.MustNew(1_000_000, 0.01)
	for i := range 1000 {
		large.AddString(strconv.Itoa(i))
	}
	return conformance.Format{
		Large:   snapshot{newLayer(large, 1000), []byte("position")},
		Values:  []io.WriterTo{of("\x00\x00\x00\x00\x00\x00\x00\x02", "a", "b")},
		Sealed:  true,
		Stream:  true,
		Version: 7,
		Read:    conformance.Reader(read),
		Earlier: conformance.Written(t, of("position", "c")),
		Later:   conformance.Written(t, of("POSITION", "c", "d", "e")),
	}
}

func TestFormat(t *testing.T) {
	formatOf(t).TestGolden(t, "testdata/v1.golden")
	for want, numbers := range map[string][]uint64{
		"9223372036854775808 keys":  {1 << 63, 1, 1, 0},
		"9007199254740993 listed":   {1, 1<<53 + 1, 1, 0},
		"a position of 0 bytes":     {1, 1, 0},
		"a position of 65536 bytes": {1, 1, 1 << 16},
		"byte 0x1 after":            {1, 1, 7, 1 << 56},
	} {
		_, err := read(bytes.NewReader(conformance.Forge(t, magic, numbers[:3], numbers[3:])))
		conformance.Refused(t, err, bloom.ErrCorrupt, want)
	}
}

func FuzzRead(f *testing.F) { formatOf(f).Fuzz(f) }

// For a bad file Open returns an error that names it. The guard says "maybe" until it is rebuilt; then
// Save replaces the file.
func TestBadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard")
	m := newMemStore("a")
	g := must(New(path, 10, 0.01, m))
	require.NoError(t, os.WriteFile(path, []byte("something of somebody else"), 0o600))
	err := g.Open(t.Context())
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	require.ErrorContains(t, err, strconv.Quote(path))
	require.True(t, g.Contains([]byte("x")))
	require.NoError(t, g.Rebuild(t.Context(), 10, 0.01))
	require.NoError(t, save(g))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, bad := range [][]byte{nil, raw[:len(raw)-1], append(raw[:len(raw):len(raw)], 0)} {
		require.NoError(t, os.WriteFile(path+".bad", bad, 0o600))
		require.ErrorIs(t, must(New(path+".bad", 10, 0.01, m)).Open(t.Context()), bloom.ErrCorrupt)
	}
	require.NoError(t, must(New(path, 10, 0.01, m)).Open(t.Context()))

	secret := bloom.WithSecret([16]byte{1})
	require.ErrorIs(t, must(New(path, 10, 0.01, m, secret)).Open(t.Context()), bloom.ErrIncompatible)
	require.Error(t, must(New(filepath.Dir(path), 10, 0.01, m)).Open(t.Context()), "a folder")
}

// A positions is a store with other positions.
type positions struct {
	*memStore
	position func() ([]byte, error)
}

func (s positions) Position(context.Context) ([]byte, error) { return s.position() }

func TestBadPosition(t *testing.T) {
	for _, c := range []struct {
		position  []byte
		err, want error
	}{
		{nil, nil, bloom.ErrInvalid},
		{make([]byte, 1<<16), nil, bloom.ErrInvalid},
		{nil, fs.ErrClosed, fs.ErrClosed},
		{make([]byte, 1<<16-1), nil, nil},
		{[]byte{0}, nil, nil},
	} {
		path := filepath.Join(t.TempDir(), "guard")
		g := opened(t, path, 10, 0.01, positions{newMemStore(), func() ([]byte, error) { return c.position, c.err }})
		require.ErrorIs(t, save(g), c.want)
		if c.want != nil {
			require.NoFileExists(t, path)
			continue
		}
		s, err := persist.LoadWith(path, read)
		require.NoError(t, err)
		require.Equal(t, c.position, s.position)
	}
}
