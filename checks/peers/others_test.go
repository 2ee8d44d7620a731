package compare

import (
	"math"
	"sync"

	bitsandblooms "github.com/bits-and-blooms/bloom/v3"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/greatroar/blobloom"
	holiman "github.com/holiman/bloomfilter/v2"
	"github.com/ipfs/bbloom"
	parquet "github.com/parquet-go/parquet-go/bloom"
	boom "github.com/tylertreat/BoomFilters"
	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom"
)

// Others returns the filters of other libraries, each sized as its documentation says. Filters
// of hashes get them from xxh3.
func Others() []*Peer {
	return []*Peer{
		{Name: "parquet-go", Safe: Readers, Make: func(n uint64, p float64) (*Filter, error) {
			f, err := makeParquet(n, p)
			return &Filter{
				add: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { f.Insert(xxh3.Hash(key)); return false })
				},
				contains: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { return f.Check(xxh3.Hash(key)) })
				},
				bits: uint64(len(f)) * 256,
			}, err
		}},
		{Name: "parquet-go, digests", Safe: Readers, Hashed: true, Make: func(n uint64, p float64) (*Filter, error) {
			f, err := makeParquet(n, p)
			return &Filter{
				add:      func(k Keys) int { return each(k.Hashes, func(h uint64) bool { f.Insert(h); return false }) },
				contains: func(k Keys) int { return each(k.Hashes, func(h uint64) bool { return f.Check(h) }) },
				bits:     uint64(len(f)) * 256,
			}, err
		}},
		{Name: "bits-and-blooms", Safe: Readers, Make: func(n uint64, p float64) (*Filter, error) {
			f := bitsandblooms.NewWithEstimates(uint(n), p)
			return &Filter{
				add:      func(k Keys) int { return each(k.Bytes, func(key []byte) bool { f.Add(key); return false }) },
				contains: func(k Keys) int { return each(k.Bytes, func(key []byte) bool { return f.Test(key) }) },
				bits:     uint64(f.Cap()),
			}, nil
		}},
		{Name: "bits-and-blooms + RWMutex", Safe: Full, Make: func(n uint64, p float64) (*Filter, error) {
			var mu sync.RWMutex // as its README advises
			f := bitsandblooms.NewWithEstimates(uint(n), p)
			return &Filter{
				add: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { mu.Lock(); f.Add(key); mu.Unlock(); return false })
				},
				contains: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { mu.RLock(); yes := f.Test(key); mu.RUnlock(); return yes })
				},
				bits: uint64(f.Cap()),
			}, nil
		}},
		{Name: "holiman/bloomfilter", Safe: Full, Make: func(n uint64, p float64) (*Filter, error) {
			f, err := holiman.NewOptimal(n, p)
			if err != nil {
				return nil, err
			}
			return &Filter{
				add: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { f.AddHash(xxh3.Hash(key)); return false })
				},
				contains: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { return f.ContainsHash(xxh3.Hash(key)) })
				},
				bits: f.M(),
			}, nil
		}},
		{Name: "blobloom.Sync", Safe: Full, Make: func(n uint64, p float64) (*Filter, error) {
			config := blobloom.Config{Capacity: n, FPRate: p}
			bits, _ := blobloom.Optimize(config)
			f := blobloom.NewSyncOptimized(config)
			return &Filter{
				add: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { f.Add(xxh3.Hash(key)); return false })
				},
				contains: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { return f.Has(xxh3.Hash(key)) })
				},
				bits: (bits + blobloom.BlockBits - 1) / blobloom.BlockBits * blobloom.BlockBits,
			}, nil
		}},
		{Name: "ristretto z.Bloom", Safe: Readers, Make: func(n uint64, p float64) (*Filter, error) {
			f := z.NewBloomFilter(float64(n), p)
			return &Filter{
				add: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { f.Add(xxh3.Hash(key)); return false })
				},
				contains: func(k Keys) int {
					return each(k.Bytes, func(key []byte) bool { return f.Has(xxh3.Hash(key)) })
				},
				bits: uint64(f.TotalSize()-5*8) * 8, // without the five words of its struct
			}, nil
		}},
		{Name: "ipfs/bbloom", Safe: Readers, Make: func(n uint64, p float64) (*Filter, error) {
			f, err := bbloom.New(float64(n), p)
			if err != nil {
				return nil, err
			}
			return &Filter{
				add:      func(k Keys) int { return each(k.Bytes, func(key []byte) bool { f.Add(key); return false }) },
				contains: func(k Keys) int { return each(k.Bytes, func(key []byte) bool { return f.Has(key) }) },
				bits:     bbloomBits(n, p),
			}, nil
		}},
		{Name: "BoomFilters", Safe: None, Make: func(n uint64, p float64) (*Filter, error) { // all calls share one hash.Hash64
			f := boom.NewBloomFilter(uint(n), p)
			return &Filter{
				add:      func(k Keys) int { return each(k.Bytes, func(key []byte) bool { f.Add(key); return false }) },
				contains: func(k Keys) int { return each(k.Bytes, func(key []byte) bool { return f.Test(key) }) },
				bits:     uint64(f.Capacity()),
			}, nil
		}},
		{Name: "pebble", Safe: Readers, Static: true, Make: makePebble},
	}
}

// makeParquet returns the filter of the Parquet format. Its constructor takes no p: the filter
// gets as many blocks as this library's SplitBlock, which gives both the same true rate.
func makeParquet(n uint64, p float64) (parquet.SplitBlockFilter, error) {
	scheme, err := bloom.NewScheme(n, p, bloom.WithStrategy(bloom.SplitBlock))
	if err != nil {
		return nil, err
	}
	return make(parquet.SplitBlockFilter, scheme.SizeBytes()/parquet.BlockSize), nil
}

// bbloomBits returns the size that bbloom chooses and no method tells: the textbook's, rounded
// up to a power of two, at least 512.
func bbloomBits(n uint64, p float64) uint64 {
	want := uint64(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2))
	size := uint64(512)
	for size < want {
		size *= 2
	}
	return size
}

// makePebble returns the filter of pebble's tables, which is built from all keys. It is sized in
// whole bits per key: the textbook's number, rounded up.
func makePebble(n uint64, p float64) (*Filter, error) {
	const table = 0 // pebble.TableFilter, whose package would bring the whole store
	policy := pebble.FilterPolicy(math.Ceil(-math.Log2(p) / math.Ln2))
	writer := policy.NewWriter(table)
	var data []byte
	f := &Filter{
		add: func(k Keys) int {
			return each(k.Bytes, func(key []byte) bool { writer.AddKey(key); return false })
		},
		contains: func(k Keys) int {
			data := data // not through the closure for every key
			return each(k.Bytes, func(key []byte) bool { return policy.MayContain(table, data, key) })
		},
	}
	f.build = func() {
		data = writer.Finish(nil)
		f.bits = uint64(len(data)) * 8
	}
	return f, nil
}
