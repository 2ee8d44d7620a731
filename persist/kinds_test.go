package persist_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// A kind of file has a reader by its path.
type kind struct {
	saved io.WriterTo
	load  func(path string) (io.WriterTo, error)
}

// of takes the results of a function that makes a filter.
func of[T io.WriterTo, Option any](read func(io.Reader, ...Option) (T, error)) func(f T, err error) kind {
	return func(f T, err error) kind {
		return kind{f, func(path string) (io.WriterTo, error) { return persist.LoadWith(path, read) }}
	}
}

// Each kind of filter is read back from its file. For a file of another kind, the error names the
// kind and the function that reads it.
func TestKinds(t *testing.T) {
	none := func(func([]byte, error) bool) {}
	path := filepath.Join(t.TempDir(), "f")
	load := func(path string) (io.WriterTo, error) { return persist.Load(path) }
	open := func(path string) (io.WriterTo, error) { return persist.Open(path, 10, 0.1) }
	mapped, err := persist.Open(path+".map", 10, 0.1)
	require.NoError(t, err)
	require.NoError(t, mapped.Close())
	mappedBytes, err := os.ReadFile(path + ".map")
	require.NoError(t, err)
	kinds := map[string]kind{
		"a Bloom filter: use bloom.Read or persist.Load":            {bloom.MustNew(10, 0.1), load},
		"a mapped filter: use persist.Open or persist.OpenReadOnly": {bytes.NewBuffer(mappedBytes), open},
		"a scalable filter: use scalable.Read or persist.LoadWith":  of(scalable.Read)(scalable.New(10, 0.1)),
		"a rotating filter: use rotating.Read or persist.LoadWith":  of(rotating.Read)(rotating.New(10, 0.1, time.Hour)),
		"a counting filter: use counting.Read or persist.LoadWith":  of(counting.Read)(counting.New(10, 0.1)),
		"a cascade: use cascade.Read or persist.LoadWith":           of(cascade.Read)(cascade.New(t.Context(), 0.5, none, none)),
		"the filter of a guard: use guard.New and Open":             {bytes.NewBufferString("\x89bloomg\x01"), nil}, // guard takes a path
	}
	for holds, k := range kinds {
		_ = os.Remove(path)
		require.NoError(t, persist.Save(path, k.saved))
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		for other, reader := range kinds {
			if reader.load == nil {
				continue
			}
			got, err := reader.load(path)
			if holds != other {
				require.ErrorIs(t, err, bloom.ErrIncompatible, "%s, as %s", holds, other)
				require.NotErrorIs(t, err, bloom.ErrCorrupt, "the file is whole")
				require.ErrorContains(t, err, ": it holds "+holds)
				require.NotContains(t, err.Error(), "bloom: ", "one prefix")
				continue
			}
			require.NoError(t, err)
			if f, is := got.(*persist.File); is {
				require.NoError(t, f.Close())
				continue
			}
			var again bytes.Buffer
			_, err = got.WriteTo(&again)
			require.NoError(t, err)
			require.Len(t, again.Bytes(), len(file), holds) // a rotating filter has the time
			for _, damaged := range [][]byte{nil, file[:len(file)-1], append(file[:len(file):len(file)], 0)} {
				require.NoError(t, os.WriteFile(path, damaged, 0o600))
				_, err := reader.load(path)
				require.ErrorIs(t, err, bloom.ErrCorrupt)
				require.NotContains(t, err.Error(), "bloom: ", "one prefix")
			}
			require.NoError(t, os.WriteFile(path, file, 0o600))
		}
	}
}
