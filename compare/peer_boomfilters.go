package main

import boom "github.com/tylertreat/BoomFilters"

// BoomFilters' classical filter hashes with FNV-1 in a hash.Hash64 that all calls
// share, so that not even two lookups may run at once.
func boomFiltersPeers() []*peer {
	return []*peer{{
		name: "BoomFilters", module: "github.com/tylertreat/BoomFilters", hash: "FNV-1 (own)", safe: safeNone,
		make: func(n uint64, p float64) (filter, error) {
			return boomFilter{boom.NewBloomFilter(uint(n), p)}, nil
		},
	}}
}

type boomFilter struct{ f *boom.BloomFilter }

func (b boomFilter) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.f.Add(key)
	}
	return 0
}

func (b boomFilter) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.f.Test(key) {
			found++
		}
	}
	return found
}

func (b boomFilter) bits() uint64 { return uint64(b.f.Capacity()) }
