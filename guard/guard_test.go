package guard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

func TestNew(t *testing.T) {
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		_, err := New("", 10, p, newMemStore())
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err := New("", 1000, 0.01, newMemStore(), WithBloom(bloom.WithMaxBytes(100)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = New("", 10, 0.1, nil)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = New("", 10, 0.1, newMemStore(), WithFull(nil), nil)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.ErrorContains(t, err, "option 2 of 2 is nil")
}

// TestLife goes through all of it: not ready, opened, put, deleted, saved, opened again
// from the file, rebuilt.
func TestLife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard")
	m := newMemStore("a", "b")
	g := must(New(path, 100, 1e-6, m))
	require.False(t, g.Ready())
	require.True(t, g.Contains([]byte("x")), "maybe")
	require.False(t, look(t, g, m, "x"))
	require.True(t, look(t, g, m, "a"))
	require.Equal(t, Counts{NotReady: 2}, g.Counts())
	require.Zero(t, g.Stats())
	require.Zero(t, g.SizeBytes())
	require.Contains(t, g.String(), "not ready")
	require.ErrorIs(t, save(g), ErrNotReady)

	put(t, g, m, "c")
	require.NoError(t, g.Open(t.Context()))
	require.True(t, g.Ready())
	for _, key := range []string{"a", "b", "c"} {
		require.True(t, look(t, g, m, key))
	}
	require.False(t, look(t, g, m, "x"))
	require.False(t, g.Contains([]byte("x")))
	require.Equal(t, Counts{Ready: true, Scanned: 3, Builds: 1, N: 100, Keys: 3, Spared: 1, Found: 3, NotReady: 2}, g.Counts())
	require.EqualValues(t, 3, g.Stats().EstimatedCount)
	require.Equal(t, g.Stats().SizeBytes, g.SizeBytes())
	require.Contains(t, g.String(), "keys=3 filter=bloom.BloomFilter(n=100")

	require.NoError(t, save(g))
	put(t, g, m, "d")
	m.delete("a")
	require.True(t, g.Contains([]byte("d")))
	require.True(t, g.Contains([]byte("a")), "the filter does not forget")
	require.False(t, look(t, g, m, "a"))
	require.EqualValues(t, 1, g.Counts().FalsePositives)
	require.Equal(t, 0.5, g.Counts().FalsePositiveRate())

	// The process is killed.
	g = must(New(path, 5, 0.5, m))
	require.NoError(t, g.Open(t.Context()))
	require.Len(t, m.since, 8, "the store was asked for the keys since")
	require.Equal(t, Counts{Ready: true, Scanned: 1, Builds: 1, N: 100, Keys: 4}, g.Counts(), "the file's n")
	for _, key := range []string{"b", "c", "d"} {
		require.True(t, look(t, g, m, key))
	}
	require.True(t, g.Contains([]byte("a")))
	require.NoError(t, g.Rebuild(t.Context(), 1000, 1e-9))
	require.False(t, g.Contains([]byte("a")), "deleted keys are gone")
	require.True(t, g.Contains([]byte("b")))
	require.EqualValues(t, 3, g.Counts().Keys)
	require.EqualValues(t, 1000, g.Counts().N)
	require.NoError(t, save(g))
}

func TestWithoutFile(t *testing.T) {
	m := newMemStore("a")
	g := must(New("", 10, 0.01, m))
	require.NoError(t, g.Open(t.Context()))
	require.True(t, look(t, g, m, "a"))
	require.ErrorIs(t, save(g), bloom.ErrInvalid)
}

// TestErrors: what fails leaves the guard as it was, and nobody is told a false no.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	m := newMemStore(names(1000)...)
	g := must(New("", 1000, 0.01, m))
	ctx, cancel := context.WithCancel(t.Context())
	for name, fail := range map[string]func(i int) error{
		"error":  func(i int) error { return broken },
		"cancel": func(i int) error { cancel(); return nil },
	} {
		for ready := range 2 {
			i := 0
			m.fail = func() error {
				if i++; i < 500 {
					return nil
				}
				return fail(i)
			}
			if err := g.Open(ctx); name == "error" {
				require.ErrorIs(t, err, broken)
			} else {
				require.ErrorIs(t, err, context.Canceled)
			}
			require.ErrorIs(t, g.Rebuild(ctx, 10, 2), map[bool]error{true: bloom.ErrInvalid, false: context.Canceled}[ctx.Err() == nil])
			require.Equal(t, ready == 1, g.Ready())
			require.False(t, g.Counts().Building)
			require.NotZero(t, g.Counts().Scanned)
			for _, key := range names(1000) {
				if !g.Contains([]byte(key)) {
					t.Fatal(key)
				}
			}
			m.fail = nil
			ctx, cancel = context.WithCancel(t.Context())
			require.NoError(t, g.Open(ctx))
		}
		g = must(New("", 1000, 0.01, m))
	}

	// The store's own errors are those of Put and Get; Get counts them apart.
	require.NoError(t, g.Open(ctx))
	require.ErrorIs(t, g.Put(func() error { return broken }, []byte("half")), broken)
	_, _, err := Get(ctx, g, []byte("half"), func(context.Context, []byte) (int, bool, error) { return 0, false, broken })
	require.ErrorIs(t, err, broken)
	require.EqualValues(t, 1, g.Counts().Failed)
	cancel()
}

