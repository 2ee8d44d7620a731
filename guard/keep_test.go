//go:build go1.25

package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

type report struct {
	position []byte
	err      error
}

// keep runs Keep until stop is called.
func keep(g *Guard, report func(position []byte, err error)) (stop func(t *testing.T)) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- g.Keep(ctx, time.Minute, report) }()
	return func(t *testing.T) {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
}

// Keep opens, saves at every interval, replaces a bad file, retries a failed step, and saves at the end.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "guard")
		require.NoError(t, os.WriteFile(path, []byte("something else"), 0o600))
		m := newMemStore("a")
		broken := errors.New("broken")
		var failing atomic.Bool
		failing.Store(true)
		m.fail = func() error {
			if failing.Load() {
				return broken
			}
			return nil
		}
		g := must(New(path, 10, 1e-6, m))
		require.ErrorIs(t, g.Keep(t.Context(), 0, nil), bloom.ErrInvalid)
		reports := make(chan report, 10)
		stop := keep(g, func(position []byte, err error) { reports <- report{position, err} })
		require.ErrorIs(t, (<-reports).err, bloom.ErrCorrupt, "the bad file")
		require.ErrorIs(t, (<-reports).err, broken, "the store")
		synctest.Wait()
		require.Empty(t, reports)
		require.True(t, g.ContainsString("x"), "not ready")
		failing.Store(false)
		require.ErrorIs(t, (<-reports).err, bloom.ErrCorrupt, "still the bad file")
		require.NoError(t, (<-reports).err)
		require.False(t, g.ContainsString("x"))
		require.True(t, g.ContainsString("a"))
		put(t, g, m, "b")
		position, err := m.Position(t.Context())
		require.NoError(t, err)
		require.Equal(t, report{position, nil}, <-reports)
		put(t, g, m, "c")
		stop(t)
		last := <-reports
		require.NoError(t, last.err)
		require.NotEqual(t, position, last.position, "saved at the end")

		g = opened(t, path, 10, 1e-6, m)
		require.Zero(t, counts(g)["listed_keys"])
		require.True(t, g.ContainsString("c"))
	})
}

// Keep rebuilds a full filter: for twice its keys, with one list, also after a start from a file. Keys that were
// deleted do not let it grow for ever. Without room to grow, the filter stays, and Keep says so once until it has
// rebuilt it.
func TestKeepGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 5000 // bytes, for 1391 keys
		m := newMemStore(names(30)...)
		lists, path := 0, filepath.Join(t.TempDir(), "guard")
		var sleeps sync.Mutex // for the race detector, which sees no order in a sleep
		m.listing = func() {
			sleeps.Lock()
			defer sleeps.Unlock()
			lists++
		}
		var g *Guard
		var errs []error
		var stop func(t *testing.T)
		start := func() {
			g = must(New(path, 100, 1e-6, m, bloom.WithMaxBytes(limit)))
			stop = keep(g, func(_ []byte, err error) {
				if err != nil {
					sleeps.Lock()
					defer sleeps.Unlock()
					errs = append(errs, err)
				}
			})
			synctest.Wait()
		}
		restart := func() { stop(t); start() }
		keys := 0
		grow := func(n int) {
			for range n {
				keys++
				put(t, g, m, fmt.Sprint("stays ", keys))
			}
		}
		churn := func(n int) {
			for range n {
				keys++
				key := fmt.Sprint("goes ", keys)
				put(t, g, m, key)
				m.delete(key)
			}
		}
		minute := func(wantLists int, n, added float64) {
			t.Helper()
			sleeps.Lock()
			lists = 0
			sleeps.Unlock()
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, wantLists, lists)
			require.EqualValues(t, n, g.Stats().N)
			require.EqualValues(t, added, g.Metrics()["added_keys"])
		}
		start()
		churn(70)
		minute(0, 100, 100) // not full
		restart()
		grow(1)
		minute(1, 202, 31) // also after a start from a file
		restart()
		churn(172)
		minute(1, 202, 31) // the last list had less than a third of 202
		restart()
		churn(172)
		minute(1, 202, 31) // also after a start from a file
		grow(172)
		minute(1, 202, 203)
		minute(1, 406, 203)
		restart()
		grow(204)
		minute(1, 814, 407)
		restart()
		grow(408)
		require.Empty(t, errs)
		minute(0, 814, 815) // 1630 keys are too many
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], bloom.ErrTooLarge)
		grow(5)
		minute(0, 814, 820)
		require.Len(t, errs, 1, "the same error is reported once")
		require.NoError(t, g.Rebuild(t.Context(), 1300, 1e-6))
		minute(0, 1300, 820)
		churn(481)
		minute(0, 1300, 1301)
		require.Len(t, errs, 2, "the filter has changed")
		for _, key := range slices.Sorted(maps.Keys(m.values))[500:] {
			m.delete(key)
		}
		require.NoError(t, g.Rebuild(t.Context(), 1300, 1e-6))
		churn(1301 - int(g.Metrics()["added_keys"]))
		minute(1, 1300, 500) // there is no room to grow, but the deleted keys go
		require.Len(t, errs, 2)
		stop(t)
	})
}
