package guard

import (
	"context"
	"errors"
	"iter"
	"math"
	"path/filepath"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/seed3447c163/bloom/persist"
)

func TestNew(t *testing.T) {
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		_, err := New("", 10, p, newMemStore())
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err := New("", 1000, 0.01, newMemStore(), bloom.WithMaxBytes(100))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	for _, store := range []Store{nil, All(nil)} {
		_, err = New("", 10, 0.1, store)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	maphash := bloom.WithHash(bloom.MapHash)
	_, err = New("path", 10, 0.01, newMemStore(), maphash)
	require.ErrorIs(t, err, bloom.ErrNotPortable)
	g := opened(t, "", 10, 0.01, newMemStore("a"), maphash)
	require.True(t, g.ContainsString("a"))
	require.ErrorIs(t, save(g), bloom.ErrInvalid, "there is no path")
}

func TestZeroValues(t *testing.T) { zero.Values(t, new(Guard)) }

// A guard that is not ready, opened, put to, saved, opened again from the file, and rebuilt.
func TestLife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard")
	m := newMemStore("a", "b")
	g := must(New(path, 100, 1e-6, m))
	require.False(t, g.Ready())
	require.True(t, g.Contains([]byte("x")), "maybe")
	require.False(t, look(t, g, m, "x"))
	require.True(t, look(t, g, m, "a"))
	require.Equal(t, map[string]float64{"not_ready": 2}, counts(g))
	require.Zero(t, g.Stats())
	require.Zero(t, float64(g.SizeBytes())+g.Metrics()["added_keys"])
	many := func(want ...bool) {
		t.Helper()
		found := make([]bool, 2)
		require.Equal(t, map[bool]int{true: 2, false: 1}[want[1]], g.ContainsMany([][]byte{[]byte("a"), []byte("x")}, found))
		require.Equal(t, want, found)
		require.Panics(t, func() { g.ContainsMany(make([][]byte, 1), found) })
	}
	many(true, true)
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
	require.Equal(t, map[string]float64{"ready": 1, "listed_keys": 3, "added_keys": 3, "spared": 1, "found": 3, "not_ready": 2}, counts(g))
	require.EqualValues(t, 3, g.Stats().EstimatedCount)
	require.EqualValues(t, 3, g.Metrics()["added_keys"])
	require.Equal(t, g.Stats().SizeBytes, g.SizeBytes())
	many(true, false)
	require.Equal(t, g.String(), g.LogValue().String())
	require.Contains(t, g.String(), "keys=3 filter=bloom.BloomFilter(n=100")

	require.NoError(t, save(g))
	put(t, g, m, "d")
	m.delete("a")
	require.True(t, g.Contains([]byte("d")))
	require.True(t, g.Contains([]byte("a")), "the filter does not forget")
	require.False(t, look(t, g, m, "a"))
	require.EqualValues(t, 1, counts(g)["false_positives"])
	require.Equal(t, 0.5, counts(g)["false_positive_rate"])

	// The process is killed.
	g = opened(t, path, 5, 0.5, m)
	require.Len(t, m.since, 8, "the store was asked for the keys since")
	require.Equal(t, map[string]float64{"ready": 1, "listed_keys": 1, "added_keys": 4}, counts(g))
	require.EqualValues(t, 100, g.Stats().N, "the file's n")
	for _, key := range []string{"b", "c", "d"} {
		require.True(t, look(t, g, m, key))
	}
	require.True(t, g.Contains([]byte("a")))
	require.NoError(t, g.Rebuild(t.Context(), 1000, 1e-9))
	require.False(t, g.Contains([]byte("a")), "deleted keys are gone")
	require.True(t, g.Contains([]byte("b")))
	require.EqualValues(t, 3, counts(g)["added_keys"])
	require.EqualValues(t, 1000, g.Stats().N)
	require.NoError(t, save(g))
}

