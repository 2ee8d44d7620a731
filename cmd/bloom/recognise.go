package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"regexp"
	"strconv"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bloomfilters"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/seed3447c163/bloom/interop/rebloom"
)

func isText(head []byte, _ int64) bool { return bytes.HasPrefix(decoded(head), []byte(magic)) }

// decoded returns the bytes at the beginning of a text in base64.
func decoded(text []byte) []byte {
	raw, _ := io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(text)))
	return raw
}

// isParquetFilter looks for Thrift's byte count and a union, the beginning of a filter's header.
func isParquetFilter(head []byte, _ int64) bool {
	if len(head) < 2 || head[0] != 0x15 {
		return false
	}
	_, n := binary.Uvarint(head[1:])
	return n > 0 && bytes.HasPrefix(head[1+n:], []byte{0x1c, 0x1c})
}

func isParquetFile(head []byte, _ int64) bool {
	return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
}

// Both formats in JSON are recognised by their names. JSON is read whole, and any other object may
// be a log of many gigabytes.
var (
	bitsAndBloomsJSON = regexp.MustCompile(`^\s*\{\s*"[mkb]"\s*:`)
	bloomFiltersJSON  = regexp.MustCompile(`(?s)^\s*\{.*"_(size|nbHashes|filter|seed)"`)
)

func isBitsAndBloomsJSON(head []byte, _ int64) bool { return bitsAndBloomsJSON.Match(head) }
func isBloomFiltersJSON(head []byte, _ int64) bool  { return bloomFiltersJSON.Match(head) }

// isRedisBloom looks for iterator 1 and a header of 20 bytes and 53 per layer.
func isRedisBloom(head []byte, _ int64) bool {
	const header, layer, most = 20, 53, 1 << 10 // far more layers than a server makes
	if len(head) < 16 || binary.LittleEndian.Uint64(head) != 1 {
		return false
	}
	length := binary.LittleEndian.Uint64(head[8:])
	return length > header && length <= header+most*layer && (length-header)%layer == 0
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

// bloomFiltersHash matches the name of the hash of bloom-filters, which includes its seed.
var bloomFiltersHash = regexp.MustCompile(`npm-bloom-filters-xxh64:(\d+)`)

// requires returns the options that reading a filter in one of this library's formats needs: the
// strategy and the hash of another system, whose names are in its header. keyed reports whether the
// filter has a secret key.
func requires(head []byte) (opts []bloom.Option, keyed bool) {
	if raw := decoded(head); len(raw) > 0 {
		head = raw
	}
	if !bytes.HasPrefix(head, []byte("\x89bl")) {
		return nil, false
	}
	for _, s := range append(foreign, bloomfilters.Strategy, rebloom.Strategy) {
		if bytes.Contains(head, []byte(s.Name())) {
			opts = append(opts, bloom.WithStrategy(s))
		}
	}
	for _, h := range []bloom.Hash{parquet.Hash, rebloom.Hash} {
		if bytes.Contains(head, []byte(h.Name())) {
			opts = append(opts, bloom.WithHash(h))
		}
	}
	if seed := bloomFiltersHash.FindSubmatch(head); seed != nil {
		n, _ := strconv.ParseUint(string(seed[1]), 10, 64)
		if h, err := bloomfilters.HashOf(n); err == nil {
			opts = append(opts, bloom.WithHash(h))
		}
	}
	return opts, bytes.Contains(head, []byte("siphash"))
}
