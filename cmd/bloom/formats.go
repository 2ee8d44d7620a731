package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/cascade"
	"github.com/seed3447c163/bloom/counting"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/bloomfilters"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// A format is a way to write a filter to a file.
type format struct {
	name, about string
	// A file in the format begins with magic. If that is empty, is recognises the first bytes of a
	// file of size bytes, -1 if unknown.
	magic string
	is    func(head []byte, size int64) bool
	read  func(in *inputFile, opts []bloom.Option) (any, error)
	write func(w io.Writer, f *bloom.BloomFilter) error // nil: only read
	// make makes the empty filter of the format's own programs; nil for this package's.
	make  func(n uint64, p float64, opts []bloom.Option) (any, error)
	text  bool   // no binary bytes
	has   string // what only this format has
	lacks string // what this package's own format has and this one does not
}

// reading adapts a function of the library. A file must end with its filter.
func reading[F any](read func(io.Reader, ...bloom.Option) (F, error)) func(*inputFile, []bloom.Option) (any, error) {
	return func(in *inputFile, opts []bloom.Option) (any, error) {
		f, err := read(in, opts...)
		if err != nil {
			return nil, err
		}
		if _, err := in.ReadByte(); err != io.EOF {
			return nil, errors.New("more bytes after the filter's end, want none")
		}
		return f, nil
	}
}

// making adapts a function of the library.
func making[F any](make func(uint64, float64, ...bloom.Option) (F, error)) func(uint64, float64, []bloom.Option) (any, error) {
	return func(n uint64, p float64, opts []bloom.Option) (any, error) { return make(n, p, opts...) }
}

const (
	magic      = "\x89bloom\n"
	redisbloom = "redisbloom"
	bitsOnly   = "n, p, the names of strategy and hash, and a checksum"
)

// expansion is RedisBloom's default.
const expansion = 2

// native is the default.
var native = &formats[0]

// formats are tried in this order: formats with a mark come first.
var formats = []format{
	{
		name:  "bloom",
		about: "this program's own; Go: BloomFilter.WriteTo",
		magic: magic,
		read:  reading(bloom.Read),
		write: func(w io.Writer, f *bloom.BloomFilter) error { _, err := f.WriteTo(w); return err },
	},
	{
		name:  "text",
		about: "the same in base64",
		text:  true,
		is:    isText,
		read:  reading(readText),
		write: writeText,
	},
	{
		name:  "mapped",
		about: "memory-mapped; Go: persist.Open; only read",
		magic: "\x89blmap\n",
		read:  readMapped,
	},
	{
		name:  "counting",
		about: "removes keys; Go: counting; only read",
		magic: "\x89bloomc",
		read:  reading(counting.Read),
		has:   "the counters, which removing needs",
	},
	{
		name:  "scalable",
		about: "grows; Go: scalable; only read",
		magic: "\x89blooms",
		read:  reading(scalable.Read),
	},
	{
		name:  "rotating",
		about: "forgets; Go: rotating; only read",
		magic: "\x89bloomr",
		read: reading(func(r io.Reader, opts ...bloom.Option) (*rotating.Filter, error) {
			return rotating.Read(r, rotating.WithBloom(opts...))
		}),
	},
	{
		name:  "cascade",
		about: "exact for two lists of keys; Go: cascade; only read",
		magic: "\x89bloome",
		read:  reading(cascade.Read),
	},
	{
		name:  "parquet-file",
		about: "a Parquet file, with filters of columns; only read",
		is:    isParquetFile,
		read:  readColumn,
		has:   "the column's name, type and row group",
	},
	{
		name:  "parquet",
		about: "the filter of a Parquet column, with its header",
		is:    isParquetFilter,
		read:  reading(parquet.Read),
		write: parquet.Write,
		make:  making(parquet.New),
		lacks: bitsOnly,
	},
	{
		name:  redisbloom,
		about: "chunks of BF.SCANDUMP: iterator, length, data",
		is:    isRedisBloom,
		read:  reading(rebloom.Read),
		write: func(w io.Writer, f *bloom.BloomFilter) error {
			dump, err := rebloom.FromBloomFilter(f, expansion)
			if err != nil {
				return err
			}
			_, err = dump.WriteTo(w)
			return err
		},
		make: making(func(n uint64, p float64, opts ...bloom.Option) (*rebloom.Filter, error) {
			return rebloom.New(rebloom.Plan{N: n, P: p, Expansion: expansion}, opts...)
		}),
		has:   "the exact number of keys, and the growth",
		lacks: "the names of strategy and hash, and a checksum",
	},
	{
		name:  "npm-bloom-filters",
		about: "JavaScript: saveAsJSON of bloom-filters",
		text:  true,
		is:    isBloomFiltersJSON,
		read:  reading(bloomfilters.Read),
		write: bloomfilters.Write,
		make:  making(bloomfilters.New),
		lacks: bitsOnly,
	},
	{
		name:  "bits-and-blooms-json",
		about: "Go: MarshalJSON of bits-and-blooms/bloom",
		text:  true,
		is:    isBitsAndBloomsJSON,
		read:  reading(bitsandblooms.ReadJSON),
		write: bitsandblooms.WriteJSON,
		make:  making(bitsandblooms.New),
		lacks: bitsOnly,
	},
	{
		name:  "bits-and-blooms",
		about: "Go: WriteTo of bits-and-blooms/bloom",
		is:    isBitsAndBlooms,
		read:  reading(bitsandblooms.Read),
		write: bitsandblooms.Write,
		make:  making(bitsandblooms.New),
		lacks: bitsOnly,
	},
	{
		name:  "guava",
		about: "Java: writeTo of Guava; keys are UTF-8 strings",
		is:    isGuava,
		read:  reading(guava.Read),
		write: guava.Write,
		make: making(func(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
			return guava.New(n, p, guava.Since33_4, opts...)
		}),
		lacks: bitsOnly,
	},
}

