package filterfile

import (
	"encoding/binary"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/interop/npmbloomfilters"
	"github.com/seed3447c163/bloom/interop/redisbloom"
)

// expansion is RedisBloom's default: each layer is for twice as many keys as the one before.
const expansion = 2

// These match the beginning of JSON with the fields of a filter. Other JSON is not read as a filter, because it may be
// a log of many gigabytes.
var (
	mkb   = regexp.MustCompile(`^\s*\{\s*"[mkb]"\s*:`)
	saved = regexp.MustCompile(`(?s)^\s*\{.*"_(size|nbHashes|filter|seed)"`)
)

var (
	redisBloom = Format{
		Name:   "redisbloom",
		About:  "chunks of BF.SCANDUMP: iterator, length, data",
		is:     isRedisBloom,
		read:   reading(redisbloom.Read),
		itself: writesItself[*redisbloom.Filter],
		write: func(w io.Writer, f *bloom.BloomFilter) error {
			dump, err := redisbloom.FromBloomFilter(f, expansion)
			if err != nil {
				return err
			}
			_, err = dump.WriteTo(w)
			return err
		},
		Create: creating(func(n uint64, p float64, opts ...bloom.Option) (*redisbloom.Filter, error) {
			return redisbloom.New(redisbloom.Plan{N: n, P: p, Expansion: expansion}, opts...)
		}),
		strategies: []bloom.Strategy{redisbloom.Strategy},
		hash:       func(name string) (*bloom.Hash, bool) { return redisbloom.Hash, name == redisbloom.Hash.Name() },
	}
	bloomFilters = Format{
		Name:       "npm-bloom-filters",
		About:      "JavaScript: saveAsJSON of bloom-filters",
		is:         func(head []byte, _ int64) bool { return saved.Match(head) },
		read:       reading(npmbloomfilters.Read),
		write:      npmbloomfilters.Write,
		Create:     creating(npmbloomfilters.New),
		strategies: []bloom.Strategy{npmbloomfilters.Strategy},
		hash:       bloomFiltersHash,
	}
	bitsAndBloomsJSON = Format{
		Name:   "bits-and-blooms-json",
		About:  "Go: MarshalJSON of bits-and-blooms/bloom",
		is:     func(head []byte, _ int64) bool { return mkb.Match(head) },
		read:   reading(bitsandblooms.ReadJSON),
		write:  bitsandblooms.WriteJSON,
		Create: creating(bitsandblooms.New),
	}
	bitsAndBlooms = Format{
		Name:       "bits-and-blooms",
		About:      "Go: WriteTo of bits-and-blooms/bloom",
		is:         isBitsAndBlooms,
		read:       reading(bitsandblooms.Read),
		write:      bitsandblooms.Write,
		Create:     creating(bitsandblooms.New),
		strategies: []bloom.Strategy{bitsandblooms.Strategy},
	}
	guavaFile = Format{
		Name:  "guava",
		About: "Java: writeTo of Guava; keys are UTF-8 strings",
		is:    isGuava,
		read:  reading(guava.Read),
		write: guava.Write,
		Create: creating(func(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
			return guava.New(n, p, guava.Since334, opts...)
		}),
		strategies: []bloom.Strategy{guava.Mitz64, guava.Mitz32},
	}
)

// isRedisBloom checks the first chunk: its iterator is 1, and its data is a header of 20 bytes plus 53 per layer.
func isRedisBloom(head []byte, _ int64) bool {
	const header, layer, most = 20, 53, 1 << 10 // most is far more layers than a server makes
	if len(head) < 16 || binary.LittleEndian.Uint64(head) != 1 {
		return false
	}
	length := binary.LittleEndian.Uint64(head[8:])
	return length > header && length <= header+most*layer && (length-header)%layer == 0
}

// isBitsAndBlooms checks m, k, the length of the bit set and the file's size, because the format has no magic.
func isBitsAndBlooms(head []byte, size int64) bool {
	if len(head) < 32 {
		return false
	}
	m, k := binary.BigEndian.Uint64(head), binary.BigEndian.Uint64(head[8:])
	if k < 1 || k > 255 || m < 1 || m > 1<<53 {
		return false
	}
	// has reports whether a bit set of this length fits m. FromWithM of bits-and-blooms may count all bits of the last
	// word.
	has := func(length uint64) bool { return length >= m && (length-1)/64 == (m-1)/64 }
	return (has(binary.BigEndian.Uint64(head[16:])) || has(binary.LittleEndian.Uint64(head[16:]))) &&
		(size < 0 || uint64(size) == 24+(m+63)/64*8)
}

// isGuava checks the strategy, k, the number of words and the file's size, because the format has no magic.
func isGuava(head []byte, size int64) bool {
	if len(head) < 14 || head[0] > 1 || head[1] < 1 {
		return false
	}
	words := int64(int32(binary.BigEndian.Uint32(head[2:])))
	return words > 0 && (size < 0 || size == 6+8*words)
}

// bloomFiltersHash returns the hash of bloom-filters with the given name, which ends with the seed.
func bloomFiltersHash(name string) (*bloom.Hash, bool) {
	digits := name[strings.LastIndexByte(name, ':')+1:]
	seed, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return nil, false
	}
	h, err := npmbloomfilters.HashOf(seed)
	return h, err == nil && h.Name() == name
}
