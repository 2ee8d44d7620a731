package persist

import (
	"path/filepath"
	"sync"
)

// turns has a lock for each path that a Save of this process writes.
var turns = struct {
	sync.Mutex
	of map[string]*turn
}{of: map[string]*turn{}}

// A turn is the lock of a path.
type turn struct {
	sync.Mutex
	wanted int // Saves that have the lock or wait for it
}

// takeTurn waits until no other Save of this process writes to path. Otherwise a Save that began
// earlier, with fewer keys, could rename its file later.
func takeTurn(path string) (end func()) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	turns.Lock()
	t := turns.of[path]
	if t == nil {
		t = &turn{}
		turns.of[path] = t
	}
	t.wanted++
	turns.Unlock()
	t.Lock()
	return func() {
		t.Unlock()
		turns.Lock()
		defer turns.Unlock()
		if t.wanted--; t.wanted == 0 {
			delete(turns.of, path)
		}
	}
}