func readText(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	decoded := base64.NewDecoder(base64.StdEncoding.Strict(), r) // ignores newlines
	f, err := bloom.Read(decoded, opts...)
	if err != nil {
		return nil, err
	}
	if n, err := io.Copy(io.Discard, decoded); err != nil || n > 0 {
		return nil, fmt.Errorf("%d more bytes after the filter's end, want none: %w", n, cmp.Or(err, bloom.ErrCorrupt))
	}
	return f, nil
}

func writeText(w io.Writer, f *bloom.BloomFilter) error {
	text, err := f.MarshalText()
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// readMapped reads a filter of persist.Open, which other programs may have open.
func readMapped(in *inputFile, opts []bloom.Option) (any, error) {
	if in.path == "-" {
		return nil, errors.New("a memory-mapped filter on standard input, want its file's name")
	}
	file, err := persist.OpenReadOnly(in.path, opts...)
	if err != nil {
		return nil, err
	}
	f := file.Snapshot()
	return f, file.Close()
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

// formatNames returns the formats that can be written.
func formatNames() (names []string) {
	for _, f := range formats {
		if f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}

func formatNamed(name string) (*format, error) {
	for i := range formats {
		if formats[i].name == name && formats[i].write != nil {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("--format %q, want one of %s", name, strings.Join(formatNames(), ", "))
}

// recognised returns the format of a file, or nil.
func recognised(head []byte, size int64) *format {
	for i := range formats {
		if f := &formats[i]; f.magic != "" && bytes.HasPrefix(head, []byte(f.magic)) || f.is != nil && f.is(head, size) {
			return f
		}
	}
	return nil
}

func formatsHelp() string {
	var b strings.Builder
	b.WriteString("The format of a filter that is read is recognised. --format of build and convert\nchooses the format to write.\n\n")
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-22s%s\n", f.name, f.about)
	}
	b.WriteString(`
check and info take all formats. convert also makes plain filters of mapped and
counting ones, of RedisBloom filters with one layer, and of Parquet columns.

Strategy, hash and seed are in the file, or the format implies them. A filter
keeps its positions: convert refuses a format with other positions or hash.`)
	return b.String()
}
