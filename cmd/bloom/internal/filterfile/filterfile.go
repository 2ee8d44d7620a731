// Package filterfile reads and writes filters in files of this library and of other systems.
package filterfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/persist"
)

// Formats lists all formats, in the order in which Open tries them: formats with a magic come first.
var Formats = []*Format{
	&Native, &text, &mapped, &count, &Scalable, &Rotating, &exact,
	&parquetFile, &parquetFilter, &redisBloom, &bloomFilters, &bitsAndBloomsJSON, &bitsAndBlooms, &guavaFile,
}

// Open reads a filter. It returns a filter of this library, or Columns, and the format.
func Open(file *File) (any, *Format, error) {
	in := &input{bufio.NewReaderSize(file, 64<<10), file}
	head, err := in.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	i := slices.IndexFunc(Formats, func(f *Format) bool { return f.is(head, file.Size) })
	if i < 0 {
		return nil, nil, errors.New("not a filter in a known format")
	}
	from := Formats[i]
	if file.Column != "" && from != &parquetFile {
		return nil, nil, fmt.Errorf("--column %q for a %s filter, want it only for a Parquet file", file.Column, from.Name)
	}
	opts, keyed := from.requires(head)
	secret, err := file.Secret(keyed)
	if err != nil {
		return nil, nil, err
	}
	if keyed && len(secret) == 0 {
		return nil, nil, errors.New("the filter has a secret, want --secret-file or $BLOOM_SECRET (see bloom help secrets)")
	}
	f, err := from.read(in, slices.Concat(opts, secret, file.Options))
	return f, from, err
}

// requires returns the options that a filter of this library needs if its header names the strategy or the hash of
// another system. keyed reports whether it has a secret.
func (f *Format) requires(head []byte) (opts []bloom.Option, keyed bool) {
	if f.header == nil {
		return nil, false
	}
	strategy, hash, err := bloom.ReadNames(bytes.NewReader(f.header(head)))
	if err != nil { // f.read will return the error
		return nil, false
	}
	for _, f := range Formats {
		if i := slices.IndexFunc(f.strategies, func(s bloom.Strategy) bool { return s.Name() == strategy }); i >= 0 {
			opts = append(opts, bloom.WithStrategy(f.strategies[i]))
		}
		if f.hash != nil {
			if h, ok := f.hash(hash); ok {
				opts = append(opts, bloom.WithHash(h))
			}
		}
	}
	return opts, hash == "siphash"
}

// Strategies returns the strategies of other systems that work with the hashes of this library.
func Strategies() (all []bloom.Strategy) {
	for _, f := range Formats {
		for _, s := range f.strategies {
			if f.hash == nil && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Keeps reports whether a filter can be read, changed and written in the format.
func (f *Format) Keeps() bool { return f.write != nil || f.itself != nil }

// Grows reports whether filters of the format grow.
func (f *Format) Grows() bool { return f.itself != nil }

// Write writes a filter of the format, or a filter that Plain can convert. It refuses other filters.
func (f *Format) Write(w io.Writer, filter any) error {
	if f.itself != nil {
		if self, ok := f.itself(filter); ok {
			_, err := self.WriteTo(w)
			return err
		}
	}
	plain, err := Plain(filter)
	if err != nil {
		return err
	}
	return f.write(w, plain)
}

// Plain returns f as a bloom.BloomFilter. It refuses a filter that consists of several, such as layers.
func Plain(f any) (*bloom.BloomFilter, error) {
	switch f := f.(type) {
	case *bloom.BloomFilter:
		return f, nil
	case *persist.File:
		return f.BloomFilter(), nil
	case *counting.Filter:
		return f.BloomFilter(), nil
	case *redisbloom.Filter:
		return f.BloomFilter()
	case Columns:
		return f.Only()
	}
	return nil, errors.New("more than one set of bits in this filter; only add, check, dedup, info and Go programs read it")
}

// Names returns the names of the formats in which a plain filter can be written.
func Names() (names []string) {
	for _, f := range Formats {
		if f.write != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Named returns the format of that name, if a plain filter can be written in it.
func Named(name string) (*Format, error) {
	for _, f := range Formats {
		if f.Name == name && f.write != nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("want one of %s", strings.Join(Names(), ", "))
}
