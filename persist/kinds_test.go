package persist_test

import (
	"context"
	"io"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

type emptyStore struct{}

func (emptyStore) Keys(context.Context, []byte) iter.Seq2[[]byte, error] {
	return func(func([]byte, error) bool) {}
}

func (emptyStore) Position(context.Context) ([]byte, error) { return []byte{0}, nil }

// A file of another kind is refused by an error that names the kind and what reads it.
func TestOtherKinds(t *testing.T) {
	dir := t.TempDir()
	must := func(w io.WriterTo, err error) io.WriterTo {
		require.NoError(t, err)
		return w
	}
	none := func(func([]byte, error) bool) {}
	for name, f := range map[string]io.WriterTo{
		"a scalable filter, for scalable.Read": must(scalable.New(10, 0.1)),
		"a rotating filter, for rotating.Read": must(rotating.New(10, 0.1, time.Hour, rotating.WithGenerations(2))),
		"a counting filter, for counting.Read": must(counting.New(10, 0.1)),
		"a cascade, for cascade.Read":          must(cascade.New(t.Context(), 0.5, none, none)),
	} {
		require.NoError(t, persist.Save(filepath.Join(dir, name), f))
	}
	g, err := guard.New(filepath.Join(dir, "the filter of a guard, for guard.New and Open"), 10, 0.1, emptyStore{})
	require.NoError(t, err)
	require.NoError(t, g.Open(t.Context()))
	_, err = g.Save(t.Context())
	require.NoError(t, err)

	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, path := range files {
		for _, open := range []func() error{
			func() error { _, err := persist.Load(path); return err },
			func() error { _, err := persist.Open(path, 10, 0.1); return err },
		} {
			err := open()
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			require.ErrorContains(t, err, "it holds "+filepath.Base(path))
		}
	}
}