// TestLateCommit: a put whose store returns an error, or panics, may become visible later, after any
// number of builds and a restart from the file.
func TestLateCommit(t *testing.T) {
	broken := errors.New("a commit that has timed out")
	m := newMemStore("a")
	path := filepath.Join(t.TempDir(), "guard")
	g := must(New(path, 10, 1e-6, m))
	require.ErrorIs(t, g.Put(func() error { return broken }, []byte("early")), broken)
	require.NoError(t, g.Open(t.Context()))
	require.ErrorIs(t, g.Put(func() error { return broken }, []byte("late")), broken)
	require.Panics(t, func() { _ = g.Put(func() error { panic(broken) }, []byte("panic")) })
	for range 2 {
		require.NoError(t, g.Rebuild(t.Context(), 10, 1e-6))
	}
	require.NoError(t, save(g))
	again := must(New(path, 10, 1e-6, m))
	require.NoError(t, again.Open(t.Context()))
	for _, key := range []string{"early", "late", "panic"} {
		m.put(key)
		require.True(t, look(t, g, m, key), key)
		require.True(t, look(t, again, m, key), key)
	}
	require.False(t, g.ContainsString("x"))
}

// TestPanics: a panic of the store passes through, and leaves nothing locked.
func TestPanics(t *testing.T) {
	m := newMemStore("a")
	g := must(New("", 10, 0.01, m))
	require.Panics(t, func() { g.Put(func() error { panic("put") }, []byte("b")) })
	m.fail = func() error { panic("list") }
	require.Panics(t, func() { g.Open(t.Context()) })
	m.fail = nil
	require.True(t, g.Contains([]byte("a")))
	require.NoError(t, g.Open(t.Context()))
	require.True(t, g.Contains([]byte("a")))
}

// TestBuildWaitsForPuts: a build lists the keys when a put that it may have missed has
// ended, and gives up waiting when it is cancelled; puts do not wait for it.
func TestBuildWaitsForPuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemStore()
		g := must(New("", 10, 1e-6, m))
		commit, listed := make(chan bool), false
		m.listing = func() { listed = true }
		go g.Put(func() error { <-commit; m.put("slow"); return nil }, []byte("slow"))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		opened := make(chan error)
		go func() { opened <- g.Open(ctx) }()
		synctest.Wait()
		require.True(t, g.Counts().Building)
		require.False(t, listed)
		put(t, g, m, "other")
		cancel()
		require.ErrorIs(t, <-opened, context.Canceled)

		go func() { opened <- g.Open(t.Context()) }()
		synctest.Wait()
		require.False(t, listed, "the put entered two states ago")
		require.ErrorIs(t, g.Rebuild(ctx, 10, 0.1), context.Canceled, "another has the turn")
		close(commit)
		require.NoError(t, <-opened)
		require.True(t, listed)
		require.True(t, g.Contains([]byte("slow")))
		require.True(t, g.Contains([]byte("other")))
		require.False(t, g.Contains([]byte("x")))
	})
}

