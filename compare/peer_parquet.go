package main

import (
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/zeebo/xxh3"
)

// parquet-go has the split-block filter of the Parquet format: eight bits of a key
// in one block of 256, by AVX2 assembly on amd64. For keys that are hashed already,
// not safe for concurrent use.
func parquetPeers() []*peer {
	return []*peer{{
		name: "parquet-go split-block", module: "github.com/parquet-go/parquet-go", hash: "xxh3", safe: safeReaders, blocked: true,
		make: func(n uint64, p float64) (filter, error) {
			bitsPerKey, err := splitBlockBitsPerKey(p)
			if err != nil {
				return nil, err
			}
			return parquet{make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(n), bitsPerKey))}, nil
		},
	}}
}

// splitBlockBitsPerKey returns the smallest whole number of bits a key for a rate
// of p: the constructor takes no p. The Parquet format's text on Bloom filters
// gives 10.5 bits for 1 % and 26.4 for 0.01 %; this gives 11 and 27.
//
// A block that holds i keys has each bit of a word with probability
// 1 - (31/32)^i, eight words must agree, and i is Poisson with mean 256/bits
// (Putze, Sanders & Singler 2007, section 3).
func splitBlockBitsPerKey(p float64) (uint, error) {
	for perKey := uint(1); perKey <= 256; perKey++ {
		mean := bloom.BlockSize * 8 / float64(perKey)
		rate, weight := 0.0, math.Exp(-mean)
		for i := 1.0; i < mean+20*math.Sqrt(mean)+20; i++ {
			weight *= mean / i
			rate += weight * math.Pow(1-math.Pow(31.0/32, i), 8)
		}
		if rate <= p {
			return perKey, nil
		}
	}
	return 0, fmt.Errorf("no split-block filter has a rate of %v", p)
}

type parquet struct{ f bloom.SplitBlockFilter }

func (b parquet) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.f.Insert(xxh3.Hash(key))
	}
	return 0
}

func (b parquet) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.f.Check(xxh3.Hash(key)) {
			found++
		}
	}
	return found
}

func (b parquet) bits() uint64 { return uint64(len(b.f)) * bloom.BlockSize * 8 }
