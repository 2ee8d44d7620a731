package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const lockSuffix = ".lock"

// lock makes this process the only bloom that writes the file at path, until release is called. A
// second process waits, and loads what the first has saved. The lock is on a file of its own: the
// filter's file may not exist yet, and save replaces it. An empty lock file that a killed process
// has left holds no lock.
func lock(e *env, path string) (release func(), err error) {
	if path == "-" {
		return nil, errors.New(`"-" for a filter that is written back, want a file (one of that name is ./-)`)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // one lock for all names
	}
	name := path + lockSuffix
	for {
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file, want none of that name", shown(name))
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		l := flock.New(name, flock.SetPermissions(0o666))
		locked, err := l.TryLock()
		if err == nil && !locked {
			fmt.Fprintf(e.stderr, "bloom: waiting for another bloom that writes %s\n", shown(path))
			_, err = l.TryLockContext(e.ctx, 20*time.Millisecond)
		}
		if err != nil {
			if cause := context.Cause(e.ctx); cause != nil {
				return nil, cause
			}
			return nil, cannotWrite(path, err)
		}
		ours, err := l.Stat()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		if named, err := os.Lstat(name); err == nil && os.SameFile(ours, named) {
			return func() {
				// Removed while locked. Windows removes no open file.
				if os.Remove(name) != nil {
					defer os.Remove(name)
				}
				l.Close() // nothing was written to it
			}, nil
		}
		l.Close() // the process that held it has removed it
	}
}