// TestFull: the user is told once for each filter, when it has more keys than n.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemStore()
		told := 0
		g := must(New("", 3, 1e-6, m, WithFull(func(g *Guard) {
			told++
			if told < 3 {
				require.NoError(t, g.Rebuild(t.Context(), 3+g.Counts().N, 1e-6))
			}
		})))
		for i := range 2 {
			put(t, g, m, fmt.Sprint("early ", i))
		}
		require.NoError(t, g.Open(t.Context()))
		for i, want := range []int{0, 1, 1, 1, 2, 2, 2, 3, 3, 3} { // 3 keys to 10: more than 3, 6, 9
			put(t, g, m, fmt.Sprint(i))
			put(t, g, m, fmt.Sprint(i)) // again
			synctest.Wait()
			require.Equal(t, want, told, i)
		}
		require.EqualValues(t, 9, g.Counts().N)
		require.EqualValues(t, 12, g.Counts().Keys)

		// A list that is longer than n.
		told = 2
		require.NoError(t, g.Rebuild(t.Context(), 2, 1e-6))
		synctest.Wait()
		require.Equal(t, 3, told)
	})
}

// TestFullByALatePut: the user is told, too, when the key too many comes from a put that
// began before the filter was asked.
func TestFullByALatePut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hashed, listing := make(chan bool), make(chan bool)
		hash := bloom.NewHash("slow", func(key []byte) (h1, h2 uint64) {
			if string(key) == "slow" {
				<-hashed
			}
			return uint64(len(key)) * 0x9e3779b97f4a7c15, uint64(len(key)) * 0xc2b2ae3d27d4eb4f
		})
		m := newMemStore("a")
		told := 0
		g := must(New("", 10, 1e-6, m, WithBloom(bloom.WithHash(hash)), WithFull(func(*Guard) { told++ })))
		require.NoError(t, g.Open(t.Context()))
		m.listing = func() { <-listing }
		rebuilt := make(chan error)
		go func() { rebuilt <- g.Rebuild(t.Context(), 1, 1e-6) }()
		synctest.Wait()
		put := make(chan error)
		go func() { put <- g.Put(func() error { m.put("slow"); return nil }, []byte("slow")) }()
		synctest.Wait()
		close(listing)
		require.NoError(t, <-rebuilt)
		synctest.Wait()
		require.Zero(t, told)
		close(hashed)
		require.NoError(t, <-put)
		synctest.Wait()
		require.EqualValues(t, 2, g.Counts().Keys)
		require.Equal(t, 1, told)
	})
}

// TestOldFilterIsFreed: the garbage collector has it as soon as nobody asks it, also when
// a put has not left its state.
func TestOldFilterIsFreed(t *testing.T) {
	m := newMemStore("a")
	g := must(New("", 1_000_000, 0.01, m))
	require.NoError(t, g.Open(t.Context()))
	old := weak.Make(g.state.Load().filter)
	require.NoError(t, g.Rebuild(t.Context(), 10, 0.01))
	runtime.GC()
	require.Nil(t, old.Value())
	runtime.KeepAlive(g)
}

func TestNoAllocations(t *testing.T) {
	m := newMemStore("a")
	g := must(New("", 10, 1e-6, m))
	require.NoError(t, g.Open(t.Context()))
	ctx, get, absent := t.Context(), m.get, []byte("absent")
	for name, f := range map[string]func(){
		"Contains": func() { key := [3]byte{1}; g.Contains(key[:]) },
		"Get":      func() { _, _, _ = Get(ctx, g, absent, get) },
		"Put":      func() { _ = g.Put(func() error { return nil }, []byte{1, 2, 3}, []byte{4}) },
		"Counts":   func() { g.Counts() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestCancelledStore: a list that ends because of the context, and does not say so, is
// not all.
func TestCancelledStore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := newMemStore("a")
	g := must(New("", 10, 0.01, m))
	m.listing = func() { cancel(); m.delete("a") } // so that it is not listed
	require.ErrorIs(t, g.Open(ctx), context.Canceled)
	require.False(t, g.Ready())
}
