package main

import (
	"sync"

	"github.com/bits-and-blooms/bloom/v3"
)

// bits-and-blooms is the filter most Go programs use: classical, Murmur3 twice
// over the key, not safe for concurrent use. Programs that need that put a
// RWMutex around it, as its README advises.
func bitsAndBloomsPeers() []*peer {
	const module = "github.com/bits-and-blooms/bloom/v3"
	return []*peer{
		{
			name: "bits-and-blooms", module: module, hash: "Murmur3 (own)", safe: safeReaders,
			make: func(n uint64, p float64) (filter, error) {
				return bitsAndBlooms{bloom.NewWithEstimates(uint(n), p)}, nil
			},
		},
		{
			name: "bits-and-blooms + RWMutex", module: module, hash: "Murmur3 (own)", safe: safeFull,
			make: func(n uint64, p float64) (filter, error) {
				return &lockedBitsAndBlooms{f: bloom.NewWithEstimates(uint(n), p)}, nil
			},
		},
	}
}

type bitsAndBlooms struct{ f *bloom.BloomFilter }

func (b bitsAndBlooms) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.f.Add(key)
	}
	return 0
}

func (b bitsAndBlooms) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.f.Test(key) {
			found++
		}
	}
	return found
}

func (b bitsAndBlooms) bits() uint64 { return uint64(b.f.Cap()) }

type lockedBitsAndBlooms struct {
	mu sync.RWMutex
	f  *bloom.BloomFilter
}

func (b *lockedBitsAndBlooms) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.mu.Lock()
		b.f.Add(key)
		b.mu.Unlock()
	}
	return 0
}

func (b *lockedBitsAndBlooms) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		b.mu.RLock()
		ok := b.f.Test(key)
		b.mu.RUnlock()
		if ok {
			found++
		}
	}
	return found
}

func (b *lockedBitsAndBlooms) bits() uint64 { return uint64(b.f.Cap()) }
