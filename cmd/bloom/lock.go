package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockSuffix is what the name of the file ends in that is locked while a filter is
// written. The filter itself cannot be: it may not exist yet, and another file takes its
// name when it is saved.
const lockSuffix = ".lock"

// lock makes this process the only one of this program that writes the file at path, until
// release is called. A second one waits, and says so. Keys that two of them add at the same
// time are all in the file: each loads what the one before it has saved.
//
// The lock's file is removed in the end. What a killed process leaves of it is empty, holds
// no lock and is used again.
func lock(e *env, path string) (release func(), err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // one lock, whatever name is used
	}
	name := path + lockSuffix
	for {
		if err := wantRegular(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		l := flock.New(name, flock.SetPermissions(0o666))
		locked, err := l.TryLock()
		if err == nil && !locked {
			fmt.Fprintf(e.stderr, "bloom: waiting for another bloom that writes %s\n", shown(path))
			err = l.Lock()
		}
		if err != nil {
			return nil, cannotWrite(path, err)
		}
		ours, err := l.Stat()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		if named, err := os.Lstat(name); err == nil && os.SameFile(ours, named) {
			return func() {
				// Removed first, while nobody else can have it. Windows removes no open file.
				if os.Remove(name) != nil {
					defer os.Remove(name)
				}
				l.Close() // nothing was written to it: closing cannot lose anything
			}, nil
		}
		l.Close() // its holder has removed it, and no other process can find a lock without a name
	}
}

// wantRegular refuses links, pipes and devices.
func wantRegular(name string) error {
	info, err := os.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file, want none of that name", shown(name))
	}
	return err
}
