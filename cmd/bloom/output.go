package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/filterfile"
	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
	"github.com/seed3447c163/bloom/persist"
)

// open reads a filter in any format, and returns it with its format. "-" is standard input.
func (o *command) open(path string) (f any, from *filterfile.Format, err error) {
	in := &filterfile.File{Size: -1, Path: path, Column: o.column, Secret: o.secret, Options: o.limits()}
	raw := o.stdin
	if path != "-" {
		file, err := lines.Open(o.ctx, path)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close() // ignore the error: the file was only read
		info, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			in.Size, in.Whole = info.Size(), file
		}
		raw = file
	}
	in.Reader = lines.Until(o.ctx, raw, &o.progress.read)
	defer o.show([]string{path})()
	f, from, err = filterfile.Open(in)
	if lines.IsPipe(raw) {
		o.settle()
	}
	if cause := context.Cause(o.ctx); cause != nil {
		return nil, nil, cause
	}
	return f, from, lines.Named(path, err)
}

// openPlain reads a filter in any format and converts it to a bloom.BloomFilter.
func (o *command) openPlain(path string) (*bloom.BloomFilter, error) {
	f, _, err := o.open(path)
	if err != nil {
		return nil, err
	}
	plain, err := filterfile.Plain(f)
	return plain, lines.Named(path, err)
}

// openToWrite reads a filter to change and write back. It refuses formats for which this is not possible.
func (o *command) openToWrite(path string) (filterfile.Filter, *filterfile.Format, error) {
	f, from, err := o.open(path)
	if err != nil {
		return nil, nil, err
	}
	if !from.Keeps() {
		return nil, nil, fmt.Errorf("%s: a %s filter is only read (see bloom help formats)", path, from.Name)
	}
	return f.(filterfile.Filter), from, nil
}

// claim locks the output file and checks that it may be written.
func (o *command) claim() (release func(), err error) {
	if o.output == "-" {
		return func() {}, nil
	}
	if release, err = lock(o.env, o.output, o.quiet); err != nil {
		return nil, err
	}
	if info, missing := os.Stat(o.output); missing == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file, want a new name", o.output)
	} else if missing == nil && !o.force {
		err = fmt.Errorf("%s exists, want a new name, or --force to replace it", o.output)
	}
	if err == nil {
		err = trySave(o.output)
	}
	if err != nil {
		release()
	}
	return release, err
}

// save replaces the file path by the filter in one step, or writes to standard output for "-". After a signal it leaves
// the file as it is and returns the cause.
func save(e *env, path string, f any, to *filterfile.Format) error {
	if path == "-" {
		return to.Write(e.stdout, f)
	}
	if cause := context.Cause(e.ctx); cause != nil {
		return cause
	}
	return write(path, f, to)
}

// write replaces the file path by the filter in one step, also after a signal.
func write(path string, f any, to *filterfile.Format) error {
	return persist.Save(path, writerTo(func(w io.Writer) error { return to.Write(w, f) }))
}

// errTried stops persist.Save in trySave before the filter is written.
var errTried = errors.New("tried")

// trySave tries a save to path up to the point where the filter would be written. It returns the error of these steps,
// for example because the file's owner cannot be kept.
func trySave(path string) error {
	err := persist.Save(path, writerTo(func(io.Writer) error { return errTried }))
	if errors.Is(err, errTried) {
		return nil
	}
	return err
}

// A writerTo is a function that serves as an io.WriterTo. Its WriteTo returns the count 0, because persist.Save ignores
// the count.
type writerTo func(w io.Writer) error

func (write writerTo) WriteTo(w io.Writer) (int64, error) { return 0, write(w) }

const lockSuffix = ".lock"

// lock makes this process the only bloom that writes the file at path, until release is called. A second process waits,
// prints a message unless quiet is set, and then loads the saved file. The lock is on another file, path.lock, because
// the filter's file may not exist yet, and save replaces it. A killed process leaves the file path.lock behind, but not
// the lock.
func lock(e *env, path string, quiet bool) (release func(), err error) {
	if path == "-" {
		return nil, errors.New(`"-" for a filter that is written back, want a file (one of that name is ./-)`)
	}
	for range 40 { // follow links, so that all names of a file share one lock
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if dir, _ := filepath.Split(path); !filepath.IsAbs(target) {
			target = dir + target
		}
		path = target
	}
	name := path + lockSuffix
	for {
		if info, err := os.Lstat(name); err == nil && (!info.Mode().IsRegular() || info.Size() > 0) {
			return nil, fmt.Errorf("%s is not an empty file, so it is no lock of bloom; want no file of that name", name)
		}
		l := flock.New(name, flock.SetPermissions(0o666))
		locked, err := l.TryLock()
		if err == nil && !locked {
			if !quiet {
				fmt.Fprintf(e.stderr, "bloom: waiting for another bloom that writes %s\n", printable(path))
			}
			_, err = l.TryLockContext(e.ctx, 20*time.Millisecond)
		}
		if cause := context.Cause(e.ctx); err != nil && cause != nil {
			return nil, cause
		} else if err != nil {
			if inPath := (*fs.PathError)(nil); errors.As(err, &inPath) {
				err = lines.At(name, inPath.Err)
			}
			return nil, fmt.Errorf("%s cannot be written: %w", path, err)
		}
		ours, err1 := l.Stat()
		named, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(ours, named) {
			return func() {
				// Remove the file while it is locked: after that, another process may have locked it. Windows cannot
				// remove an open file: remove it after Close.
				if os.Remove(name) != nil {
					defer os.Remove(name)
				}
				l.Close() // ignore the error: nothing was written
			}, nil
		}
		l.Close() // try again: the process that held the lock has removed the file
	}
}

// apart returns an error if standard output is a regular file that the command reads, because it would read its own
// output. "-" is standard input.
func apart(names []string) error {
	out, err := os.Stdout.Stat()
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	for _, name := range names {
		in, err := os.Stdin.Stat()
		if name != "-" {
			in, err = os.Stat(name)
		}
		if err == nil && os.SameFile(in, out) {
			return lines.Named(name, errors.New("the file is also standard output, want another one to print to"))
		}
	}
	return nil
}
