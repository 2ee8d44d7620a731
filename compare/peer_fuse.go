package main

import (
	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"
)

// The binary fuse filter is no Bloom filter and stands here for reference: what is
// possible when all keys are known beforehand. Its rate is what its fingerprints
// give, 1/256 or 1/65536: the smallest that keeps p is taken.
func fusePeers() []*peer {
	return []*peer{{
		name: "binary fuse", module: "github.com/FastFilter/xorfilter", hash: "xxh3", safe: safeReaders, static: true,
		make: func(n uint64, p float64) (filter, error) {
			switch hashes := make([]uint64, 0, n); {
			case p >= 1.0/(1<<8):
				return &fuse[uint8]{hashes: hashes}, nil
			case p >= 1.0/(1<<16):
				return &fuse[uint16]{hashes: hashes}, nil
			default:
				return &fuse[uint32]{hashes: hashes}, nil
			}
		},
	}}
}

type fuse[T uint8 | uint16 | uint32] struct {
	hashes []uint64
	f      *xorfilter.BinaryFuse[T]
}

func (b *fuse[T]) addAll(keys [][]byte) int {
	for _, key := range keys {
		b.hashes = append(b.hashes, xxh3.Hash(key))
	}
	return 0
}

// build panics where the library cannot find a filter, which it says happens to
// an empty set and, with a probability that nobody will meet, to others.
func (b *fuse[T]) build() {
	f, err := xorfilter.NewBinaryFuse[T](b.hashes)
	if err != nil {
		panic(err)
	}
	b.f, b.hashes = f, nil
}

func (b *fuse[T]) containsAll(keys [][]byte) (found int) {
	for _, key := range keys {
		if b.f.Contains(xxh3.Hash(key)) {
			found++
		}
	}
	return found
}

func (b *fuse[T]) bits() uint64 {
	var width uint64
	for one := ^T(0); one != 0; one >>= 1 {
		width++
	}
	return uint64(len(b.f.Fingerprints)) * width
}
