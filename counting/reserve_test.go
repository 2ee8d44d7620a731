package counting

import (
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// reserve reports whether the caller must do the work for the key. If the work fails, the caller removes the key.
func reserve(f *Filter, key []byte) bool {
	if f.Contains(key) {
		return false
	}
	if f.Add(key) {
		return true
	}
	f.Remove(key) // another goroutine was faster; this Add has counted the key once more
	return false
}

// TestReserve: eight goroutines try to do the work for each of many keys. It fails twice and then succeeds, as the
// recipe of docs/deduplication.md promises: no two work on a key at a time, and in the end all are done. The filter has
// room for ten times the keys, so that no counter is full, and p = 1e-9 with fixed keys.
func TestReserve(t *testing.T) {
	const keys, workers = 1000, 8
	f := must(10*keys, 1e-9)
	var working, tried, done [keys]atomic.Int32
	var all testkit.Group
	for worker := range uint64(workers) {
		all.Go(func() {
			var b [16]byte
			for i := range uint64(keys) {
				if worker%2 == 1 {
					i = keys - 1 - i
				}
				for range 100_000 { // a lost reservation would stay lost
					if done[i].Load() > 0 {
						break
					}
					if !reserve(f, key(&b, i)) {
						continue
					}
					if working[i].Add(1) != 1 {
						t.Errorf("two goroutines work on key %d", i)
					}
					failed := tried[i].Add(1) <= 2
					working[i].Add(-1)
					if failed {
						f.Remove(b[:])
					} else {
						done[i].Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	var b [16]byte
	for i := range uint64(keys) {
		if n := done[i].Load(); n != 1 || !f.Remove(key(&b, i)) {
			t.Fatalf("the work for key %d was done %d times, want once", i, n)
		}
	}
	if ones := f.Stats().Ones; ones != 0 {
		t.Errorf("%d counters are not 0 after all keys were removed", ones)
	}
}
