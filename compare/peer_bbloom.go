package main

import (
	"math"

	"github.com/ipfs/bbloom"
)

// bbloom is IPFS's: classical, a power of two bits, SipHash of its own. Each
// operation comes twice, plain and, with the suffix TS, under a RWMutex.
func bbloomPeers() []*peer {
	const module = "github.com/ipfs/bbloom"
	return []*peer{
		{
			name: "ipfs/bbloom", module: module, hash: "SipHash (own)", safe: safeReaders,
			make: func(n uint64, p float64) (filter, error) {
				f, err := bbloom.New(float64(n), p)
				return plainBbloom{f, bbloomBits(n, p)}, err
			},
		},
		{
			name: "ipfs/bbloom TS", module: module, hash: "SipHash (own)", safe: safeFull,
			make: func(n uint64, p float64) (filter, error) {
				f, err := bbloom.New(float64(n), p)
				return safeBbloom{f, bbloomBits(n, p)}, err
			},
		},
	}
}

// bbloomBits returns the size that its constructor chooses: the textbook's,
// rounded up to a power of two, at least 512. No method tells; a test compares
// with what it marshals.
func bbloomBits(n uint64, p float64) uint64 {
	want := uint64(-float64(n) * math.Log(p) / (math.Ln2 * math.Ln2))
	size := uint64(512)
	for size < want {
		size *= 2
	}
	return size
}

type plainBbloom struct {
	f    *bbloom.Bloom
	size uint64
}

func (b plainBbloom) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.f.Add(key)
	}
	return 0
}

func (b plainBbloom) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.f.Has(key) {
			found++
		}
	}
	return found
}

func (b plainBbloom) bits() uint64 { return b.size }

type safeBbloom struct {
	f    *bbloom.Bloom
	size uint64
}

func (b safeBbloom) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.f.AddTS(key)
	}
	return 0
}

func (b safeBbloom) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.f.HasTS(key) {
			found++
		}
	}
	return found
}

func (b safeBbloom) bits() uint64 { return b.size }
