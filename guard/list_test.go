package guard

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
)

// listOf is a filter with the keys that begin with a word.
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

// only holds a list to one content.
func only(t *testing.T, l *List, word string) {
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
	only(t, l, "a")
	require.EqualValues(t, 1000, l.Stats().N)
	require.Equal(t, a.SizeBytes(), l.SizeBytes())
	require.Contains(t, l.String(), strconv.Quote(path))
	reload := func(want bool, wantErr error) {
		t.Helper()
		changed, err := l.Reload()
		require.ErrorIs(t, err, wantErr)
		require.Equal(t, want, changed)
	}

	reload(false, nil)
	require.NoError(t, persist.Save(path, b)) // another file, by rename
	reload(true, nil)
	only(t, l, "b")
	require.NoError(t, persist.Save(path, b)) // another file, the same list
	reload(false, nil)

	// In its place, with the same length and the same time.
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytesOf(t, c), 0o600))
	require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	reload(true, nil)
	only(t, l, "c")

	// Half of it, as someone sees it who looks while it is copied; then all of it.
	raw := bytesOf(t, a)
	for _, half := range []int{0, 1, 100, len(raw) / 2, len(raw) - 1} {
		require.NoError(t, os.WriteFile(path, raw[:half], 0o600))
		reload(false, bloom.ErrCorrupt)
		reload(false, bloom.ErrCorrupt)
		only(t, l, "c")
	}
	require.NoError(t, os.WriteFile(path, append(raw, 0), 0o600))
	reload(false, bloom.ErrCorrupt)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	reload(true, nil)
	only(t, l, "a")

	// The same list again after a bad one.
	require.NoError(t, os.WriteFile(path, raw[:9], 0o600))
	reload(false, bloom.ErrCorrupt)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	reload(false, nil)

	require.NoError(t, os.Remove(path))
	reload(false, fs.ErrNotExist)
	only(t, l, "a")
	mapped, err := persist.Open(path, 10, 0.01)
	require.NoError(t, err)
	require.NoError(t, mapped.Close())
	reload(false, bloom.ErrCorrupt) // the other kind of file
	require.Eventually(t, func() bool {
		runtime.GC() // Windows removes no file that is mapped
		return os.Remove(path) == nil
	}, time.Minute, time.Millisecond)
	require.NoError(t, persist.Save(path, b))
	reload(true, nil)
	only(t, l, "b")
}

// TestListIsNotReadAgain: a file that ends as it did is not read.
func TestListIsNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, persist.Save(path, listOf("a")))
	l, err := OpenList(path)
	require.NoError(t, err)
	raw := bytesOf(t, listOf("a"))
	raw[len(raw)/2] ^= 1
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	changed, err := l.Reload()
	require.NoError(t, err, "it was read again")
	require.False(t, changed)
	only(t, l, "a")
}

// TestListOptions: a list under a secret key.
func TestListOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	f := bloom.MustNew(10, 0.01, bloom.WithKey([16]byte{1}))
	f.AddString("x")
	require.NoError(t, persist.Save(path, f))
	_, err := OpenList(path)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	l, err := OpenList(path, bloom.WithKey([16]byte{1}))
	require.NoError(t, err)
	require.True(t, l.ContainsString("x"))
}

func TestWatchRefuses(t *testing.T) {
	for _, every := range []time.Duration{0, -1} {
		require.ErrorIs(t, new(List).Watch(t.Context(), every, nil), bloom.ErrInvalid)
	}
}

// TestWatch: what changes is reported once, what is wrong once, that it is good again
// once.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, persist.Save(path, listOf("a")))
	l, err := OpenList(path)
	require.NoError(t, err)
	type event struct {
		changed bool
		err     string
	}
	events := make(chan event)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- l.Watch(ctx, time.Millisecond, func(changed bool, err error) {
			if err != nil {
				events <- event{changed, err.Error()}
			} else {
				events <- event{changed, ""}
			}
		})
	}()
	require.NoError(t, persist.Save(path, listOf("b")))
	require.Equal(t, event{true, ""}, <-events)
	require.NoError(t, os.Rename(path, path+".away"))
	e := <-events
	require.False(t, e.changed)
	require.Contains(t, e.err, path)
	require.NoError(t, os.Rename(path+".away", path))
	require.Equal(t, event{false, ""}, <-events)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestListUnderLoad: files come by rename and are copied over the old one, good ones and
// bad ones, while others ask. Each answer is that of a whole list.
func TestListUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	files := [][]byte{bytesOf(t, listOf("a")), bytesOf(t, listOf("b"))}
	require.NoError(t, os.WriteFile(path, files[0], 0o600))
	l, err := OpenList(path)
	require.NoError(t, err)
	ask := func(i int) {
		filter := l.filter.Load()
		a, b := fmt.Sprint("a", i%1000), fmt.Sprint("b", i%1000)
		if filter.ContainsString(a) == filter.ContainsString(b) {
			t.Errorf("%s and %s: neither of the two lists", a, b)
		}
		l.ContainsString(a)
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := 0; !done.Load(); i++ {
				ask(i)
			}
		})
	}
	wg.Go(func() {
		for i := 0; !done.Load(); i++ {
			raw := bytes.Clone(files[i%2])
			switch i % 3 {
			case 0:
				raw[len(raw)/2] ^= 1
				fallthrough
			case 1:
				_ = os.WriteFile(path, raw, 0o600) // cut short, then written
			default:
				_ = os.WriteFile(path+".new", raw, 0o600)
				_ = os.Rename(path+".new", path)
			}
		}
	})
	good, bad := 0, 0
	for round := 0; round < times(200, 1000, 10_000) || bad == 0 || good == 0; round++ {
		if changed, err := l.Reload(); err != nil {
			require.ErrorIs(t, err, bloom.ErrCorrupt)
			bad++
		} else if changed {
			good++
		}
		ask(round)
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d new lists, %d bad files", good, bad)
}
