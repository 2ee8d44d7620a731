package npmbloomfilters

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// The format of JSON.stringify(filter.saveAsJSON()):
//
//	{"type":"BloomFilter","_size":m,"_nbHashes":k,"_filter":{"size":…,"content":"…"},"_seed":s}
//
// size is m rounded up to a multiple of 8. content is size/8 bytes in base64: bit i of the filter is bit i%8 of byte
// i/8. There is no checksum.

// Read reads a filter that bloom-filters 2 or 3 or [Write] has made. It reads r to the end. Only white space may follow
// the value. The data has no n and p, so [bloom.BloomFilter.Params] has 0 for both. Read allocates memory for the bits
// as they arrive. The only option is [bloom.WithMaxBytes]. It limits only the bits: limit untrusted text with an
// io.LimitReader.
//
// The error wraps bloom.ErrIncompatible if the text is a structure of bloom-filters other than a Bloom filter, such as
// a CuckooFilter, a filter of version 1 or older (the positions differ), or a filter with a seed that is not a whole
// number from 0 to 2^53-3. It wraps bloom.ErrCorrupt if the text is not a filter, and bloom.ErrTooLarge if the filter
// is larger than WithMaxBytes or has more than 2^32 bits. If r fails, it wraps the error of r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var parts map[string]json.RawMessage
	bits, err := foreign.ReadJSON(r, &parts, []string{"_filter", "content"}, opts)
	if err != nil {
		return nil, err
	}
	var set map[string]json.RawMessage
	isSet := json.Unmarshal(parts["_filter"], &set) == nil
	switch kind := text(parts["type"]); {
	case slices.Contains(others, kind):
		return nil, failure.Errorf(bloom.ErrIncompatible, "a %s, want a BloomFilter", kind)
	case kind != "BloomFilter":
		return nil, failure.Errorf(bloom.ErrCorrupt, "an object of type %.40q, want BloomFilter", parts["type"])
	case bytes.HasPrefix(parts["_filter"], []byte("[")):
		return nil, failure.Errorf(bloom.ErrIncompatible,
			"_filter is an array, as in bloom-filters before version 2, which has other positions")
	case !isSet || string(set["content"]) != `""`: // a second field, such as "Content", has overwritten content
		return nil, failure.Errorf(bloom.ErrCorrupt, "_filter is no object with a size and a content")
	}
	m, k, seed, size := number(parts["_size"]), number(parts["_nbHashes"]), number(parts["_seed"]), number(set["size"])
	switch {
	case !(m >= 1 && m <= maxM && m == math.Trunc(m)):
		kind := bloom.ErrCorrupt
		if m > maxM {
			kind = bloom.ErrTooLarge
		}
		return nil, failure.Errorf(kind, "_size = %v bits, want a whole number from 1 to %d", m, uint64(maxM))
	case !(k >= 1 && k <= foreign.MaxK && k == math.Trunc(k)):
		return nil, failure.Errorf(bloom.ErrCorrupt, "_nbHashes = %v, want a whole number from 1 to %d", k, foreign.MaxK)
	case math.IsNaN(seed):
		return nil, failure.Errorf(bloom.ErrCorrupt, "_seed is %.40q, want a number", parts["_seed"])
	case !(seed >= 0 && seed <= maxSeed && seed == math.Trunc(seed)):
		return nil, failure.Errorf(bloom.ErrIncompatible, "_seed = %v, want a whole number from 0 to %d", seed, uint64(maxSeed))
	}
	if want := bytesFor(uint64(m)); size != float64(want*8) || bits.Bytes != want {
		return nil, failure.Errorf(bloom.ErrCorrupt, "_filter has size %v and content of %d bytes, want %d and %d for %v bits",
			size, bits.Bytes, want*8, want, m)
	}
	hash, err := HashOf(uint64(seed))
	if err != nil {
		return nil, err
	}
	s, err := foreign.Scheme(bloom.Params{M: uint64(m), K: int(k)}, required(hash), opts)
	if err != nil {
		return nil, err
	}
	return foreign.Over(s, binary.LittleEndian, bits.Words)
}

// others lists the values of "type" that bloom-filters writes for structures other than Bloom filters. Read refuses
// them with an error that wraps bloom.ErrIncompatible.
var others = []string{
	"ScalableBloomFilter", "PartitionedBloomFilter", "CountingBloomFilter", "CuckooFilter", "XorFilter", "InvertibleBloomFilter",
	"CountMinSketch", "HyperLogLog", "MinHash", "TopK", "Bucket", "Cell",
}

// text returns the JSON string raw, or "" if raw is not a string.
func text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// number returns the JSON number raw as a float64, as in JavaScript, or NaN if raw is not a number.
func number(raw json.RawMessage) float64 {
	x := math.NaN()
	if json.Unmarshal(raw, &x) != nil {
		return math.NaN()
	}
	return x
}

func bytesFor(m uint64) uint64 { return (m + 7) / 8 }

// Write writes the filter as JSON.stringify(filter.saveAsJSON()) does, in O(m): about 4/3 of
// [bloom.BloomFilter.SizeBytes]. It may run while keys are added: it writes every key whose Add had returned before the
// call.
//
// Write returns any error from w. It writes nothing and returns an error that wraps bloom.ErrNotPortable if the
// strategy is not [Strategy] or the hash is not from [HashOf], or bloom.ErrInvalid if f is nil or the zero BloomFilter.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := foreign.Usable(f); err != nil {
		return err
	}
	name := f.Scheme().Hash().Name()
	seed, err := strconv.ParseUint(strings.TrimPrefix(name, hashPrefix), 10, 64)
	if err != nil || name != hashName(seed) {
		seed = defaultSeed // wrong, so that foreign.Portable returns the error
	}
	hash, err := HashOf(seed)
	if err != nil {
		return failure.Errorf(bloom.ErrNotPortable, "%w", err)
	}
	if err := foreign.Portable(f, required(hash)...); err != nil {
		return err
	}
	p, words := f.Params(), f.Words()
	const head = `{"type":"BloomFilter","_size":%d,"_nbHashes":%d,"_filter":{"size":%d,"content":"`
	if _, err := fmt.Fprintf(w, head, p.M, p.K, bytesFor(p.M)*8); err != nil {
		return err
	}
	text := base64.NewEncoder(base64.StdEncoding, w)
	last := len(words) - 1
	if err := foreign.Write(text, binary.LittleEndian, nil, words[:last]); err != nil {
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
