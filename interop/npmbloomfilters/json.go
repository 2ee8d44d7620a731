package npmbloomfilters

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
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
// [bloom.BloomFilter.Params] has 0 for both. The bits get memory as they arrive. The only option is
// [bloom.WithMaxBytes], which does not limit other fields: bound untrusted text by an io.LimitReader.
//
// The error wraps bloom.ErrIncompatible if the filter is of version 1 or older, whose positions
// differ, bloom.ErrCorrupt if the text is not a filter, or bloom.ErrTooLarge if the filter is larger
// than WithMaxBytes or has more than 2^32 bits. Read returns any error from r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var parts struct {
		Type   string          `json:"type"`
		Size   uint64          `json:"_size"`
		Hashes uint64          `json:"_nbHashes"`
		Filter json.RawMessage `json:"_filter"`
		Seed   *uint64         `json:"_seed"`
	}
	bits, err := wire.ReadJSON(r, &parts, 2, "content", opts)
	if err != nil {
		return nil, err
	}
	m, k := parts.Size, parts.Hashes
	switch {
	case parts.Type != "BloomFilter" || parts.Filter == nil || parts.Seed == nil:
		return nil, failure.Errorf(bloom.ErrCorrupt, "an object of type %.40q, want BloomFilter with _size, _nbHashes, _filter and _seed",
			parts.Type)
	case parts.Filter[0] == '[':
		return nil, failure.Errorf(bloom.ErrIncompatible,
			"_filter is an array, as in bloom-filters before version 2, which has other positions")
	case m == 0 || k == 0 || k > maxK || *parts.Seed > maxSeed:
		return nil, failure.Errorf(bloom.ErrCorrupt, "_size = %d, _nbHashes = %d, _seed = %d, want at least 1, 1 to %d, and at most %d",
			m, k, *parts.Seed, maxK, uint64(maxSeed))
	case m > maxM:
		return nil, failure.Errorf(bloom.ErrTooLarge, "_size = %d bits, want at most %d", m, uint64(maxM))
	}
	var set struct {
		Size    uint64  `json:"size"`
		Content *string `json:"content"`
	}
	if err := json.Unmarshal(parts.Filter, &set); err != nil {
		return nil, failure.Errorf(bloom.ErrCorrupt, "_filter: %w", err)
	}
	if want := bytesFor(m); set.Size != want*8 || set.Content == nil || *set.Content != "" || bits.Bytes != want {
		return nil, failure.Errorf(bloom.ErrCorrupt, "_filter has size %d and content of %d bytes, want %d and %d for %d bits",
			set.Size, bits.Bytes, want*8, want, m)
	}
	hash, err := HashOf(*parts.Seed)
	if err != nil {
		return nil, err
	}
	s, err := wire.Scheme(bloom.Params{M: m, K: int(k)}, required(hash), opts)
	if err != nil {
		return nil, err
	}
	return wire.Over(s, binary.LittleEndian, bits.Words)
}

func bytesFor(m uint64) uint64 { return (m + 7) / 8 }

// Write writes what JSON.stringify makes of the filter's saveAsJSON, in O(m): about 4/3 of
// [bloom.BloomFilter.SizeBytes]. It may run while keys are added: what it writes contains
// every key whose Add had returned before.
//
// Write returns any error from w, or one that wraps bloom.ErrNotPortable if the filter has another
// strategy than [Strategy] or another hash than [Hash] or one of [HashOf]. Then it writes nothing.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := wire.Usable(f); err != nil {
		return err
	}
	name := f.Scheme().Hash().Name()
	seed, err := strconv.ParseUint(strings.TrimPrefix(name, hashPrefix), 10, 64)
	if err != nil || name != hashName(seed) {
		seed = defaultSeed // for the error
	}
	hash, err := HashOf(seed)
	if err != nil {
		return failure.Errorf(bloom.ErrNotPortable, "%w", err)
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
