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
	"github.com/spf13/cobra"
)

// A format is a way to write a filter to a file.
type format struct {
	name, about string
	// is reports whether a file of size bytes, -1 if unknown, that begins with head has the format.
	is    func(head []byte, size int64) bool
	read  func(r io.Reader, opts []bloom.Option) (any, error)
	write func(w io.Writer, f *bloom.BloomFilter) error // nil: only read
	// make makes the empty filter of the format's own programs; nil for this package's.
	make func(n uint64, p float64, opts []bloom.Option) (any, error)
	// scheme returns the part of head that names strategy and hash; nil if the format implies them.
	scheme  func(head []byte) io.Reader
	mapped  bool // a file of persist.Open, not a stream
	columns bool // a Parquet file, with a filter per column
	text    bool // no binary bytes
	says
}

// says is what a file says in addition to m, k and the bits: n and p, the names of strategy and
// hash, a checksum.
type says struct{ plan, names, checksum bool }

// reading and making adapt functions of the library.
func reading[F any](read func(io.Reader, ...bloom.Option) (F, error)) func(io.Reader, []bloom.Option) (any, error) {
	return func(r io.Reader, opts []bloom.Option) (any, error) { return read(r, opts...) }
}

func making[F any](make func(uint64, float64, ...bloom.Option) (F, error)) func(uint64, float64, []bloom.Option) (any, error) {
	return func(n uint64, p float64, opts []bloom.Option) (any, error) { return make(n, p, opts...) }
}

const redisbloom = "redisbloom"

// native is the default.
var native = &formats[0]

// formats are tried in this order: formats with a mark come first.
var formats = []format{
	{
		name:   "bloom",
		says:   says{true, true, true},
		about:  "this program's own; Go: BloomFilter.WriteTo",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloom\n")) },
		read:   reading(bloom.Read),
		write:  func(w io.Writer, f *bloom.BloomFilter) error { _, err := f.WriteTo(w); return err },
		scheme: func(head []byte) io.Reader { return bytes.NewReader(head) },
	},
	{
		name:  "text",
		says:  says{true, true, true},
		about: "the same in base64",
		text:  true,
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
		about:  "memory-mapped; Go: persist.Open; only read",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89blmap\n")) },
		mapped: true,
		scheme: mappedScheme,
	},
	{
		name:   "counting",
		says:   says{true, true, true},
		about:  "removes keys; Go: counting; only read",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloomc")) },
		read:   reading(counting.Read),
		scheme: firstScheme,
	},
	{
		name:  "scalable",
		about: "grows; Go: scalable; only read",
		is:    func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89blooms")) },
		read: reading(func(r io.Reader, opts ...bloom.Option) (*scalable.Filter, error) {
			return scalable.Read(r, scalable.WithBloom(opts...))
		}),
		scheme: firstScheme,
	},
	{
		name:  "rotating",
		about: "forgets; Go: rotating; only read",
		is:    func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloomr")) },
		read: reading(func(r io.Reader, opts ...bloom.Option) (*rotating.Filter, error) {
			return rotating.Read(r, rotating.WithBloom(opts...))
		}),
		scheme: firstScheme,
	},
	{
		name:   "cascade",
		about:  "exact for two lists of keys; Go: cascade; only read",
		is:     func(head []byte, _ int64) bool { return bytes.HasPrefix(head, []byte("\x89bloome")) },
		read:   reading(cascade.Read),
		scheme: firstScheme,
	},
	{
		name:    "parquet-file",
		about:   "a Parquet file, with filters of columns; only read",
		is:      isParquetFile,
		columns: true,
	},
	{
		name:  "parquet",
		about: "the filter of a Parquet column, with its header",
		is:    isParquetFilter,
		read:  reading(parquet.Read),
		write: parquet.Write,
		make:  making(parquet.New),
	},
	{
		name:  redisbloom,
		says:  says{plan: true},
		about: "chunks of BF.SCANDUMP: iterator, length, data",
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
		about: "JavaScript: saveAsJSON of bloom-filters",
		text:  true,
		is:    isBloomFiltersJSON,
		read:  reading(bloomfilters.Read),
		write: bloomfilters.Write,
		make:  making(bloomfilters.New),
	},
	{
		name:  "bits-and-blooms-json",
		about: "Go: MarshalJSON of bits-and-blooms/bloom",
		text:  true,
		is:    func(head []byte, _ int64) bool { return bitsAndBloomsJSON.Match(head) },
		read:  reading(bitsandblooms.ReadJSON),
		write: bitsandblooms.WriteJSON,
		make:  making(bitsandblooms.New),
	},
	{
		name:  "bits-and-blooms",
		about: "Go: WriteTo of bits-and-blooms/bloom",
		is:    isBitsAndBlooms,
		read:  reading(bitsandblooms.Read),
		write: bitsandblooms.Write,
		make:  making(bitsandblooms.New),
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
		return nil, fmt.Errorf("%d more bytes after the filter's end, want none", n)
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

// formatNames returns the formats that can be written.
func formatNames() (names []string) {
	for _, f := range formats {
		if f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}

func formatFlag(cmd *cobra.Command, as *string, standard string) {
	cmd.Flags().StringVar(as, "format", standard, "`FORMAT` to write (see bloom help formats)")
	complete(cmd, "format", formatNames()...)
}

func formatNamed(name string) (*format, error) {
	for i := range formats {
		if formats[i].name == name && formats[i].write != nil {
			return &formats[i], nil
		}
	}
	return nil, fmt.Errorf("--format %q, want one of %s", name, strings.Join(formatNames(), ", "))
}

func formatsHelp() string {
	var b strings.Builder
	b.WriteString("The format of a filter that is read is recognised. --format of build and convert\nchooses the format to write.\n\n")
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-22s%s\n", f.name, f.about)
	}
	b.WriteString("\nStrategy, hash and seed are in the file, or the format implies them. A filter\nkeeps its positions: convert refuses a format with other positions or hash.")
	return b.String()
}
