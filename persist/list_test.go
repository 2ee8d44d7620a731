package persist

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
)

var secret = bloom.WithSecret([16]byte{1})

// listOf returns a filter with a thousand keys that begin with a word.
func listOf(word string) *bloom.BloomFilter {
	f := bloom.MustNew(1000, 1e-6, secret)
	for i := range 1000 {
		f.AddString(fmt.Sprint(word, i))
	}
	return f
}

func TestList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	_, err := OpenList(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	a, b, c := conformance.Written(t, listOf("a")), conformance.Written(t, listOf("b")), conformance.Written(t, listOf("c"))
	require.NoError(t, os.WriteFile(path, a, 0o600))
	_, err = OpenList(path)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	l, err := OpenList(path, secret)
	require.NoError(t, err)
	mapped, err := Open(path+".map", 10, 0.01)
	require.NoError(t, err)
	require.NoError(t, mapped.Close())
	otherKind, err := os.ReadFile(path + ".map")
	require.NoError(t, err)
	damaged := bytes.Clone(c)
	damaged[len(c)/2] ^= 1
	for i, step := range []struct {
		file    []byte // nil removes the file
		renamed bool   // it is another file, instead of other bytes of the same length and time
		changed bool
		err     error
		has     string
	}{
		{a, false, false, nil, "a"},
		{b, true, true, nil, "b"},
		{b, true, false, nil, "b"},
		{c, false, true, nil, "c"},
		{a[:0], false, false, bloom.ErrCorrupt, "c"}, // as during a copy
		{a[:1], false, false, bloom.ErrCorrupt, "c"},
		{a[:len(a)-1], false, false, bloom.ErrCorrupt, "c"},
		{a[:len(a)-1], false, false, bloom.ErrCorrupt, "c"},
		{append(a[:len(a):len(a)], 0), false, false, bloom.ErrCorrupt, "c"},
		{c, false, false, nil, "c"},
		{damaged, false, false, nil, "c"}, // it ends as it did, so it is not read
		{a, false, true, nil, "a"},
		{nil, false, false, fs.ErrNotExist, "a"},
		{otherKind, false, false, bloom.ErrIncompatible, "a"},
	} {
		switch {
		case step.file == nil:
			require.NoError(t, os.Remove(path))
		case step.renamed:
			require.NoError(t, os.WriteFile(path+".new", step.file, 0o600))
			require.NoError(t, os.Rename(path+".new", path))
		default:
			require.NoError(t, os.WriteFile(path, step.file, 0o600))
		}
		_ = os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0))
		changed, err := l.Reload()
		require.ErrorIs(t, err, step.err, i)
		require.Equal(t, step.changed, changed, i)
		for _, list := range []string{"a", "b", "c"} {
			key := list + "500"
			require.Equal(t, step.has == list, l.ContainsString(key) && l.Contains([]byte(key)), i)
		}
	}
	require.Equal(t, listOf("a").Stats(), l.Stats())
	require.Equal(t, l.Stats().SizeBytes, l.SizeBytes())
	found := make([]bool, 2)
	require.Equal(t, 1, l.ContainsMany([][]byte{[]byte("b1"), []byte("a1")}, found))
	require.Equal(t, []bool{false, true}, found)
	require.Contains(t, l.String(), fmt.Sprintf("persist.List(path=%q filter=bloom.BloomFilter(", path))
	require.Equal(t, l.String(), l.LogValue().String())
}

// Watch reports once each change, each error, and the end of an error.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, Save(path, listOf("a")))
	l, err := OpenList(path, secret)
	require.NoError(t, err)
	require.ErrorIs(t, l.Watch(t.Context(), 0, nil), bloom.ErrInvalid)
	type event struct {
		changed bool
		err     error
	}
	events := make(chan event)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- l.Watch(ctx, time.Millisecond, func(changed bool, err error) { events <- event{changed, err} })
	}()
	require.NoError(t, Save(path, listOf("b")))
	require.Equal(t, event{true, nil}, <-events)
	require.NoError(t, os.Rename(path, path+".away"))
	e := <-events
	require.False(t, e.changed)
	require.ErrorContains(t, e.err, path)
	require.NoError(t, os.Rename(path+".away", path))
	require.Equal(t, event{false, nil}, <-events)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// A file that changes while it is read is read again, although it ends as before. The strategy is called after the
// header was read; it leaves the beginning of all filters empty, which may have been read, too.
func TestListChangesWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	var inside func()
	late := bloom.WithStrategy(bloom.NewStrategy("late", bloom.Definition{
		Positions: func(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
			if f := inside; f != nil {
				inside = nil
				f()
			}
			return func(h1, h2 uint64, i int) uint64 { return m/2 + (h1+uint64(i)*h2)%(m/2) }, nil
		},
	}))
	write := func(key string) {
		f := bloom.MustNew(1_000_000, 0.01, late)
		f.AddString(key)
		require.NoError(t, os.WriteFile(path, conformance.Written(t, f), 0o600))
	}
	write("a")
	inside = func() { write("b") }
	l, err := OpenList(path, late)
	require.NoError(t, err)
	require.True(t, l.ContainsString("b"))
	write("a") // as it was when OpenList began to read
	changed, err := l.Reload()
	require.NoError(t, err)
	require.True(t, changed && l.ContainsString("a") && !l.ContainsString("b"))
}

// TestListKeepsItsOptions: a caller that uses its slice of options again changes no later Reload.
func TestListKeepsItsOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, Save(path, listOf("a")))
	opts := []bloom.Option{secret}
	l, err := OpenList(path, opts...)
	require.NoError(t, err)
	opts[0] = bloom.WithSecret([16]byte{2})
	require.NoError(t, Save(path, listOf("b")))
	changed, err := l.Reload()
	require.NoError(t, err)
	require.True(t, changed && l.ContainsString("b1"))
}
