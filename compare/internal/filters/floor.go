package filters

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"github.com/twmb/murmur3"
	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/rapidhash"
)

// Floors are no filters, but what is a part of all: a hash of the key alone, and a locked OR
// (as add) or a load (as lookup) of a random cache line, without key and hash.
func Floors() []*Peer {
	seed, start := maphash.MakeSeed(), rapidhash.Start(0)
	return []*Peer{
		hashAlone("RapidHash", func(keys [][]byte) uint64 {
			return sum(keys, func(key []byte) uint64 { return rapidhash.Sum(start, key) })
		}),
		hashAlone("xxh3", func(keys [][]byte) uint64 { return sum(keys, xxh3.Hash) }),
		hashAlone("MapHash", func(keys [][]byte) uint64 {
			return sum(keys, func(key []byte) uint64 { return maphash.Bytes(seed, key) })
		}),
		hashAlone("Murmur3", func(keys [][]byte) uint64 {
			return sum(keys, func(key []byte) uint64 { h1, h2 := murmur3.Sum128(key); return h1 ^ h2 })
		}),
		{Name: "floor: one locked OR, one load", Hash: "–", Safe: Full, Hashed: true, Floor: true, Make: func(n uint64, p float64) (Filter, error) {
			f, err := bloom.New(n, p, bloom.WithStrategy(bloom.Blocked)) // for its memory
			if err != nil {
				return nil, err
			}
			return line{f.Words()}, nil
		}},
	}
}

func hashAlone(name string, all func(keys [][]byte) uint64) *Peer {
	return &Peer{Name: "floor: " + name + " alone", Hash: name, Safe: Full, Floor: true, Make: func(uint64, float64) (Filter, error) {
		return hashing(all), nil
	}}
}

// sum combines the hashes of keys, as [number] does answers.
func sum(keys [][]byte, hash func([]byte) uint64) (sum uint64) {
	for _, key := range keys {
		sum ^= hash(key)
	}
	return sum
}

type hashing func(keys [][]byte) uint64

func (h hashing) Add(keys Keys) int      { return int(h(keys.Bytes) & 1) }
func (h hashing) Contains(keys Keys) int { return int(h(keys.Bytes) & 1) }
func (h hashing) Bits() uint64           { return 0 }

// line is the words of our blocked filter.
type line struct{ words []atomic.Uint64 }

func (l line) Add(keys Keys) int {
	words, lines := l.words, uint64(len(l.words)/8)
	for _, d := range keys.Digests {
		at, low := bits.Mul64(d[0], lines)
		words[at*8].Or(1 << (low >> 58))
	}
	return 0
}

func (l line) Contains(keys Keys) int {
	words, lines, sum := l.words, uint64(len(l.words)/8), uint64(0)
	for _, d := range keys.Digests {
		at, _ := bits.Mul64(d[0], lines)
		sum ^= words[at*8].Load()
	}
	return int(sum & 1)
}

func (l line) Bits() uint64 { return 0 }
