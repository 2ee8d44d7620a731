package main

import (
	"bufio"
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
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/persist"
)

// A filter can be queried: a plain one or a variant.
type filter interface {
	ContainsMany(keys [][]byte, found []bool) int
	Stats() bloom.Stats
}

// adderTo returns the function that adds keys to a filter that can be written. A plain filter always
// has room.
func adderTo(f any) func(keys [][]byte) (added int, err error) {
	if dump, ok := f.(*rebloom.Filter); ok {
		return func(keys [][]byte) (added int, err error) {
			for _, key := range keys {
				won, err := dump.Add(key)
				if err != nil {
					return added, err
				}
				if won {
					added++
				}
			}
			return added, nil
		}
	}
	return func(keys [][]byte) (int, error) { return f.(*bloom.BloomFilter).AddMany(keys, nil), nil }
}

// plainOf returns a filter with one set of bits as a plain filter.
func plainOf(f any) (*bloom.BloomFilter, error) {
	switch f := f.(type) {
	case *bloom.BloomFilter:
		return f, nil
	case columnFilter:
		return f.BloomFilter, nil
	case *counting.Filter:
		return f.BloomFilter(), nil
	case *rebloom.Filter:
		return f.BloomFilter()
	}
	return nil, errMany(f)
}

// errMany is the error for a filter with more than one set of bits, or none.
func errMany(f any) error {
	if columns, ok := f.(parquetFile); ok {
		return fmt.Errorf("%d filters in this Parquet file, want one of them by --column (bloom info lists them)", len(columns))
	}
	return errors.New("more than one set of bits in this filter; only check, info and Go programs read it")
}

// load reads a filter that can be made into a plain one.
func (o *options) load(path string) (*bloom.BloomFilter, *format, error) {
	f, from, err := o.open(path)
	if err != nil {
		return nil, nil, err
	}
	plain, err := plainOf(f)
	return plain, from, errorIn(path, err)
}

// An inputFile is a file that may hold a filter.
type inputFile struct {
	*bufio.Reader
	path, column string
}

// open reads a filter in any format. "-" is standard input.
func (o *options) open(path string) (f any, from *format, err error) {
	raw, size := o.stdin, int64(-1)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close() // it was only read
		info, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		raw = file
	}
	in := &inputFile{bufio.NewReaderSize(source{o.ctx, raw, &progress{}}, chunkSize), path, o.column}
	head, err := in.Peek(4096)
	if err == nil || err == io.EOF {
		f, from, err = o.openHead(in, head, size)
	}
	if cause := context.Cause(o.ctx); err != nil && cause != nil {
		return nil, nil, cause
	}
	return f, from, errorIn(path, err)
}

func (o *options) openHead(in *inputFile, head []byte, size int64) (any, *format, error) {
	from := recognised(head, size)
	if from == nil {
		return nil, nil, errors.New("not a filter in a known format")
	}
	if o.column != "" && from.name != "parquet-file" {
		return nil, nil, fmt.Errorf("--column %q for a %s filter, want it only for a Parquet file", o.column, from.name)
	}
	opts, keyed := requires(head)
	if keyed || o.keyFile != "" { // the environment's key is only for filters with a key
		secret, err := o.secret()
		if err != nil {
			return nil, nil, err
		}
		if len(secret) == 0 {
			return nil, nil, errors.New("the filter has a secret key, want --key-file or $" + keyVariable + " (see bloom help secrets)")
		}
		opts = append(opts, secret...)
	}
	f, err := from.read(in, opts)
	return f, from, err
}

// save writes the filter to a file in one step, or to standard output for "-".
func (o *options) save(path string, f any, to *format) error {
	if path == "-" {
		return to.writeAny(o.stdout, f)
	}
	if cause := context.Cause(o.ctx); cause != nil {
		return cause
	}
	return persist.Save(path, writerTo(func(w io.Writer) error { return to.writeAny(w, f) }))
}

// A writerTo is a function as an io.WriterTo. persist.Save ignores the count.
type writerTo func(w io.Writer) error

func (write writerTo) WriteTo(w io.Writer) (int64, error) { return 0, write(w) }

// claim locks the file of --output and checks that it may be written.
func (o *options) claim(to *format) (release func(), err error) {
	if o.output == "-" {
		if isTerminal(o.stdout) && !to.text {
			return nil, errors.New("a filter is binary and standard output is a terminal, want -o FILE or a pipe")
		}
		return func() {}, nil
	}
	if release, err = o.lock(o.output); err != nil {
		return nil, err
	}
	switch info, missing := os.Stat(o.output); {
	case missing != nil:
		return release, nil
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file, want a new name", o.output)
	case !o.force:
		err = fmt.Errorf("%s exists, want a new name, or --force to replace it", o.output)
	default:
		return release, nil
	}
	release()
	return nil, err
}

const lockSuffix = ".lock"

// lock makes this process the only bloom that writes the file at path, until release is called. A
// second process waits, and loads what the first has saved. The lock is on a file of its own: the
// filter's file may not exist yet, and save replaces it. A killed process leaves that file without a
// lock. A folder that takes the file takes the filter, too.
func (o *options) lock(path string) (release func(), err error) {
	if path == "-" {
		return nil, errors.New(`"-" for a filter that is written back, want a file (one of that name is ./-)`)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // one lock for all names
	}
	name := path + lockSuffix
	for {
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file, want none of that name", name)
		}
		l := flock.New(name, flock.SetPermissions(0o666))
		locked, err := l.TryLock()
		if err == nil && !locked {
			fmt.Fprintf(o.stderr, "bloom: waiting for another bloom that writes %s\n", printable(path))
			_, err = l.TryLockContext(o.ctx, 20*time.Millisecond)
		}
		if cause := context.Cause(o.ctx); err != nil && cause != nil {
			return nil, cause
		} else if err != nil {
			if inPath, ok := errors.AsType[*fs.PathError](err); ok {
				err = inPath.Err
			}
			return nil, fmt.Errorf("%s cannot be written: %w", path, err)
		}
		ours, err1 := l.Stat()
		named, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(ours, named) {
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
