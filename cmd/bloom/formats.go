package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
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

// bitsAndBloomsJSON: an object that begins with one of its three names. Any other object may be
// a log of many gigabytes, and JSON is read whole.
var bitsAndBloomsJSON = regexp.MustCompile(`^\s*\{\s*"[mkb]"\s*:`)

// isBloomFiltersJSON: an object with names that only bloom-filters has.
func isBloomFiltersJSON(head []byte, _ int64) bool {
	if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return false
	}
	for _, name := range []string{`"_size"`, `"_nbHashes"`, `"_filter"`, `"_seed"`} {
		if bytes.Contains(head, []byte(name)) {
			return true
		}
	}
	return false
}

// isRedisBloom: iterator 1 and a header of whole layers, 20 bytes and 53 a layer.
func isRedisBloom(head []byte, _ int64) bool {
	const header, layer, most = 20, 53, 1 << 10 // far more layers than a server makes
	if len(head) < 16 || binary.LittleEndian.Uint64(head) != 1 {
		return false
	}
	length := binary.LittleEndian.Uint64(head[8:])
	return length > header && length <= header+most*layer && (length-header)%layer == 0
}

// firstScheme returns the scheme of the first plain filter in a file that begins with head
// and consists of several.
func firstScheme(head []byte) io.Reader {
	if at := bytes.Index(head, []byte("\x89bloom\n")); at > 0 {
		head = head[at:]
	}
	return bytes.NewReader(head)
}

// isBitsAndBlooms: m, k and the number of bits, and then the words. The format has no mark,
// so its length is what tells.
func isBitsAndBlooms(head []byte, size int64) bool {
	if len(head) < 32 {
		return false
	}
	m, k := binary.BigEndian.Uint64(head), binary.BigEndian.Uint64(head[8:])
	if k < 1 || k > 255 || m < 1 || m > 1<<53 {
		return false
	}
	// The words may have a few bits more than m, as those of FromWithM do.
	has := func(length uint64) bool { return length >= m && (length-1)/64 == (m-1)/64 }
	return (has(binary.BigEndian.Uint64(head[16:])) || has(binary.LittleEndian.Uint64(head[16:]))) &&
		(size < 0 || uint64(size) == 24+(m+63)/64*8)
}

// isGuava: strategy, k and the number of words, and then the words. It has no mark
// either.
func isGuava(head []byte, size int64) bool {
	if len(head) < 14 || head[0] > 1 || head[1] < 1 {
		return false
	}
	words := int64(int32(binary.BigEndian.Uint32(head[2:])))
	return words > 0 && (size < 0 || size == 6+8*words)
}

// needs returns what the filter that begins so cannot be read without: another system's
// strategy, and whether a secret key. Only the beginning is there: whatever else is wrong,
// it is an error of another kind.
func needs(head io.Reader) (opts []bloom.Option, key bool) {
	header := make([]byte, 640) // the longest there is, docs/format.md
	n, _ := io.ReadFull(head, header)
	if header = header[:n]; n < 64 {
		return nil, false
	}
	for _, s := range append(foreign, bloomfilters.Strategy, rebloom.Strategy) {
		if strings.HasPrefix(string(header[48:]), s.Name()) && int(header[13]) == len(s.Name()) {
			opts = append(opts, bloom.WithStrategy(s))
		}
	}
	if h, ok := foreignHash(header[48:], int(header[13]), int(header[14])); ok {
		opts = append(opts, bloom.WithHash(h))
	}
	_, err := bloom.ReadScheme(bytes.NewReader(header), opts...)
	return opts, errors.Is(err, bloom.ErrIncompatible)
}

// foreignHash returns another system's hash whose name follows the strategy's.
func foreignHash(names []byte, strategy, hash int) (bloom.Hash, bool) {
	if strategy+hash > len(names) {
		return bloom.Hash{}, false
	}
	name := string(names[strategy:][:hash])
	for _, h := range []bloom.Hash{parquet.Hash, rebloom.Hash} {
		if name == h.Name() {
			return h, true
		}
	}
	// The seed is part of the other one's name.
	own := bloomfilters.Hash.Name()
	prefix := own[:strings.LastIndex(own, ":")+1]
	if seed, err := strconv.ParseUint(strings.TrimPrefix(name, prefix), 10, 64); err == nil {
		if h, err := bloomfilters.HashOf(seed); err == nil && h.Name() == name {
			return h, true
		}
	}
	return bloom.Hash{}, false
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
