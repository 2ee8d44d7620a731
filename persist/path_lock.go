package persist

import (
	"path/filepath"
	"sync"
)

// pathLocks has a lock for each path that a Save of this process writes.
var pathLocks = struct {
	sync.Mutex
	of map[string]*pathLock
}{of: map[string]*pathLock{}}

// A pathLock is held while a Save writes to its path.
type pathLock struct {
	sync.Mutex
	wanted int // Saves that have the lock or wait for it
}

// lockPath waits until no other Save of this process writes to path. Otherwise a Save that began
// earlier, with fewer keys, could rename its file later.
func lockPath(path string) (unlock func()) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	pathLocks.Lock()
	t := pathLocks.of[path]
	if t == nil {
		t = &pathLock{}
		pathLocks.of[path] = t
	}
	t.wanted++
	pathLocks.Unlock()
	t.Lock()
	return func() {
		t.Unlock()
		pathLocks.Lock()
		defer pathLocks.Unlock()
		if t.wanted--; t.wanted == 0 {
			delete(pathLocks.of, path)
		}
	}
}
