package main

import (
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/zeebo/xxh3"
)

// ristretto's z.Bloom is the doorkeeper of its cache: classical, a power of two
// bits, for keys that are hashed already, not safe for concurrent use.
func ristrettoPeers() []*peer {
	return []*peer{{
		name: "ristretto z.Bloom", module: "github.com/dgraph-io/ristretto/v2", hash: "xxh3", safe: safeReaders,
		make: func(n uint64, p float64) (filter, error) {
			return ristretto{z.NewBloomFilter(float64(n), p)}, nil
		},
	}}
}

type ristretto struct{ f *z.Bloom }

func (r ristretto) addAll(keys [][]byte) int {
	for _, key := range keys {
		r.f.Add(xxh3.Hash(key))
	}
	return 0
}

func (r ristretto) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if r.f.Has(xxh3.Hash(key)) {
			found++
		}
	}
	return found
}

// bits leaves out the five words of the struct that TotalSize counts.
func (r ristretto) bits() uint64 { return uint64(r.f.TotalSize()-5*8) * 8 }
