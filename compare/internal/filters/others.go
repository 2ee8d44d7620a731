package filters

import (
	"math"
	"sync"

	bitsandblooms "github.com/bits-and-blooms/bloom/v3"
	"github.com/dgraph-io/ristretto/v2/z"
	holiman "github.com/holiman/bloomfilter/v2"
	"github.com/ipfs/bbloom"
	parquet "github.com/parquet-go/parquet-go/bloom"
	boom "github.com/tylertreat/BoomFilters"
	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom"
)

// Others are the filters of other libraries, each sized as its own documentation says.
// Those that take hashed keys get them from xxh3, as their users would.
func Others() []*Peer {
	return append([]*Peer{
		{
			Name: "bits-and-blooms", Module: "github.com/bits-and-blooms/bloom/v3", Hash: "Murmur3 (own)", Safe: Readers,
			Make: func(n uint64, p float64) (Filter, error) {
				return bitsAndBlooms{bitsandblooms.NewWithEstimates(uint(n), p)}, nil
			},
		}, {
			Name: "bits-and-blooms + RWMutex", Module: "github.com/bits-and-blooms/bloom/v3", Hash: "Murmur3 (own)", Safe: Full,
			Make: func(n uint64, p float64) (Filter, error) {
				return &lockedBitsAndBlooms{f: bitsandblooms.NewWithEstimates(uint(n), p)}, nil
			},
		}, {
			Name: "holiman/bloomfilter", Module: "github.com/holiman/bloomfilter/v2", Hash: "xxh3", Safe: Full,
			Make: func(n uint64, p float64) (Filter, error) {
				f, err := holiman.NewOptimal(n, p)
				return holimanFilter{f}, err
			},
		}, {
			Name: "ipfs/bbloom", Module: "github.com/ipfs/bbloom", Hash: "SipHash (own)", Safe: Readers,
			Make: func(n uint64, p float64) (Filter, error) {
				f, err := bbloom.New(float64(n), p)
				return bbloomFilter{f, bbloomBits(n, p)}, err
			},
		}, {
			Name: "ristretto z.Bloom", Module: "github.com/dgraph-io/ristretto/v2", Hash: "xxh3", Safe: Readers,
			Make: func(n uint64, p float64) (Filter, error) { return ristretto{z.NewBloomFilter(float64(n), p)}, nil },
		}, {
			Name: "BoomFilters", Module: "github.com/tylertreat/BoomFilters", Hash: "FNV-1 (own)", Safe: None,
			Make: func(n uint64, p float64) (Filter, error) { return boomFilter{boom.NewBloomFilter(uint(n), p)}, nil },
		}, {
			Name: "parquet-go split block", Module: "github.com/parquet-go/parquet-go", Hash: "xxh3", Safe: Readers, Make: makeParquet,
		}, {
			Name: "parquet-go split block, hashed keys", Module: "github.com/parquet-go/parquet-go", Hash: "–", Safe: Readers, Hashed: true,
			Make: func(n uint64, p float64) (Filter, error) {
				f, err := makeParquet(n, p)
				if err != nil {
					return nil, err
				}
				return hashedParquet{f.(parquetFilter)}, nil
			},
		},
	}, statics()...)
}

type bitsAndBlooms struct{ f *bitsandblooms.BloomFilter }

func (b bitsAndBlooms) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.f.Add(key); return false })
}
func (b bitsAndBlooms) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return b.f.Test(key) })
}
func (b bitsAndBlooms) Bits() uint64 { return uint64(b.f.Cap()) }

// lockedBitsAndBlooms is what its README advises for concurrent use.
type lockedBitsAndBlooms struct {
	mu sync.RWMutex
	f  *bitsandblooms.BloomFilter
}

func (b *lockedBitsAndBlooms) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.mu.Lock(); b.f.Add(key); b.mu.Unlock(); return false })
}
func (b *lockedBitsAndBlooms) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.mu.RLock(); yes := b.f.Test(key); b.mu.RUnlock(); return yes })
}
func (b *lockedBitsAndBlooms) Bits() uint64 { return uint64(b.f.Cap()) }

// holimanFilter is Ethereum's, with a RWMutex inside.
type holimanFilter struct{ f *holiman.Filter }

func (h holimanFilter) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { h.f.AddDigest(xxh3.Hash(key)); return false })
}
func (h holimanFilter) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return h.f.ContainsDigest(xxh3.Hash(key)) })
}
func (h holimanFilter) Bits() uint64 { return h.f.M() }

// bbloomFilter is IPFS's; its methods with the suffix TS, under a RWMutex, are not measured.
type bbloomFilter struct {
	f    *bbloom.Bloom
	size uint64
}

func (b bbloomFilter) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.f.Add(key); return false })
}
func (b bbloomFilter) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return b.f.Has(key) })
}
func (b bbloomFilter) Bits() uint64 { return b.size }

// bbloomBits returns the size that its constructor chooses, as no method tells: the
// textbook's, rounded up to a power of two, at least 512.
func bbloomBits(n uint64, p float64) uint64 {
	want := uint64(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2))
	size := uint64(512)
	for size < want {
		size *= 2
	}
	return size
}

// ristretto's is the doorkeeper of its cache: a power of two bits.
type ristretto struct{ f *z.Bloom }

func (r ristretto) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { r.f.Add(xxh3.Hash(key)); return false })
}
func (r ristretto) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return r.f.Has(xxh3.Hash(key)) })
}

// Bits leaves out the five words of the struct that TotalSize counts.
func (r ristretto) Bits() uint64 { return uint64(r.f.TotalSize()-5*8) * 8 }

// boomFilter hashes into a hash.Hash64 that all calls share, so that not even two lookups
// may run at once.
type boomFilter struct{ f *boom.BloomFilter }

func (b boomFilter) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.f.Add(key); return false })
}
func (b boomFilter) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return b.f.Test(key) })
}
func (b boomFilter) Bits() uint64 { return uint64(b.f.Capacity()) }

// makeParquet makes the filter of the Parquet format: eight bits of a key in one block of
// 256, by AVX2 assembly on amd64. Its constructor takes no p: it is given as many blocks as
// our SplitBlock, which keep the same true rate.
func makeParquet(n uint64, p float64) (Filter, error) {
	params, err := bloom.ParamsFor(n, p, bloom.SplitBlock)
	if err != nil {
		return nil, err
	}
	return parquetFilter{make(parquet.SplitBlockFilter, params.M/256)}, nil
}

type parquetFilter struct{ f parquet.SplitBlockFilter }

func (b parquetFilter) Add(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { b.f.Insert(xxh3.Hash(key)); return false })
}
func (b parquetFilter) Contains(keys Keys) int {
	return number(keys.Bytes, func(key []byte) bool { return b.f.Check(xxh3.Hash(key)) })
}
func (b parquetFilter) Bits() uint64 { return uint64(len(b.f)) * 256 }

type hashedParquet struct{ parquetFilter }

func (b hashedParquet) Add(keys Keys) int {
	return numberHashed(keys.Digests, func(h1, _ uint64) bool { b.f.Insert(h1); return false })
}
func (b hashedParquet) Contains(keys Keys) int {
	return numberHashed(keys.Digests, func(h1, _ uint64) bool { return b.f.Check(h1) })
}
