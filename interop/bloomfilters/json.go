package bloomfilters

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
)

// What JSON.stringify makes of saveAsJSON:
//
//	{"type":"BloomFilter","_size":m,"_nbHashes":k,"_filter":{"size":…,"content":"…"},"_seed":s}
//
// size is m rounded up to a multiple of 8, content is base64 of size/8 bytes: bit i of the
// filter is bit i%8 of byte i/8. There is no checksum.

// Read reads a filter that bloom-filters 2 or 3 or [Write] has made, to the end of r, and
// nothing but white space after it. n and p are not in the data, so those of
// [bloom.BloomFilter.Params] are 0. It needs about four times the memory of the text: bound
// untrusted text by an io.LimitReader. The only option is [bloom.WithMaxBytes].
//
// The error wraps bloom.ErrIncompatible if the filter is of version 1 or older, whose positions
// differ, bloom.ErrCorrupt if the text is not a filter, bloom.ErrTooLarge if the filter is larger
// than WithMaxBytes or has more than 2^32 bits, or is that of r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("bloom: reading JSON: %w", err)
	}
	var parts struct {
		Type   string           `json:"type"`
		Size   *float64         `json:"_size"`
		Hashes *float64         `json:"_nbHashes"`
		Filter *json.RawMessage `json:"_filter"`
		Seed   *float64         `json:"_seed"`
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return nil, fmt.Errorf("%w: %w", bloom.ErrCorrupt, err)
	}
	if parts.Type != "BloomFilter" || parts.Size == nil || parts.Hashes == nil || parts.Filter == nil || parts.Seed == nil {
		return nil, fmt.Errorf("%w: an object of type %.40q, want BloomFilter with _size, _nbHashes, _filter and _seed", bloom.ErrCorrupt, parts.Type)
	}
	var m, k, seed uint64
	for _, n := range []struct {
		field    string
		from     float64
		to       *uint64
		low, top uint64
	}{{"_size", *parts.Size, &m, 1, math.MaxInt64}, {"_nbHashes", *parts.Hashes, &k, 1, maxK}, {"_seed", *parts.Seed, &seed, 0, maxSeed}} {
		if !(n.from >= float64(n.low) && n.from <= float64(n.top)) || n.from != math.Floor(n.from) {
			return nil, fmt.Errorf("%w: %s = %v, want a whole number from %d to %d", bloom.ErrCorrupt, n.field, n.from, n.low, n.top)
		}
		*n.to = uint64(n.from)
	}
	if m > maxM {
		return nil, fmt.Errorf("%w: _size = %d bits, want at most %d", bloom.ErrTooLarge, m, uint64(maxM))
	}
	hash, err := HashOf(seed)
	if err != nil {
		return nil, err
	}
	s, err := scheme(bloom.Params{M: m, K: int(k)}, hash, opts)
	if err != nil {
		return nil, err
	}
	bits, err := decodeBits(*parts.Filter, m)
	if err != nil {
		return nil, err
	}
	f, err := s.Filter()
	if err != nil {
		return nil, err
	}
	for len(bits)%8 != 0 {
		bits = append(bits, 0)
	}
	words := f.Words()
	for i := range words {
		words[i].Store(binary.LittleEndian.Uint64(bits[i*8:]))
	}
	if tail := m % 64; tail != 0 {
		if last := words[m/64].Load(); last>>tail != 0 {
			return nil, fmt.Errorf("%w: bits beyond _size = %d are set", bloom.ErrCorrupt, m)
		}
	}
	return f, nil
}

// decodeBits returns the bytes of m bits.
func decodeBits(raw json.RawMessage, m uint64) ([]byte, error) {
	if raw[0] == '[' {
		return nil, fmt.Errorf("%w: _filter is an array, as bloom-filters before version 2 wrote it, and their positions differ", bloom.ErrIncompatible)
	}
	var set struct {
		Size    float64 `json:"size"`
		Content string  `json:"content"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("%w: _filter: %w", bloom.ErrCorrupt, err)
	}
	bytes := (m + 7) / 8
	if set.Size != float64(bytes*8) {
		return nil, fmt.Errorf("%w: _filter has size %v for %d bits, want %d", bloom.ErrCorrupt, set.Size, m, bytes*8)
	}
	bits, err := base64.StdEncoding.Strict().DecodeString(set.Content)
	if err != nil {
		return nil, fmt.Errorf("%w: content: %w", bloom.ErrCorrupt, err)
	}
	if uint64(len(bits)) != bytes {
		return nil, fmt.Errorf("%w: content has %d bytes for %d bits, want %d", bloom.ErrCorrupt, len(bits), m, bytes)
	}
	return bits, nil
}

// Write writes what JSON.stringify makes of the filter's saveAsJSON, in O(m): about 4/3 of
// [bloom.BloomFilter.SizeBytes]. It may run while keys are added: what it writes contains
// every key whose Add had returned before.
//
// The error is that of w, or wraps bloom.ErrNotPortable if the filter has another strategy
// than [Strategy] or another hash than [Hash] or one of [HashOf]. Then nothing is written.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	s := f.Scheme()
	seed, err := strconv.ParseUint(strings.TrimPrefix(s.Hash().Name(), hashPrefix), 10, 64)
	if s.Strategy() != Strategy || err != nil || s.Hash().Name() != hashName(seed) {
		return fmt.Errorf("%w: it has strategy %q and hash %q, want those of this package", bloom.ErrNotPortable, s.Strategy(), s.Hash())
	}
	p := f.Params()
	bytes := (p.M + 7) / 8
	_, err = fmt.Fprintf(w, `{"type":"BloomFilter","_size":%d,"_nbHashes":%d,"_filter":{"size":%d,"content":"`, p.M, p.K, bytes*8)
	if err != nil {
		return err
	}
	text := base64.NewEncoder(base64.StdEncoding, w)
	var buf []byte
	for words := f.Words(); len(words) > 0 && err == nil; {
		part := words[:min(len(words), 6144)] // a multiple of 3 words, for whole groups of base64
		words, buf = words[len(part):], buf[:0]
		for i := range part {
			buf = binary.LittleEndian.AppendUint64(buf, part[i].Load())
		}
		buf = buf[:min(uint64(len(buf)), bytes)]
		bytes -= uint64(len(buf))
		_, err = text.Write(buf)
	}
	if err == nil {
		err = text.Close()
	}
	if err == nil {
		_, err = fmt.Fprintf(w, `"},"_seed":%d}`, seed)
	}
	return err
}
