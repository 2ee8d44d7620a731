package main

import (
	"math"

	peerbloom "github.com/bits-and-blooms/bloom/v3"
	pebble "github.com/cockroachdb/pebble/v2/bloom"
	holiman "github.com/holiman/bloomfilter/v2"
	parquet "github.com/parquet-go/parquet-go/bloom"
	"github.com/zeebo/xxh3"
)

// maxPeerN bounds the contrast: what there is to see is seen by then.
const maxPeerN = 10_000_000

// contrasts are sized as their own documentation says, and promise nothing to us.
func contrasts() []*subject {
	return []*subject{
		{name: "textbook double hashing", maxN: maxPeerN, open: openTextbook,
			about: "(h1 + i·h2) mod m on the Murmur3 digest, with the m and k that New computes for independent positions"},
		{name: "bits-and-blooms", peer: "github.com/bits-and-blooms/bloom/v3", maxN: maxPeerN, open: openBitsAndBlooms,
			about: "`NewWithEstimates(n, p)`"},
		{name: "holiman", peer: "github.com/holiman/bloomfilter/v2", maxN: maxPeerN, open: openHoliman,
			about: "`NewOptimal(n, p)`, xxh3"},
		{name: "parquet-go", peer: "github.com/parquet-go/parquet-go", maxN: maxPeerN, open: openParquet,
			about: "split-block, xxh3; takes whole bits per key, not p: the textbook's number, rounded up"},
		{name: "pebble", peer: "github.com/cockroachdb/pebble/v2", maxN: maxPeerN, open: openPebble,
			about: "blocked, 32-bit hash; takes whole bits per key, not p: the textbook's number, rounded up"},
	}
}

// textbookBits is how many bits a key the classical formula asks for.
func textbookBits(p float64) uint { return uint(math.Ceil(-math.Log2(p) / math.Ln2)) }

type bitsAndBlooms struct{ *peerbloom.BloomFilter }

func (f bitsAndBlooms) Add(key []byte)           { f.BloomFilter.Add(key) }
func (f bitsAndBlooms) Contains(key []byte) bool { return f.Test(key) }

func openBitsAndBlooms(n uint64, p float64) (*sample, error) {
	f := peerbloom.NewWithEstimates(uint(n), p)
	return &sample{m: uint64(f.Cap()), k: int(f.K()), predicted: math.NaN(), next: func() filter {
		return bitsAndBlooms{f.ClearAll()}
	}}, nil
}

type holimanFilter struct{ f *holiman.Filter }

func (f holimanFilter) Add(key []byte)           { f.f.AddHash(xxh3.Hash(key)) }
func (f holimanFilter) Contains(key []byte) bool { return f.f.ContainsHash(xxh3.Hash(key)) }

// Its constructor chooses random hash keys, so no two runs agree to the last digit.
func openHoliman(n uint64, p float64) (*sample, error) {
	f, err := holiman.NewOptimal(n, p)
	if err != nil {
		return nil, err
	}
	m, k := f.M(), f.K()
	return &sample{m: m, k: int(k), predicted: math.NaN(), next: func() filter {
		fresh, err := holiman.New(m, k)
		if err != nil {
			panic(err) // the same m and k were accepted before
		}
		return holimanFilter{fresh}
	}}, nil
}

type parquetFilter struct{ parquet.SplitBlockFilter }

func (f parquetFilter) Add(key []byte)           { f.Insert(xxh3.Hash(key)) }
func (f parquetFilter) Contains(key []byte) bool { return f.Check(xxh3.Hash(key)) }

func openParquet(n uint64, p float64) (*sample, error) {
	f := make(parquet.SplitBlockFilter, parquet.NumSplitBlocksOf(int64(n), textbookBits(p)))
	return &sample{m: uint64(len(f)) * parquet.BlockSize * 8, k: 8, predicted: math.NaN(), next: func() filter {
		clear(f)
		return parquetFilter{f}
	}}, nil
}

// pebbleTable is pebble.TableFilter, the one kind there is; its package would
// bring the whole store with it.
const pebbleTable = 0

type pebbleFilter struct {
	policy pebble.FilterPolicy
	writer interface {
		AddKey(key []byte)
		Finish(buf []byte) []byte
	}
	data []byte
}

func (f *pebbleFilter) Add(key []byte) { f.writer.AddKey(key) }
func (f *pebbleFilter) Seal()          { f.data = f.writer.Finish(nil) }
func (f *pebbleFilter) Contains(key []byte) bool {
	return f.policy.MayContain(pebbleTable, f.data, key)
}

func openPebble(n uint64, p float64) (*sample, error) {
	bits := textbookBits(p)
	policy := pebble.FilterPolicy(bits)
	return &sample{m: n * uint64(bits), predicted: math.NaN(), next: func() filter {
		return &pebbleFilter{policy: policy, writer: policy.NewWriter(pebbleTable)}
	}}, nil
}
