package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/persist"
)

// A filter is what can be asked: a plain one, or one that grows, forgets or removes.
type filter interface {
	ContainsMany(keys [][]byte, found []bool) int
	Stats() bloom.Stats
}

// A keeper takes keys: a plain filter, or one of RedisBloom.
type keeper interface {
	AddMany(keys [][]byte, added []bool) (int, error)
	Stats() bloom.Stats
}

// plainKeeper is a plain filter, which always has room.
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

// load reads the plain filter in a file, or the one that another filter is made into.
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

// plainOf returns what has one set of bits as a plain filter.
func plainOf(f any) (*bloom.BloomFilter, error) {
	switch f := f.(type) {
	case *bloom.BloomFilter:
		return f, nil
	case *counting.Filter:
		return f.BloomFilter(), nil
	case *rebloom.Filter:
		return f.BloomFilter()
	}
	return nil, errors.New("it has more than one set of bits: only check and info read it, and Go programs")
}

// pickColumn returns the filter of a column, and the column, if f is a Parquet file, or else f
// itself.
func pickColumn(f any, from *format, path, column string) (any, *parquet.Column, error) {
	file, ok := f.(*parquetFile)
	if !ok {
		return f, nil, errColumn(path, column, from)
	}
	c, err := file.pick(column)
	if err != nil {
		return nil, nil, err
	}
	picked, err := file.filter(c)
	return picked, &c, err
}

// openToAsk opens a filter and says what keys it is asked for: lines, or of which type.
func openToAsk(e *env, path string, key *secret, column, typ string) (filter, *valueType, error) {
	opened, from, err := open(e, path, key)
	if err != nil {
		return nil, nil, err
	}
	of, picked, err := pickColumn(opened, from, path, column)
	if err != nil {
		return nil, nil, err
	}
	f := of.(filter)
	t, err := valueTypeOf(typ, f, picked)
	if err != nil {
		return nil, nil, errorIn{shown(path), err}
	}
	return f, t, nil
}

// open reads what is in a file, "-" for standard input, whatever its format: a filter, or a
// parquetFile.
func open(e *env, path string, key *secret) (any, *format, error) {
	r, size := e.stdin, int64(-1)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close() // it was only read: closing cannot lose anything
		info, err := file.Stat()
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		r = file
	}
	b := bufio.NewReaderSize(r, bufferSize)
	head, err := b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, nil, errorIn{shown(path), err}
	}
	for i := range formats {
		if !formats[i].is(head, size) {
			continue
		}
		var opts []bloom.Option
		keyed := false
		if formats[i].scheme != nil {
			opts, keyed = needs(formats[i].scheme(head))
		}
		keyOpts, err := key.forFile(keyed)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, keyOpts...)
		if formats[i].columns {
			if len(opts) > 0 {
				return nil, nil, errorIn{shown(path), fmt.Errorf("%w: a Parquet file's filters have no secret key, want none", bloom.ErrIncompatible)}
			}
			f, err := openParquet(path)
			return f, &formats[i], err
		}
		if formats[i].mapped {
			f, err := loadMapped(path, opts)
			return f, &formats[i], err
		}
		f, err := formats[i].read(b, opts)
		if err != nil {
			return nil, nil, errorIn{shown(path), hint(err)}
		}
		if _, err := b.ReadByte(); err != io.EOF {
			return nil, nil, fmt.Errorf("%s: more bytes behind the filter's end, want none", shown(path))
		}
		return f, &formats[i], nil
	}
	return nil, nil, fmt.Errorf("%s: not a filter in any format that is known", shown(path))
}

// hint adds what to do about an error that a secret key causes.
func hint(err error) error {
	text := err.Error()
	if errors.Is(err, bloom.ErrIncompatible) && (strings.Contains(text, "key") || strings.Contains(text, "siphash")) {
		return fmt.Errorf("%w (see bloom help secrets)", err)
	}
	return err
}

// save writes the filter to a file, which is, whatever happens, the old one or the new one,
// or to standard output if path is "-".
func save(e *env, path string, f any, to *format) error {
	if to.write == nil {
		return errNotWritten(path, to)
	}
	write := writerTo(func(w io.Writer) error { return to.writeAny(w, f) })
	if path == "-" {
		return write(e.stdout)
	}
	return persist.Save(path, write)
}

// writeAny writes a filter, one of RedisBloom to its own format as it is.
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

// A writerTo is an io.WriterTo for functions that do not count.
type writerTo func(w io.Writer) error

func (write writerTo) WriteTo(w io.Writer) (int64, error) {
	counted := &writeCounter{w: w}
	err := write(counted)
	return counted.n, err
}

type writeCounter struct {
	w io.Writer
	n int64
}

func (c *writeCounter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
