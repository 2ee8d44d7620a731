package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

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

// A keeper takes keys: a plain filter or one of RedisBloom.
type keeper interface {
	AddMany(keys [][]byte, added []bool) (int, error)
	Stats() bloom.Stats
}

// plainKeeper is a plain filter. It always has room.
type plainKeeper struct{ *bloom.BloomFilter }

func (p plainKeeper) AddMany(keys [][]byte, added []bool) (int, error) {
	return p.BloomFilter.AddMany(keys, added), nil
}

func keeperOf(f any) keeper {
	if plain, ok := f.(*bloom.BloomFilter); ok {
		return plainKeeper{plain}
	}
	return f.(keeper)
}

// load reads a plain filter, or a filter that can be made into one.
func load(e *env, path string, key *secret) (*bloom.BloomFilter, *format, error) {
	f, from, err := open(e, path, key)
	if err != nil {
		return nil, nil, err
	}
	if from.columns {
		return nil, nil, errColumns(path)
	}
	p, err := plainOf(f)
	if err != nil {
		return nil, nil, errorIn{fmt.Sprintf("%s: a %s filter", shown(path), from.name), err}
	}
	return p, from, nil
}

// plainOf returns a filter with one set of bits as a plain filter.
func plainOf(f any) (*bloom.BloomFilter, error) {
	switch f := f.(type) {
	case *bloom.BloomFilter:
		return f, nil
	case *counting.Filter:
		return f.BloomFilter(), nil
	case *rebloom.Filter:
		return f.BloomFilter()
	}
	return nil, errors.New("it has more than one set of bits; only check and info read it, and Go programs")
}

// openToQuery opens a filter, or that of a column, and returns the encoding of its keys, nil for
// text as it is.
func openToQuery(e *env, path string, key *secret, column string) (filter, encoding, error) {
	opened, from, err := open(e, path, key)
	if err != nil {
		return nil, nil, err
	}
	f, picked, err := pickColumn(opened, from, path, column)
	if err != nil {
		return nil, nil, err
	}
	if picked == nil {
		return f.(filter), nil, nil
	}
	encode, err := encodingOf(*picked)
	return f.(filter), encode, err
}

// open reads a filter in any format, or a parquetFile. "-" is standard input.
func open(e *env, path string, key *secret) (any, *format, error) {
	f, from, err := openAny(e, path, key)
	if cause := context.Cause(e.ctx); err != nil && cause != nil {
		err = cause
	}
	return f, from, err
}

func openAny(e *env, path string, key *secret) (any, *format, error) {
	r, size := e.stdin, int64(-1)
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
		r = file
	}
	b := bufio.NewReaderSize(source{e.ctx, r, &progress{}}, bufferSize)
	head, err := b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, nil, errorIn{shown(path), err}
	}
	for i := range formats {
		from := &formats[i]
		if !from.is(head, size) {
			continue
		}
		var opts []bloom.Option
		keyed := false
		if from.scheme != nil {
			opts, keyed = requires(from.scheme(head))
		}
		keyOpts, err := key.forFile(keyed)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, keyOpts...)
		switch {
		case from.columns && len(opts) > 0:
			return nil, nil, errorIn{shown(path), fmt.Errorf("%w: a Parquet file's filters have no secret key, want none", bloom.ErrIncompatible)}
		case from.columns:
			f, err := openParquet(path)
			return f, from, err
		case from.mapped:
			f, err := loadMapped(path, opts)
			return f, from, err
		}
		f, err := from.read(b, opts)
		if err != nil {
			return nil, nil, errorIn{shown(path), explain(err)}
		}
		if _, err := b.ReadByte(); err != io.EOF {
			return nil, nil, fmt.Errorf("%s: more bytes after the filter's end, want none", shown(path))
		}
		return f, from, nil
	}
	return nil, nil, fmt.Errorf("%s: not a filter in a known format", shown(path))
}

// loadMapped reads a filter of persist.Open, which other programs may have open.
func loadMapped(path string, opts []bloom.Option) (*bloom.BloomFilter, error) {
	if path == "-" {
		return nil, errors.New("a memory-mapped filter on standard input, want its file's name")
	}
	file, err := persist.OpenReadOnly(path, opts...)
	if err != nil {
		return nil, explain(err)
	}
	f := file.Snapshot()
	return f, file.Close()
}

// save writes the filter to a file in one step, or to standard output for "-".
func save(e *env, path string, f any, to *format) error {
	if to.write == nil {
		return errNotWritten(path, to)
	}
	if path == "-" {
		return to.writeAny(e.stdout, f)
	}
	if cause := context.Cause(e.ctx); cause != nil {
		return cause
	}
	var failed error
	err := persist.Save(path, writerTo(func(w io.Writer) error {
		failed = to.writeAny(w, f)
		return failed
	}))
	if failed != nil {
		return errorIn{shown(path), failed}
	}
	return err
}

// writeAny writes a filter. One of RedisBloom stays as it is in its own format.
func (to *format) writeAny(w io.Writer, f any) error {
	if dump, ok := f.(*rebloom.Filter); ok && to.name == redisbloom {
		_, err := dump.WriteTo(w)
		return err
	}
	plain, err := plainOf(f)
	if err != nil {
		return err
	}
	return to.write(w, plain)
}

// A writerTo is a function as an io.WriterTo. persist.Save ignores the count.
type writerTo func(w io.Writer) error

func (write writerTo) WriteTo(w io.Writer) (int64, error) { return 0, write(w) }
