package persist

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

// faults reports whether a call touches memory that is not there or protected.
func faults(call func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			_, fault = r.(interface{ Addr() uintptr })
		}
	}()
	call()
	return false
}

// Goroutines work on a file while another closes it and the garbage collector
// runs. Each call either does its work or panics with the text of a closed file. A
// mapping that went away too early would end the test by a fault.
func TestCloseWhileInUse(t *testing.T) {
	rounds := effort.Times(20, 50, 2000)
	var before, after atomic.Int64
	path := filepath.Join(tempDir(t), "f")
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
						f.Stats()
					default:
						if k := key(i); !f.Add(k) && !f.Contains(k) {
							t.Errorf("key %d is lost", i)
						}
					}
					before.Add(1)
				}
			})
		}
		wg.Go(func() {
			for end := before.Load() + int64(round%100); before.Load() < end; {
				runtime.Gosched()
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			runtime.GC() // once to find the mapping unused, if it is
		})
		wg.Wait()
	}
	t.Logf("%d times closed by one of 9 goroutines; %d operations before, %d panics after", rounds, before.Load(), after.Load())
}

// An operation holds the mapping while it runs, though the file is closed and
// forgotten: here a strategy's index function closes it in the middle of an Add and
// waits for the garbage collector to do its worst.
func TestMappingOutlivesItsOperations(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	calls := 0
	var f *File
	f = openHooked(t, path, func() {
		if calls++; calls != 3 {
			return
		}
		require.NoError(t, f.Close())
		f = nil
		for range 5 {
			runtime.GC()
			time.Sleep(time.Millisecond) // for the cleanups
		}
	})
	require.True(t, f.AddString("key"))
	require.Greater(t, calls, 3)

	again := openHooked(t, path, func() {})
	require.True(t, again.ContainsString("key"))
	require.NoError(t, again.Close())
}

// mappings returns how many mappings of a file this process has.
func mappings(t *testing.T, path string) int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil || runtime.GOOS == "windows" { // an emulated Windows may have one
		t.Skip("NOT TESTED: that memory is given back, for there is no /proc/self/maps here")
	}
	return strings.Count(string(maps), path)
}

// Closed files, and files that were forgotten without Close, give their memory
// back.
func TestMappingsGoAway(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	require.Zero(t, mappings(t, path))
	var closed []*File // held on to
	for i := range 20 {
		f, err := Open(path, 1000, 0.01)
		require.NoError(t, err)
		if i%2 == 0 {
			closed = append(closed, f)
		}
	}
	require.Equal(t, 20, mappings(t, path))
	for _, f := range closed {
		require.NoError(t, f.Close())
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		return mappings(t, path) == 0
	}, 10*time.Second, time.Millisecond)
	runtime.KeepAlive(closed)
}

// Close does not wait for a Sync, however slow the disk is, and the file stays open for
// the Sync until it has ended.
func TestCloseDoesNotWaitForSync(t *testing.T) {
	f, err := Open(filepath.Join(tempDir(t), "f"), 1000, 0.01)
	require.NoError(t, err)
	for range 2 {
		_, err = f.beginSync() // the disk takes its time
		require.NoError(t, err)
	}
	require.NoError(t, f.Sync(), "others do not wait either")
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Sync(), os.ErrClosed)
	require.ErrorIs(t, f.Close(), os.ErrClosed)
	require.NoError(t, f.file.Sync(), "closed under a Sync")
	f.endSync()
	require.NoError(t, f.file.Sync(), "closed under the other Sync")
	f.endSync()
	require.ErrorIs(t, f.file.Sync(), os.ErrClosed)
}

// A file is replaced while goroutines read it: none of them meets a closed one, and those
// that nobody has any more go away, mapping and file.
func TestReplacedWhileInUse(t *testing.T) {
	swaps := effort.Times(50, 500, 20_000)
	dir := tempDir(t)
	make_ := func(i int) *File {
		f, err := Open(filepath.Join(dir, fmt.Sprint("f", i%3)), 1000, 0.01)
		require.NoError(t, err)
		f.AddString("always there")
		return f
	}
	var current atomic.Pointer[File]
	current.Store(make_(0))
	var done atomic.Bool
	var wg sync.WaitGroup
	var asked atomic.Int64
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				f := current.Load()
				runtime.Gosched() // it may be replaced now
				if !f.ContainsString("always there") {
					t.Error("lost")
				}
				asked.Add(1)
			}
		})
	}
	for i := range swaps {
		current.Store(make_(i))
		if i%100 == 0 {
			runtime.GC()
		}
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d swaps, %d answers", swaps, asked.Load())
	require.Positive(t, asked.Load())
	current.Store(nil)
	mappings(t, dir) // skips what follows, where that is not known
	require.Eventually(t, func() bool {
		runtime.GC()
		return mappings(t, dir) == 0
	}, time.Minute, time.Millisecond)
}
