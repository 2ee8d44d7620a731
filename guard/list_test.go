package guard

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/persist"
)

// listOf returns a filter with a thousand keys that begin with a word.
func listOf(word string) *bloom.BloomFilter {
	f := bloom.MustNew(1000, 1e-6)
	for i := range 1000 {
		f.AddString(fmt.Sprint(word, i))
	}
	return f
}

func bytesOf(t *testing.T, f *bloom.BloomFilter) []byte {
	t.Helper()
	raw, err := f.MarshalBinary()
	require.NoError(t, err)
	return raw
}

// requireOnly checks that a list has the keys of one word.
func requireOnly(t *testing.T, l *List, word string) {
	t.Helper()
	for _, w := range []string{"a", "b", "c"} {
		for _, i := range []int{0, 500, 999} {
			key := fmt.Sprint(w, i)
			require.Equal(t, w == word, l.ContainsString(key), key)
			require.Equal(t, w == word, l.Contains([]byte(key)), key)
		}
	}
}

func TestList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	_, err := OpenList(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	a, b, c := listOf("a"), listOf("b"), listOf("c")
	require.NoError(t, persist.Save(path, a))
	l, err := OpenList(path)
	require.NoError(t, err)
	requireOnly(t, l, "a")
	require.Equal(t, a.Stats(), l.Stats())
	reload := func(want bool, wantErr error) {
		t.Helper()
		changed, err := l.Reload()
		require.ErrorIs(t, err, wantErr)
		require.Equal(t, want, changed)
	}
	write := func(raw []byte) { require.NoError(t, os.WriteFile(path, raw, 0o600)) }

	reload(false, nil)
	require.NoError(t, persist.Save(path, b)) // another file, by rename
	reload(true, nil)
	requireOnly(t, l, "b")
	require.NoError(t, persist.Save(path, b)) // another file, the same list
	reload(false, nil)

	// Another list in the same file, with the same length and time.
	info, err := os.Stat(path)
	require.NoError(t, err)
	write(bytesOf(t, c))
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	reload(true, nil)
	requireOnly(t, l, "c")

	// A part of a list, as during a copy, then all of it.
	raw := bytesOf(t, a)
	for _, part := range [][]byte{raw[:0], raw[:1], raw[:len(raw)-1], append(raw, 0)} {
		write(part)
		reload(false, bloom.ErrCorrupt)
		reload(false, bloom.ErrCorrupt)
		requireOnly(t, l, "c")
	}
	write(raw)
	reload(true, nil)
	requireOnly(t, l, "a")

	// The same list again after a bad one, and a file that ends as it did: neither is read.
	write(raw[:9])
	reload(false, bloom.ErrCorrupt)
	write(raw)
	reload(false, nil)
	damaged := bytes.Clone(raw)
	damaged[len(raw)/2] ^= 1
	write(damaged)
	reload(false, nil)

	require.NoError(t, os.Remove(path))
	reload(false, fs.ErrNotExist)
	requireOnly(t, l, "a")
	mapped, err := persist.Open(path, 10, 0.01)
	require.NoError(t, err)
	require.NoError(t, mapped.Close())
	reload(false, bloom.ErrCorrupt) // the other kind of file
	require.Eventually(t, func() bool {
		runtime.GC() // Windows removes no file that is mapped
		return os.Remove(path) == nil
	}, time.Minute, time.Millisecond)
}

// A list under a secret key.
func TestListOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	key := bloom.WithKey([16]byte{1})
	f := bloom.MustNew(10, 0.01, key)
	f.AddString("x")
	require.NoError(t, persist.Save(path, f))
	_, err := OpenList(path)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	l, err := OpenList(path, key)
	require.NoError(t, err)
	require.True(t, l.ContainsString("x"))
}

// Watch reports once each change, each error, and the end of an error.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, persist.Save(path, listOf("a")))
	l, err := OpenList(path)
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
	require.NoError(t, persist.Save(path, listOf("b")))
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

// Good and bad files come by rename and by copies over the old one, while keys are looked up. Each
// filter is a whole list.
func TestListUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	files := [][]byte{bytesOf(t, listOf("a")), bytesOf(t, listOf("b"))}
	require.NoError(t, os.WriteFile(path, files[0], 0o600))
	l, err := OpenList(path)
	require.NoError(t, err)
	look := func(i int) {
		filter := l.filter.Load()
		a, b := fmt.Sprint("a", i%1000), fmt.Sprint("b", i%1000)
		if filter.ContainsString(a) == filter.ContainsString(b) {
			t.Errorf("%s and %s: neither of the two lists", a, b)
		}
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !done.Load(); i++ {
			look(i)
		}
	})
	wg.Go(func() {
		for i := 0; !done.Load(); i++ {
			raw := bytes.Clone(files[i%2])
			if i%3 == 0 {
				raw[len(raw)/2] ^= 1
			}
			if i%3 < 2 {
				_ = os.WriteFile(path, raw, 0o600) // truncates the file first
			} else {
				_ = os.WriteFile(path+".new", raw, 0o600)
				_ = os.Rename(path+".new", path)
			}
		}
	})
	good, bad := 0, 0
	for round := 0; round < effort.Times(200, 1000, 10_000) || bad == 0 || good == 0; round++ {
		if changed, err := l.Reload(); err != nil {
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			bad++
		} else if changed {
			good++
		}
		look(round)
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d new lists, %d bad files", good, bad)
}
