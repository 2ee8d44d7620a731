package main

import (
	bloomfilter "github.com/holiman/bloomfilter/v2"
	"github.com/zeebo/xxh3"
)

// holiman/bloomfilter is Ethereum's: classical, for keys that are hashed already,
// with a RWMutex inside.
func holimanPeers() []*peer {
	return []*peer{{
		name: "holiman/bloomfilter", module: "github.com/holiman/bloomfilter/v2", hash: "xxh3", safe: safeFull,
		make: func(n uint64, p float64) (filter, error) {
			f, err := bloomfilter.NewOptimal(n, p)
			return holiman{f}, err
		},
	}}
}

type holiman struct{ f *bloomfilter.Filter }

func (h holiman) addAll(keys [][]byte) int {
	for _, key := range keys {
		h.f.AddHash(xxh3.Hash(key))
	}
	return 0
}

func (h holiman) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if h.f.ContainsHash(xxh3.Hash(key)) {
			found++
		}
	}
	return found
}

func (h holiman) bits() uint64 { return h.f.M() }
