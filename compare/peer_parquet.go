package main

import (
	split "github.com/parquet-go/parquet-go/bloom"
	"github.com/zeebo/xxh3"

	"github.com/seed3447c163/bloom"
)

// parquet-go has the split-block filter of the Parquet format: eight bits of a key
// in one block of 256, by AVX2 assembly on amd64. For keys that are hashed already,
// not safe for concurrent use. Its constructor takes no p: it is given as many blocks as
// our SplitBlock, which keep the same true rate.
func parquetPeers() []*peer {
	return []*peer{{
		name: "parquet-go split-block", module: "github.com/parquet-go/parquet-go", hash: "xxh3", safe: safeReaders, blocked: true,
		make: func(n uint64, p float64) (filter, error) {
			params, err := bloom.ParamsFor(n, p, bloom.SplitBlock)
			if err != nil {
				return nil, err
			}
			return parquet{make(split.SplitBlockFilter, params.M/256)}, nil
		},
	}}
}

type parquet struct{ f split.SplitBlockFilter }

func (b parquet) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.f.Insert(xxh3.Hash(key))
	}
	return 0
}

func (b parquet) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		found += count(b.f.Check(xxh3.Hash(key)))
	}
	return found
}

func (b parquet) bits() uint64 { return uint64(len(b.f)) * 256 }
