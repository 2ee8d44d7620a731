package compare

import (
	"hash/maphash"
	"strings"

	"github.com/twmb/murmur3"
	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/rapidhash"
)

// Ours returns this library's filters. "batch" gives a chunk of keys to one call, and
// "digests" takes hashed keys. The default hash is Murmur3.
func Ours() []*Peer {
	rapid, maps := bloom.WithHash(bloom.RapidHash), bloom.WithHash(bloom.MapHash)
	return []*Peer{
		ours("SplitBlock, RapidHash", single, bloom.SplitBlock, rapid),
		ours("SplitBlock, RapidHash, batch", batch, bloom.SplitBlock, rapid),
		ours("SplitBlock, MapHash", single, bloom.SplitBlock, maps),
		ours("SplitBlock, Murmur3", single, bloom.SplitBlock),
		ours("Blocked, RapidHash", single, bloom.Blocked, rapid),
		ours("Blocked, RapidHash, batch", batch, bloom.Blocked, rapid),
		ours("Blocked, Murmur3", single, bloom.Blocked),
		ours("DoubleHashing, Murmur3", single, bloom.DoubleHashing), // the default
		ours("DoubleHashing, Murmur3, batch", batch, bloom.DoubleHashing),
		ours("DoubleHashing, RapidHash", single, bloom.DoubleHashing, rapid),
		ours("SeededHashing, Murmur3", single, bloom.SeededHashing),
		ours("SplitBlock, digests", digests, bloom.SplitBlock),
		ours("SplitBlock, digests, batch", digestsBatch, bloom.SplitBlock),
		ours("Blocked, digests", digests, bloom.Blocked),
	}
}

func ours(name string, use func(*bloom.BloomFilter) *Filter, s bloom.Strategy, opts ...bloom.Option) *Peer {
	hashed := strings.Contains(name, "digests")
	return &Peer{Name: "ours: " + name, Safe: Full, Hashed: hashed, Make: func(n uint64, p float64) (*Filter, error) {
		f, err := bloom.New(n, p, append(opts, bloom.WithStrategy(s))...)
		if err != nil {
			return nil, err
		}
		return use(f), nil
	}}
}

func single(f *bloom.BloomFilter) *Filter {
	return &Filter{
		add:      func(k Keys) int { return each(k.Bytes, func(key []byte) bool { return f.Add(key) }) },
		contains: func(k Keys) int { return each(k.Bytes, func(key []byte) bool { return f.Contains(key) }) },
		bits:     f.SizeBytes() * 8,
	}
}

func batch(f *bloom.BloomFilter) *Filter {
	return &Filter{
		add:      func(k Keys) int { return f.AddMany(k.Bytes, k.Answers) },
		contains: func(k Keys) int { return f.ContainsMany(k.Bytes, k.Answers) },
		bits:     f.SizeBytes() * 8,
	}
}

// digests has loops of its own: each would copy every digest once more, 0.2 ns.
func digests(f *bloom.BloomFilter) *Filter {
	return &Filter{
		add: func(k Keys) (n int) {
			for _, d := range k.Digests {
				if f.AddDigest(d[0], d[1]) {
					n++
				}
			}
			return n
		},
		contains: func(k Keys) (n int) {
			for _, d := range k.Digests {
				if f.ContainsDigest(d[0], d[1]) {
					n++
				}
			}
			return n
		},
		bits: f.SizeBytes() * 8,
	}
}

func digestsBatch(f *bloom.BloomFilter) *Filter {
	return &Filter{
		add:      func(k Keys) int { return f.AddDigests(k.Digests, k.Answers) },
		contains: func(k Keys) int { return f.ContainsDigests(k.Digests, k.Answers) },
		bits:     f.SizeBytes() * 8,
	}
}

// Hashes are no filters: they only hash the keys, as most filters must.
func Hashes() []*Peer {
	seed, start := maphash.MakeSeed(), rapidhash.Start(0)
	alone := func(name string, hash func(Keys) uint64) *Peer {
		all := func(k Keys) int { return int(hash(k) & 1) }
		return &Peer{Name: "hash: " + name, Safe: Full, Make: func(uint64, float64) (*Filter, error) {
			return &Filter{add: all, contains: all}, nil
		}}
	}
	return []*Peer{
		alone("RapidHash", func(k Keys) uint64 {
			return sum(k.Bytes, func(key []byte) uint64 { return rapidhash.Sum(start, key) })
		}),
		alone("xxh3", func(k Keys) uint64 { return sum(k.Bytes, xxh3.Hash) }),
		alone("MapHash", func(k Keys) uint64 {
			return sum(k.Bytes, func(key []byte) uint64 { return maphash.Bytes(seed, key) })
		}),
		alone("Murmur3", func(k Keys) uint64 {
			return sum(k.Bytes, func(key []byte) uint64 { h1, h2 := murmur3.Sum128(key); return h1 ^ h2 })
		}),
	}
}

func sum(keys [][]byte, hash func([]byte) uint64) (sum uint64) {
	for _, key := range keys {
		sum ^= hash(key)
	}
	return sum
}
