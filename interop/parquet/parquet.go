// Package parquet finds, reads, fills and writes the Bloom filters of Apache Parquet. Such a
// filter has the values of one column in one row group, so that a reader can skip row groups
// without the value that it looks for.
//
//	for c, err := range parquet.Columns(file, size) {  // the columns with a filter
//		key, err := c.Key("12.50")                     // of a value in text, by the column's type
//		found, err := c.Contains(file, key)            // reads 32 bytes
//		f, err := c.Filter(file)                       // reads all, for many keys
//	}
//
// The filters are ordinary ones of package bloom, with the strategy [bloom.SplitBlock] and the
// hash [Hash]. A key is a value in Parquet's plain encoding, a byte array without its length. [Column.Key]
// and [Append] make keys.
package parquet

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/interop/internal/wire"
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

// New returns an empty filter for n different values with a false-positive rate of at most p,
// from 1e-7 to 0.5, that all readers accept: its size is a power of two, at most 128 MiB.
//
// parquet-go, DuckDB and this package also accept other multiples of 32 bytes. The smallest filter that
// keeps p is bloom.New(n, p, bloom.WithStrategy(bloom.SplitBlock), bloom.WithHash(parquet.Hash)).
//
// The option is [bloom.WithMaxBytes]. New returns the errors of bloom.New, and one that wraps
// bloom.ErrTooLarge for a filter of more than 128 MiB.
func New(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	s, err := bloom.NewScheme(n, p, required...)
	if err != nil {
		return nil, err
	}
	if s.SizeBytes() > maxNew {
		return nil, failure.Errorf(bloom.ErrTooLarge, "n = %d keys at p = %v need %d bytes, want at most %d", n, p, s.SizeBytes(), maxNew)
	}
	size := uint64(1) << bits.Len64(s.SizeBytes()-1)
	return wire.New(bloom.Params{N: n, P: p, M: size * 8, K: k}, required, opts)
}

func schemeOf(size uint64, opts []bloom.Option) (bloom.Scheme, error) {
	return wire.Scheme(bloom.Params{M: size * 8, K: k}, required, opts)
}

// Read reads a filter, its header and its bits, and nothing beyond its end. n and p are not in the data,
// so those of [bloom.BloomFilter.Params] are 0. The option is [bloom.WithMaxBytes].
//
// There is no checksum: damaged bits go unnoticed. Memory is requested as the bytes arrive.
//
// The error wraps bloom.ErrCorrupt if the bytes are not a filter, and io.ErrUnexpectedEOF too if they end too early,
// bloom.ErrIncompatible for an algorithm, hash or compression that is not in the format's version 2, or
// bloom.ErrTooLarge. Read returns any error from r, and io.EOF itself at the end of the stream.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	_, size, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	s, err := schemeOf(size, opts)
	if err != nil {
		return nil, err
	}
	return wire.Read(r, binary.LittleEndian, s)
}

// Write writes the filter, header and bits, as in a Parquet file, in O(m). It may run while
// keys are added: what it writes contains every key whose Add had returned before.
//
// Write returns any error from w, or one that wraps bloom.ErrNotPortable if the filter has another strategy
// than [bloom.SplitBlock], another hash than [Hash], or 2^31 bytes or more, or bloom.ErrInvalid if it is nil or
// zero. Then it writes nothing.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := wire.Portable(f, required...); err != nil {
		return err
	}
	if f.SizeBytes() > maxBytes {
		return failure.Errorf(bloom.ErrNotPortable, "%d bytes, want at most %d", f.SizeBytes(), maxBytes)
	}
	return wire.Write(w, binary.LittleEndian, appendHeader(nil, f.SizeBytes()), f.Words())
}

// Append appends the plain encoding of an INT32, INT64, FLOAT or DOUBLE: the little-endian bytes. 0 and -0 have
// different bytes, and so have different NaNs. For the other types, the bytes of the value are the key. Append knows no
// logical type: see [Column.Key]. Append can be passed to typed.New.
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