// A build that fails, is cancelled or panics leaves the guard as it was, and no "no" is false.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	m := newMemStore(names(1000)...)
	g := must(New("", 1000, 0.01, m))
	for _, ready := range []bool{false, true} {
		for name, fail := range map[string]func(cancel func()) error{
			"broken":           func(func()) error { return broken },
			"context canceled": func(cancel func()) error { cancel(); return nil },
			"panic":            func(func()) error { panic("panic") },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			i := 0
			m.fail = func() error {
				if i++; i < 500 {
					return nil
				}
				return fail(cancel)
			}
			func() {
				defer func() { require.Contains(t, []any{nil, name}, recover()) }()
				require.EqualError(t, g.Open(ctx), name)
			}()
			cancel()
			require.ErrorIs(t, g.Rebuild(ctx, 10, 0.1), context.Canceled)
			require.ErrorIs(t, g.Rebuild(t.Context(), 10, 2), bloom.ErrInvalid)
			require.Equal(t, ready, g.Ready())
			require.Nil(t, g.state.Load().next)
			for _, key := range names(1000) {
				require.True(t, g.Contains([]byte(key)))
			}
		}
		m.fail = nil
		require.NoError(t, g.Open(t.Context()))
	}
	// A put that panics may have been visible.
	require.Panics(t, func() { _ = g.Put(func() error { panic(broken) }, []byte("late")) })
	// So may one that fails.
	require.ErrorIs(t, g.Put(func() error { return broken }, []byte("later"), []byte("last")), broken)
	for range 2 {
		require.NoError(t, g.Rebuild(t.Context(), 1000, 1e-6))
		require.True(t, g.ContainsString("late") && g.ContainsString("later") && g.ContainsString("last") && !g.ContainsString("x"))
	}
	// A list that ends because of the context, without an error, is not complete.
	ctx, cancel := context.WithCancel(t.Context())
	few := newMemStore("a")
	few.listing = func() { cancel(); few.delete("a") }
	require.ErrorIs(t, must(New("", 10, 0.01, few)).Open(ctx), context.Canceled)

	// A nil iterator is no list.
	none := All(func(context.Context) iter.Seq2[[]byte, error] { return nil })
	require.ErrorIs(t, must(New("", 10, 0.01, none)).Open(t.Context()), bloom.ErrInvalid)

	_, _, err := Get(t.Context(), g, []byte("key 1"), func(context.Context, []byte) (int, bool, error) { return 0, false, broken })
	require.ErrorIs(t, err, broken)
	require.EqualValues(t, 1, counts(g)["failed"])
}

// A save whose position the store gave for a filter that was replaced meanwhile takes another position: between the
// two, a key was deleted, and the new filter lacks it. A crash of the machine undoes the delete if the first position
// goes into the file.
func TestPositionIsOfTheSavedFilter(t *testing.T) {
	m := newMemStore("a")
	path := filepath.Join(t.TempDir(), "guard")
	var g *Guard
	calls := 0
	store := positions{m, func() ([]byte, error) {
		if calls++; calls == 1 {
			require.NoError(t, g.Rebuild(t.Context(), 10, 1e-6))
		}
		return []byte{byte(calls)}, nil
	}}
	g = opened(t, path, 10, 1e-6, store)
	position, err := g.Save(t.Context())
	require.NoError(t, err)
	require.Equal(t, []byte{2}, position)
	s, err := persist.LoadWith(path, read)
	require.NoError(t, err)
	require.Equal(t, position, s.position)
}

// The garbage collector frees a replaced filter when no call uses it.
func TestOldFilterIsFreed(t *testing.T) {
	m := newMemStore("a")
	g := opened(t, "", 1_000_000, 0.01, m)
	old := weak.Make(g.state.Load().filter)
	require.NoError(t, g.Rebuild(t.Context(), 10, 0.01))
	runtime.GC()
	require.Nil(t, old.Value())
	runtime.KeepAlive(g)
}

func TestNoAllocations(t *testing.T) {
	m := newMemStore("a")
	g := opened(t, "", 10, 1e-6, m)
	ctx, get, absent := t.Context(), m.get, []byte("absent")
	for name, f := range map[string]func(){
		"Contains": func() { key := [3]byte{1}; g.Contains(key[:]) },
		"Get":      func() { _, _, _ = Get(ctx, g, absent, get) },
		"Put":      func() { _ = g.Put(func() error { return nil }, []byte{1, 2, 3}, []byte{4}) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestOptionsAreKept: a caller that uses its slice of options again changes no later filter.
func TestOptionsAreKept(t *testing.T) {
	opts := []bloom.Option{bloom.WithStrategy(bloom.Blocked)}
	g := must(New("", 10, 0.01, newMemStore("a"), opts...))
	opts[0] = bloom.WithStrategy(bloom.DoubleHashing)
	require.NoError(t, g.Open(t.Context()))
	require.Equal(t, "blocked", g.Stats().Strategy)
}

// TestUncertainKeysComeFirst: a filter has the keys of failed puts before lookups use it, and a failed put notes its
// keys before a build stops waiting for it.
func TestUncertainKeysComeFirst(t *testing.T) {
	var g *Guard
	asked, early := 0, false
	hash := bloom.WithHash(bloom.NewHash64("watched", func(key []byte) uint64 {
		if string(key) == "late" {
			asked++
			early = early || g.Ready()
		}
		return 1
	}))
	g = must(New("", 10, 0.01, newMemStore(), hash))
	broken := errors.New("broken")
	require.ErrorIs(t, g.Put(func() error { return broken }, []byte("late")), broken)
	require.NoError(t, g.Open(t.Context()))
	require.Equal(t, 1, asked)
	require.False(t, early)

	g.uncertainMu.Lock()
	put := make(chan error)
	began := make(chan bool)
	go func() { put <- g.Put(func() error { close(began); return broken }, []byte("later")) }()
	<-began
	for range 1000 { // a put that left too early would do so now
		runtime.Gosched()
	}
	require.EqualValues(t, 1, g.state.Load().puts.inside.Load(), "a build would not wait for the put")
	g.uncertainMu.Unlock()
	require.ErrorIs(t, <-put, broken)
}
