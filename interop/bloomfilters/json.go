package bloomfilters

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/remaining"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// The format that JSON.stringify makes of saveAsJSON:
//
//	{"type":"BloomFilter","_size":m,"_nbHashes":k,"_filter":{"size":…,"content":"…"},"_seed":s}
//
// size is m rounded up to a multiple of 8, content is base64 of size/8 bytes: bit i of the
// filter is bit i%8 of byte i/8. There is no checksum.

// Read reads a filter that bloom-filters 2 or 3 or [Write] has made, to the end of r, and
// nothing but white space after it. The data has no n and p, so
// [bloom.BloomFilter.Params] has 0 for both. The only option is [bloom.WithMaxBytes]. If _size and _nbHashes
// come after _filter, Read needs the memory of the bits twice, and WithMaxBytes does not limit the
// first copy: bound untrusted text by an io.LimitReader.
//
// The error wraps bloom.ErrIncompatible if the filter is of version 1 or older, whose positions
// differ, bloom.ErrCorrupt if the text is not a filter, or bloom.ErrTooLarge if the filter is larger
// than WithMaxBytes or has more than 2^32 bits. Read returns any error from r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var kind string
	var m, k, size uint64
	var seed *uint64
	var f *bloom.BloomFilter
	err := wire.ReadJSON(r, wire.Object{
		"type": &kind, "_size": &m, "_nbHashes": &k, "_seed": &seed,
		"_filter": wire.Object{"size": &size, "content": wire.Bits{
			Ready: func() bool { return m > 0 && k > 0 },
			Read: func(bits io.Reader) (err error) {
				f, err = readBits(bits, m, k, opts)
				return err
			},
		}},
	})
	switch {
	case kind != "BloomFilter" && (kind != "" || err == nil):
		return nil, format.Errorf(bloom.ErrCorrupt, "an object of type %.40q, want BloomFilter", kind)
	case errors.Is(err, wire.ErrArray):
		return nil, format.Errorf(bloom.ErrIncompatible, "_filter is an array, as in bloom-filters before version 2, which has other positions")
	case err != nil:
		return nil, err
	case f == nil || seed == nil:
		return nil, format.Errorf(bloom.ErrCorrupt, "an object without content or _seed, want both, _size and _nbHashes")
	case size != bytesFor(m)*8:
		return nil, format.Errorf(bloom.ErrCorrupt, "_filter has size %d, want %d for %d bits", size, bytesFor(m)*8, m)
	}
	hash, err := HashOf(*seed)
	if err != nil {
		return nil, format.As(bloom.ErrCorrupt, err)
	}
	s, err := wire.Scheme(f.Params(), required(hash), opts)
	if err != nil {
		return nil, err
	}
	return s.FilterOver(f.Words())
}

// readBits reads a filter with the default hash.
func readBits(bits io.Reader, m, k uint64, opts []bloom.Option) (*bloom.BloomFilter, error) {
	switch {
	case m == 0 || k == 0 || k > maxK:
		return nil, format.Errorf(bloom.ErrCorrupt, "_size = %d, _nbHashes = %d, want at least 1, and 1 to %d", m, k, maxK)
	case m > maxM:
		return nil, format.Errorf(bloom.ErrTooLarge, "_size = %d bits, want at most %d", m, uint64(maxM))
	}
	s, err := wire.Scheme(bloom.Params{M: m, K: int(k)}, required(Hash), opts)
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, s.SizeBytes()-bytesFor(m))
	whole := io.MultiReader(io.LimitReader(bits, int64(bytesFor(m))), bytes.NewReader(zeros))
	return wire.Read(padded{whole, remaining.Of(bits) + uint64(len(zeros))}, binary.LittleEndian, s)
}

// padded are the bytes of bits up to whole words.
type padded struct {
	io.Reader
	left uint64
}

func (p padded) Remaining(remaining.Own) uint64 { return p.left }

func bytesFor(m uint64) uint64 { return (m + 7) / 8 }

// Write writes what JSON.stringify makes of the filter's saveAsJSON, in O(m): about 4/3 of
// [bloom.BloomFilter.SizeBytes]. It may run while keys are added: what it writes contains
// every key whose Add had returned before.
//
// Write returns any error from w, or one that wraps bloom.ErrNotPortable if the filter has another
// strategy than [Strategy] or another hash than [Hash] or one of [HashOf]. Then it writes nothing.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	name := f.Scheme().Hash().Name()
	seed, err := strconv.ParseUint(strings.TrimPrefix(name, hashPrefix), 10, 64)
	if err != nil || name != hashName(seed) {
		seed = defaultSeed // for the error
	}
	hash, err := HashOf(seed)
	if err != nil {
		return format.Errorf(bloom.ErrNotPortable, "%w", err)
	}
	if err := wire.Portable(f, required(hash)...); err != nil {
		return err
	}
	p, words := f.Params(), f.Words()
	const head = `{"type":"BloomFilter","_size":%d,"_nbHashes":%d,"_filter":{"size":%d,"content":"`
	if _, err := fmt.Fprintf(w, head, p.M, p.K, bytesFor(p.M)*8); err != nil {
		return err
	}
	text := base64.NewEncoder(base64.StdEncoding, w)
	last := len(words) - 1
	if err := wire.Write(text, binary.LittleEndian, nil, words[:last]); err != nil {
		return err
	}
	rest := binary.LittleEndian.AppendUint64(nil, words[last].Load())
	if _, err := text.Write(rest[:bytesFor(p.M)-uint64(last)*8]); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `"},"_seed":%d}`, seed)
	return err
}
