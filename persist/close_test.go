package persist

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/testing/resources"
	"github.com/stretchr/testify/require"
)

// Goroutines work on a file while another one closes it. Each call works or panics with
// os.ErrClosed. A mapping that goes away too early ends the test by a fault.
func TestCloseWhileInUse(t *testing.T) {
	rounds := effort.Times(20, 50, 2000)
	var before, after atomic.Int64
	path := filepath.Join(resources.TempDir(t), "f")
	keys := make([][]byte, 1000)
	for i := range keys {
		keys[i] = key(uint64(i))
	}
	for round := range rounds {
		f, err := Open(path, 100_000, 0.01)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				defer func() {
					if err, ok := recover().(error); !ok || !errors.Is(err, os.ErrClosed) {
						t.Errorf("panic with %v", err)
					}
					after.Add(1)
				}()
				for i := uint64(w); ; i++ {
					switch w {
					case 0:
						f.AddMany(keys, nil)
					case 1:
						f.Snapshot()
					case 2:
						if err := f.Sync(); err != nil {
							panic(err)
						}
					default:
						if k := key(i); !f.Add(k) && !f.Contains(k) {
							t.Errorf("key %d is lost", i)
						}
					}
					before.Add(1)
				}
			})
		}
		for end := before.Load() + int64(round%100); before.Load() < end; {
			runtime.Gosched()
		}
		require.NoError(t, f.Close())
		runtime.GC() // finds the mapping unused, if it is
		wg.Wait()
	}
	t.Logf("closed %d times among 8 goroutines; %d operations before, %d errors after", rounds, before.Load(), after.Load())
}

// An operation keeps the mapping although the file is closed and forgotten: a strategy closes it in
// the middle of an Add and waits for the garbage collector.
func TestMappingOutlivesItsOperations(t *testing.T) {
	path := filepath.Join(resources.TempDir(t), "f")
	calls := 0
	var f *File
	hooked := bloom.WithStrategy(customStrategy("hooked", func() {
		if calls++; calls != 3 {
			return
		}
		require.NoError(t, f.Close())
		f = nil
		for range 5 {
			runtime.GC()
			time.Sleep(time.Millisecond) // for the cleanups
		}
	}))
	f, err := Open(path, 1000, 0.001, hooked)
	require.NoError(t, err)
	require.True(t, f.AddString("key"))
	require.Greater(t, calls, 3)
	require.True(t, openFile(t, path, 1000, 0.001, hooked).ContainsString("key"))
}

// Closed files, and files that were forgotten without Close, give their memory back.
func TestMappingsGoAway(t *testing.T) {
	path := filepath.Join(resources.TempDir(t), "f")
	mappings := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil || runtime.GOOS == "windows" { // an emulated Windows may have one
			t.Skip("NOT TESTED: that memory is given back, because there is no /proc/self/maps")
		}
		return strings.Count(string(maps), path)
	}
	require.Zero(t, mappings())
	var closed []*File // kept
	for i := range 20 {
		f, err := Open(path, 1000, 0.01)
		require.NoError(t, err)
		if i%2 == 0 {
			closed = append(closed, f)
		}
	}
	require.Equal(t, 20, mappings())
	for _, f := range closed {
		require.NoError(t, f.Close())
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		return mappings() == 0
	}, time.Minute, time.Millisecond)
	runtime.KeepAlive(closed)
}
