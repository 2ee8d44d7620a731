// Package parquet finds, reads and writes the Bloom filters of Apache Parquet. Such a filter has the values of one
// column in one row group. With it, a reader skips row groups that do not have a value.
//
//	for c, err := range parquet.Columns(file, size) {  // the columns with a filter
//		key, err := c.Key("12.50")                     // of a value in text, by the column's type
//		found, err := c.Contains(file, key)            // reads 32 bytes
//		f, err := c.Filter(file)                       // reads all, for many keys
//	}
//
// The filters are of type [bloom.BloomFilter], with the strategy [bloom.SplitBlock] and the hash [Hash]. A key is a
// value in Parquet's plain encoding, for a byte array without its length. [Column.Key] and [Append] make keys.
package parquet

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
	"github.com/seed3447c163/bloom/interop/internal/xxh64"
)

// Hash is the hash of Parquet's filters: XXH64 with seed 0.
var Hash = bloom.NewHash64("xxh64", memory.Own(sum))

func sum(key []byte) uint64 { return xxh64.Sum(0, key) }

const (
	k          = 8
	blockBytes = 32
	maxBytes   = math.MaxInt32
	maxNew     = 128 << 20 // the largest filter that Arrow reads
)

var required = []bloom.Option{bloom.WithStrategy(bloom.SplitBlock), bloom.WithHash(Hash)}

// New returns an empty filter for n different values with a false-positive rate of at most p, 1e-7 <= p <= 0.5. All
// readers accept it, because its size is a power of two, at most 128 MiB.
//
// parquet-go, DuckDB and this package also accept other multiples of 32 bytes. For them, the smallest filter that keeps
// p is bloom.New(n, p, bloom.WithStrategy(bloom.SplitBlock), bloom.WithHash(parquet.Hash)).
//
// The only option is [bloom.WithMaxBytes]. New returns the errors of bloom.New, and one that wraps bloom.ErrTooLarge
// for a filter of more than 128 MiB.
func New(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	s, err := bloom.NewScheme(n, p, required...)
	if err != nil {
		return nil, err
	}
	if s.SizeBytes() > maxNew {
		return nil, failure.Errorf(bloom.ErrTooLarge, "n = %d keys at p = %v need %d bytes, want at most %d", n, p, s.SizeBytes(), maxNew)
	}
	size := uint64(1) << bits.Len64(s.SizeBytes()-1)
	return foreign.New(bloom.Params{N: n, P: p, M: size * 8, K: k}, required, opts)
}

func schemeOf(size uint64, opts []bloom.Option) (*bloom.Scheme, error) {
	return foreign.Scheme(bloom.Params{M: size * 8, K: k}, required, opts)
}

// Read reads a filter, its header and its bits, and nothing beyond its end. The data has no n and p, so
// [bloom.BloomFilter.Params] has 0 for both. The only option is [bloom.WithMaxBytes].
//
// Read allocates memory as the bytes arrive. The format has no checksum, so damaged bits are not detected.
//
// The error wraps bloom.ErrCorrupt if the bytes are not a filter, and also io.ErrUnexpectedEOF if they end too early.
// It wraps bloom.ErrIncompatible for an algorithm, hash or compression (parquet-go's gzip) that is not in version 2 of
// the format, and bloom.ErrTooLarge if the filter is larger than WithMaxBytes or the machine's memory. If r fails, it
// wraps the error of r. At the end of the stream Read returns io.EOF itself.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	_, size, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	s, err := schemeOf(size, opts)
	if err != nil {
		return nil, err
	}
	return foreign.Read(r, binary.LittleEndian, s)
}

// Write writes the header and the bits of the filter as in a Parquet file, in O(m). It may run while keys are added: it
// writes every key whose Add had returned before the call.
//
// Write returns any error from w. It writes nothing and returns an error that wraps bloom.ErrNotPortable if the filter
// has another strategy than [bloom.SplitBlock], another hash than [Hash], or 2^31 bytes or more, or bloom.ErrInvalid if
// f is nil or the zero BloomFilter.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := foreign.Portable(f, required...); err != nil {
		return err
	}
	if f.SizeBytes() > maxBytes {
		return failure.Errorf(bloom.ErrNotPortable, "%d bytes, want at most %d", f.SizeBytes(), maxBytes)
	}
	return foreign.Write(w, binary.LittleEndian, appendHeader(nil, f.SizeBytes()), f.Words())
}

// Append appends the plain encoding of an INT32, INT64, FLOAT or DOUBLE: its little-endian bytes. 0 and -0 have
// different bytes, and NaN has several encodings. For byte arrays, the bytes of the value are the key. For values of
// logical types, see [Column.Key]. typed.New takes Append.
func Append[T int32 | int64 | float32 | float64](dst []byte, v T) []byte {
	switch v := any(v).(type) {
	case int32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	case int64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v))
	case float32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	case float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}
