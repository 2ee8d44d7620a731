package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bloomfilters"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/seed3447c163/bloom/interop/rebloom"
)

// bitsAndBloomsJSON matches an object that begins with one of three names. JSON is read whole, and
// any other object may be a log of many gigabytes.
var bitsAndBloomsJSON = regexp.MustCompile(`^\s*\{\s*"[mkb]"\s*:`)

// isBloomFiltersJSON looks for names that only bloom-filters uses.
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

// isRedisBloom looks for iterator 1 and a header of 20 bytes and 53 per layer.
func isRedisBloom(head []byte, _ int64) bool {
	const header, layer, most = 20, 53, 1 << 10 // far more layers than a server makes
	if len(head) < 16 || binary.LittleEndian.Uint64(head) != 1 {
		return false
	}
	length := binary.LittleEndian.Uint64(head[8:])
	return length > header && length <= header+most*layer && (length-header)%layer == 0
}

// firstScheme returns the scheme of the first layer.
func firstScheme(head []byte) io.Reader {
	if at := bytes.Index(head, []byte("\x89bloom\n")); at > 0 {
		head = head[at:]
	}
	return bytes.NewReader(head)
}

// isBitsAndBlooms checks m, k, the number of bits and the length. The format has no mark.
func isBitsAndBlooms(head []byte, size int64) bool {
	if len(head) < 32 {
		return false
	}
	m, k := binary.BigEndian.Uint64(head), binary.BigEndian.Uint64(head[8:])
	if k < 1 || k > 255 || m < 1 || m > 1<<53 {
		return false
	}
	// FromWithM makes words with more bits than m.
	has := func(length uint64) bool { return length >= m && (length-1)/64 == (m-1)/64 }
	return (has(binary.BigEndian.Uint64(head[16:])) || has(binary.LittleEndian.Uint64(head[16:]))) &&
		(size < 0 || uint64(size) == 24+(m+63)/64*8)
}

// isGuava checks strategy, k, the number of words and the length. The format has no mark.
func isGuava(head []byte, size int64) bool {
	if len(head) < 14 || head[0] > 1 || head[1] < 1 {
		return false
	}
	words := int64(int32(binary.BigEndian.Uint32(head[2:])))
	return words > 0 && (size < 0 || size == 6+8*words)
}

// requires returns the options that reading a filter needs, from its header: another system's
// strategy and hash. key reports whether it needs a secret key.
func requires(head io.Reader) (opts []bloom.Option, key bool) {
	header := make([]byte, 640) // the longest, see docs/format.md
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

// foreignHash returns another system's hash. Its name follows the strategy's.
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
	// The name of bloom-filters' hash includes its seed.
	own := bloomfilters.Hash.Name()
	prefix := own[:strings.LastIndex(own, ":")+1]
	if seed, err := strconv.ParseUint(strings.TrimPrefix(name, prefix), 10, 64); err == nil {
		if h, err := bloomfilters.HashOf(seed); err == nil && h.Name() == name {
			return h, true
		}
	}
	return bloom.Hash{}, false
}

// mappedScheme returns the scheme of a mapped filter.
func mappedScheme(head []byte) io.Reader {
	const schemeAt = 64
	return bytes.NewReader(head[min(schemeAt, len(head)):])
}
