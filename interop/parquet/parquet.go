// Package parquet finds, reads, fills and writes the Bloom filters of Apache Parquet. Such a
// filter has the values of one column in one row group, so that a reader can skip row groups
// without the value that it looks for.
//
//	columns, err := parquet.Columns(file, size)    // those with a filter
//	found, err := columns[0].Contains(file, key)   // reads 32 bytes
//	f, err := columns[0].Filter(file)              // reads all, for many keys
//	f.Contains([]byte("name"))                     // a BYTE_ARRAY
//	f.Contains(parquet.AppendInt64(nil, 42))       // an INT64
//
// The filters are ordinary ones of package bloom, with the strategy [bloom.SplitBlock] and the
// hash [Hash]. A key is a value in Parquet's plain encoding, a byte array without its length.
// The Append functions encode the other physical types.
package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/xxh64"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// Hash is that of Parquet's filters: XXH64 with seed 0.
var Hash = bloom.NewHash64("xxh64", func(key []byte) uint64 { return xxh64.Sum(0, key) })

// maxNew is the largest filter that Arrow reads, in bytes.
const maxNew = 128 << 20

// New returns an empty filter for n different values with a false-positive rate of at most p,
// from 1e-7 to 0.5, that all readers accept: its size is a power of two, at most 128 MiB.
//
// parquet-go, DuckDB and this package also accept other multiples of 32 bytes: see [NewBytes].
// The smallest filter that keeps p is bloom.New(n, p, bloom.WithStrategy(bloom.SplitBlock),
// bloom.WithHash(parquet.Hash)).
//
// Options are those of [bloom.New] except strategy and hash. The errors are those of bloom.New;
// a filter of more than 128 MiB wraps bloom.ErrTooLarge.
func New(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	s, err := bloom.NewScheme(n, p, ours(opts)...)
	if err != nil {
		return nil, err
	}
	if s.SizeBytes() > maxNew {
		return nil, fmt.Errorf("%w: n = %d keys at p = %v need %d bytes, want at most %d", bloom.ErrTooLarge, n, p, s.SizeBytes(), maxNew)
	}
	size := uint64(1) << bits.Len64(s.SizeBytes()-1)
	s, err = schemeWith(bloom.Params{N: n, P: p, M: size * 8, K: k}, opts)
	if err != nil {
		return nil, err
	}
	return s.Filter()
}

// NewBytes returns an empty filter of the given size: a multiple of 32 bytes below 2^31. The
// errors are those of [bloom.NewWithParams].
func NewBytes(size uint64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	s, err := schemeOf(size, opts)
	if err != nil {
		return nil, err
	}
	return s.Filter()
}

func schemeOf(size uint64, opts []bloom.Option) (bloom.Scheme, error) {
	return schemeWith(bloom.Params{M: size * 8, K: k}, opts)
}

func schemeWith(p bloom.Params, opts []bloom.Option) (bloom.Scheme, error) {
	s, err := bloom.NewSchemeWithParams(p, ours(opts)...)
	if err != nil {
		return s, err
	}
	return s, check(s)
}

const (
	k        = 8
	maxBytes = math.MaxInt32
)

func ours(opts []bloom.Option) []bloom.Option {
	return append([]bloom.Option{bloom.WithStrategy(bloom.SplitBlock), bloom.WithHash(Hash)}, opts...)
}

// check refuses what is no filter of Parquet.
func check(s bloom.Scheme) error {
	switch {
	case wire.Differs(s, bloom.SplitBlock, Hash) != "":
		return fmt.Errorf("%w: the options ask for %s", bloom.ErrInvalid, wire.Differs(s, bloom.SplitBlock, Hash))
	case s.SizeBytes() > maxBytes:
		return fmt.Errorf("%w: %d bytes, want at most %d", bloom.ErrTooLarge, s.SizeBytes(), maxBytes)
	}
	return nil
}

// Read reads a filter, its header and its bits, from where a file has it, and nothing beyond
// its end. n and p are not in the data, so those of [bloom.BloomFilter.Params] are 0. The
// option is [bloom.WithMaxBytes].
//
// The header says the algorithm, the hash and the compression; others than the ones of the
// format's version 2 are refused. There is no checksum: damaged bits go unnoticed.
// Memory is asked for as the bytes arrive.
//
// The error wraps bloom.ErrCorrupt if the bytes are not a filter, and io.ErrUnexpectedEOF too
// if they end too early, bloom.ErrIncompatible for another algorithm, hash or compression,
// bloom.ErrTooLarge, or is that of r. At the end of the stream it is io.EOF itself.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	_, size, err := readHeader(oneByOne{r})
	if err != nil {
		return nil, err
	}
	s, err := schemeOf(size, opts)
	if err != nil {
		return nil, err
	}
	return wire.Read(r, binary.LittleEndian, s)
}

// Write writes the filter, header and bits, as a Parquet file has it, in O(m). It may run while
// keys are added: what it writes contains every key whose Add had returned before.
//
// The error is that of w, or wraps bloom.ErrNotPortable if the filter has another strategy than
// [bloom.SplitBlock] or another hash than [Hash], or 2^31 bytes or more. Then nothing is written.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := check(f.Scheme()); err != nil {
		return fmt.Errorf("%w: it is %v, want strategy %q, hash %q and less than 2^31 bytes", bloom.ErrNotPortable, f, bloom.SplitBlock, Hash)
	}
	return wire.Write(w, binary.LittleEndian, appendHeader(nil, f.SizeBytes()), f.Words())
}

// The plain encodings of Parquet's physical types. BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY and INT96 are
// the bytes themselves. Each is an append function for typed.Over.

// AppendInt32 appends an INT32, such as a DATE or an integer of 8 to 32 bits.
func AppendInt32(dst []byte, v int32) []byte { return binary.LittleEndian.AppendUint32(dst, uint32(v)) }

// AppendInt64 appends an INT64, such as a TIMESTAMP.
func AppendInt64(dst []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(v)) }

// AppendFloat appends a FLOAT. 0 and -0 are different values, as all of NaN's bits are.
func AppendFloat(dst []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
}

// AppendDouble appends a DOUBLE; as to 0 and NaN see [AppendFloat].
func AppendDouble(dst []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
}
