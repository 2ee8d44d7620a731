package main

import (
	"bytes"
	"encoding/base64"
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
	"github.com/seed3447c163/bloom/rotating"
	"github.com/seed3447c163/bloom/scalable"
)

// A format is a way to write a filter down.
type format struct {
	name, about string
	// is reports whether a file that begins with head and has size bytes, -1 if that is
	// unknown, is one.
	is    func(head []byte, size int64) bool
	read  func(r io.Reader, opts []bloom.Option) (any, error)
	write func(w io.Writer, f *bloom.BloomFilter) error // nil if it is only read
	// make, if not nil, makes the empty filter that the format's own programs would make.
	make func(n uint64, p float64, opts []bloom.Option) (any, error)
	// scheme, unless the format has no own strategies and no secret keys, returns the bytes in
	// which a file that begins with head says them.
	scheme func(head []byte) io.Reader
	mapped bool // of persist.Open: not read from a stream
	// columns says that there is a filter for each of some columns: a Parquet file, which is not
	// read from a stream either.
	columns bool
	says    // what a file says beside the bits
}

// says is what a file of a format has beside the bits and where they are: n and p, the names of
// strategy and hash, a checksum. A conversion to one without it loses it.
type says struct{ plan, names, checksum bool }

// reading and making are functions of the library as formats have them.
func reading[F any](read func(io.Reader, ...bloom.Option) (F, error)) func(io.Reader, []bloom.Option) (any, error) {
	return func(r io.Reader, opts []bloom.Option) (any, error) {
		f, err := read(r, opts...)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

func making[F any](make func(uint64, float64, ...bloom.Option) (F, error)) func(uint64, float64, []bloom.Option) (any, error) {
	return func(n uint64, p float64, opts []bloom.Option) (any, error) {
		f, err := make(n, p, opts...)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

const redisbloom = "redisbloom"

// native is what is written unless something else is asked for.
var native = &formats[0]

// formats are tried in this order: those that say what they are come first.
var formats = []format{
	{
		name:   "bloom",
		says:   says{true, true, true},
		about:  "this program's own, and Go's BloomFilter.WriteTo",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloom\n")) },
		read:   reading(bloom.Read),
		write:  func(w io.Writer, f *bloom.BloomFilter) error { _, err := f.WriteTo(w); return err },
		scheme: func(head []byte) io.Reader { return bytes.NewReader(head) },
	},
	{
		name:  "text",
		says:  says{true, true, true},
		about: "the same in base64, as in JSON",
		is: func(head []byte, _ int64) bool {
			return strings.HasPrefix(strings.NewReplacer("\r", "", "\n", "").Replace(string(head)), "iWJsb29tCg")
		},
		read:  readText,
		write: writeText,
		scheme: func(head []byte) io.Reader {
			return base64.NewDecoder(base64.StdEncoding, bytes.NewReader(head))
		},
	},
	{
		name:   "mapped",
		says:   says{true, true, false},
		about:  "memory-mapped, of Go's persist.Open; is read, not written",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89blmap\n")) },
		mapped: true,
		scheme: mappedScheme,
	},
	{
		name:   "counting",
		says:   says{true, true, true},
		about:  "one that can remove keys, of Go's counting.Filter.WriteTo; is read, not written",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloomc")) },
		read:   reading(counting.Read),
		scheme: firstScheme,
	},
	{
		name:  "scalable",
		about: "one that grows, of Go's scalable.Filter.WriteTo; is read, not written",
		is:    func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89blooms")) },
		read: reading(func(r io.Reader, opts ...bloom.Option) (*scalable.Filter, error) {
			return scalable.Read(r, scalable.WithBloom(opts...))
		}),
		scheme: firstScheme,
	},
	{
		name:  "rotating",
		about: "one that forgets, of Go's rotating.Filter.WriteTo; is read, not written",
		is:    func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloomr")) },
		read: reading(func(r io.Reader, opts ...bloom.Option) (*rotating.Filter, error) {
			return rotating.Read(r, rotating.WithBloom(opts...))
		}),
		scheme: firstScheme,
	},
	{
		name:   "cascade",
		about:  "exact for two lists of keys, of Go's cascade.Cascade.WriteTo; is read, not written",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloome")) },
		read:   reading(cascade.Read),
		scheme: firstScheme,
	},
	{
		name:    "parquet-file",
		about:   "Apache Parquet, see --column of check, info and convert; is read, not written",
		is:      isParquetFile,
		columns: true,
	},
	{
		name:  "parquet",
		about: "the filter of a column in Apache Parquet, with its header",
		is:    isParquetFilter,
		read:  reading(parquet.Read),
		write: parquet.Write,
		make:  making(parquet.New),
	},
	{
		name:  redisbloom,
		says:  says{plan: true},
		about: "RedisBloom: for each chunk of BF.SCANDUMP 8 bytes iterator, 8 length, data",
		is:    isRedisBloom,
		read: reading(func(r io.Reader, opts ...bloom.Option) (*rebloom.Filter, error) {
			return rebloom.Read(r, rebloom.WithBloom(opts...))
		}),
		write: func(w io.Writer, f *bloom.BloomFilter) error {
			dump, err := rebloom.FromBloomFilter(f)
			if err != nil {
				return err
			}
			_, err = dump.WriteTo(w)
			return err
		},
		make: making(func(n uint64, p float64, opts ...bloom.Option) (*rebloom.Filter, error) {
			return rebloom.New(n, p, rebloom.WithBloom(opts...))
		}),
	},
	{
		name:  "npm-bloom-filters",
		about: "JSON of JavaScript's bloom-filters, saveAsJSON",
		is:    isBloomFiltersJSON,
		read:  reading(bloomfilters.Read),
		write: bloomfilters.Write,
		make:  making(bloomfilters.New),
	},
	{
		name:  "bits-and-blooms-json",
		about: "MarshalJSON of Go's github.com/bits-and-blooms/bloom",
		is:    func(head []byte, _ int64) bool { return bitsAndBloomsJSON.Match(head) },
		read:  reading(bitsandblooms.ReadJSON),
		write: bitsandblooms.WriteJSON,
		make:  making(bitsandblooms.New),
	},
	{
		name:  "bits-and-blooms",
		about: "WriteTo of Go's github.com/bits-and-blooms/bloom",
		is:    isBitsAndBlooms,
		read:  reading(bitsandblooms.Read),
		write: bitsandblooms.Write,
		make:  making(bitsandblooms.New),
	},
	{
		name:  "guava",
		about: "writeTo of Java's com.google.common.hash.BloomFilter",
		is:    isGuava,
		read:  reading(guava.Read),
		write: guava.Write,
		make: making(func(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
			return guava.New(n, p, guava.Since33_4, opts...)
		}),
	},
}

func readText(r io.Reader, opts []bloom.Option) (any, error) {
	decoded := base64.NewDecoder(base64.StdEncoding.Strict(), r) // ignores newlines
	f, err := bloom.Read(decoded, opts...)
	if err != nil {
		return nil, err
	}
	if n, err := io.Copy(io.Discard, decoded); err != nil {
		return nil, err
	} else if n > 0 {
		return nil, fmt.Errorf("%d more bytes behind the filter's end, want none", n)
	}
	return f, nil
}

func writeText(w io.Writer, f *bloom.BloomFilter) error {
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := f.WriteTo(encoder); err != nil {
		return err
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// formatNames are the formats that can be written.
func formatNames() (names []string) {
	for _, f := range formats {
		if f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}
