package persist

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// Goroutines work on a file while another one closes it. Each call works or panics with
// os.ErrClosed. A mapping that goes away too early ends the test by a fault.
func TestCloseWhileInUse(t *testing.T) {
	rounds := testkit.Times(20, 50, 2000)
	var before, after atomic.Int64
	path := filepath.Join(testkit.TempDir(t), "f")
	keys := make([][]byte, 1000)
	for i := range keys {
		keys[i] = key(uint64(i))
	}
	for round := range rounds {
		f, err := Open(path, 100_000, 0.01)
		require.NoError(t, err)
		var wg testkit.Group
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
						f.BloomFilter()
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

// An operation keeps the mapping although the file is closed and forgotten: a strategy, or the
// writer of WriteTo, closes it in the middle and waits for the garbage collector.
func TestMappingOutlivesItsOperations(t *testing.T) {
	var f *File
	calls := 0
	hook := func() {
		if calls++; calls != 3 {
			return
		}
		require.NoError(t, f.Close())
		f = nil
		for range 5 {
			runtime.GC()
			time.Sleep(time.Millisecond) // for the cleanups
		}
	}
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	for name, operation := range map[string]func() bool{
		"Add":            func() bool { return !f.Add(keys[0]) },
		"AddString":      func() bool { return !f.AddString("a") },
		"AddMany":        func() bool { return f.AddMany(keys, nil) == 0 },
		"Contains":       func() bool { return f.Contains(keys[0]) },
		"ContainsString": func() bool { return f.ContainsString("a") },
		"ContainsMany":   func() bool { return f.ContainsMany(keys, nil) == len(keys) },
		"WriteTo": func() bool {
			_, err := f.WriteTo(writerFunc(func(p []byte) (int, error) {
				calls = max(calls, 2) // at the first of several writes
				hook()
				return len(p), nil
			}))
			return err == nil
		},
	} {
		path := filepath.Join(testkit.TempDir(t), "f")
		var err error
		f, err = Open(path, 100_000, 0.001, bloom.WithStrategy(customStrategy("hooked", hook)))
		require.NoError(t, err)
		calls = 1000
		f.AddMany(keys, nil)
		calls = 0
		require.True(t, operation(), name)
		require.Nil(t, f, name)
	}
}

// Closed files, and files that were forgotten without Close, give their memory back.
func TestMappingsGoAway(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	mappings := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil || runtime.GOOS == "windows" { // an emulated Windows may have one
			t.Skip("NOT TESTED: that memory is given back, because there is no /proc/self/maps")
		}
		return strings.Count(string(maps), path)
	}
	require.Zero(t, mappings())
	var files [20]*File
	for i := range files {
		var err error
		files[i], err = Open(path, 1000, 0.01)
		require.NoError(t, err)
	}
	require.Equal(t, len(files), mappings())
	for i, f := range files[:10] {
		require.NoError(t, f.Close())
		files[10+i] = nil
	}
	for mappings() > 0 { // the others need the garbage collector
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	runtime.KeepAlive(&files)
}
