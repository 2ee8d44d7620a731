package testkit

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// Allocated returns the number of bytes that the program allocates during a call.
func Allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TempDir is t.TempDir for mapped files: Windows removes a file only after the garbage collector has unmapped it.
func TempDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if runtime.GOOS == "windows" {
		t.Cleanup(func() {
			for range 1000 {
				runtime.GC()
				if err := os.RemoveAll(dir); err == nil {
					return
				}
				time.Sleep(10 * time.Millisecond) // for the collector's cleanups
			}
		})
	}
	return dir
}

// A ShortWriter accepts Room bytes. Then it writes nothing and returns Err. Err may be nil, which the rules of
// io.Writer forbid.
type ShortWriter struct {
	Room int
	Err  error
}

func (w *ShortWriter) Write(p []byte) (int, error) {
	if len(p) <= w.Room {
		w.Room -= len(p)
		return len(p), nil
	}
	n := w.Room
	w.Room = 0
	return n, w.Err
}
