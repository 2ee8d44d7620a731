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
