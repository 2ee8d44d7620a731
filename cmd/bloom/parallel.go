package main

import (
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
)

// A parallelAdder adds keys to a filter on all cores, with exactly the answers that one core
// would give if it added one key after the other.
//
// That is possible because a bit, once set, stays set. A key is new if one of its bits was
// not set by any key before it. So the bits can be shared out: the filter is cut into ranges,
// each of which is worked on by one goroutine at a time, in the order of the keys, and a key
// is new if one of the ranges says so. Adding a key that is there sets nothing, so no range
// has to know what the others say. With blocked all bits of a key are in one range.
//
// It has two phases for at most maxChunk keys: their positions are found and laid into one
// basket for each range, some keys a goroutine; then the baskets are emptied, some ranges a
// goroutine. That it is faster on one core, too, is because a range fits in its cache.
type parallelAdder struct {
	filter  *bloom.BloomFilter
	scheme  bloom.Scheme
	words   []atomic.Uint64
	plain   []uint64 // the same, for who has them for himself
	isNew   [ranges]marks
	blocks  uint64 // of 512 bits, of which one has all bits of a key; 0 for other strategies
	shift   int    // from a position, or from a block, to its range
	pieces  []piece
	workers int
}

// maxChunk is how many keys are added at once, at most. A key's number among them has 12 bits.
const (
	indexBits = 12
	maxChunk  = 1 << indexBits
)

// A piece is some keys that one goroutine prepares.
type piece struct {
	positions []uint64            // of one key
	bits      [ranges][]uint64    // for each range position<<indexBits | key
	keys      [ranges][]hashedKey // the same where one range has all of a key's bits
}

// A hashedKey is the digest of a key, and its number.
type hashedKey struct {
	h1, h2 uint64
	index  int
}

const (
	ranges    = 16
	pieceKeys = 256 // of a piece, so that a small chunk is one and needs no goroutine
)

func newParallelAdder(f *bloom.BloomFilter) *parallelAdder {
	a := &parallelAdder{filter: f, scheme: f.Scheme(), words: f.Words(), workers: runtime.GOMAXPROCS(0)}
	a.plain = unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(a.words))), len(a.words))
	units := f.Params().M
	if strings.HasPrefix(a.scheme.Strategy().Name(), "blocked-") {
		a.blocks = units / 512
		units = a.blocks
	}
	a.shift = max(bits.Len64(units-1)-bits.Len64(ranges-1), 0)
	if a.blocks == 0 {
		a.shift = max(a.shift, 9) // no two ranges share a cache line
	}
	a.pieces = make([]piece, maxChunk/pieceKeys)
	return a
}

// add adds at most maxChunk keys. added[i] tells whether keys[i] was new, and the result is
// how many were.
func (a *parallelAdder) add(keys [][]byte, added []bool) (count int) {
	if a.filter.Params().M > 1<<(64-indexBits) { // more than any machine has
		return a.filter.AddMany(keys, added)
	}
	pieces := a.pieces[:(len(keys)+pieceKeys-1)/pieceKeys]
	a.each(len(pieces), func(i int) {
		first := i * pieceKeys
		pieces[i].prepare(a, keys[first:min(first+pieceKeys, len(keys))], first)
	})
	if a.blocks > 0 {
		a.each(ranges, func(r int) {
			for i := range pieces {
				a.addBlocked(pieces[i].keys[r], added)
			}
		})
	} else {
		a.each(ranges, func(r int) {
			a.isNew[r] = marks{}
			for i := range pieces {
				a.set(pieces[i].bits[r], &a.isNew[r])
			}
		})
		for i := range keys {
			added[i] = false
		}
		for r := range a.isNew {
			for i := range keys {
				added[i] = added[i] || a.isNew[r][i/64]>>(i%64)&1 != 0
			}
		}
	}
	for i := range keys {
		if added[i] {
			count++
		}
	}
	return count
}

// each calls do(0) to do(n-1), on as many cores as there are.
func (a *parallelAdder) each(n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := next.Add(1); i <= int64(n); i = next.Add(1) {
			do(int(i - 1))
		}
	}
	var wg sync.WaitGroup
	for range min(a.workers, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// prepare lays the keys, the first of which has the given number, into the baskets.
func (p *piece) prepare(a *parallelAdder, keys [][]byte, first int) {
	if a.blocks > 0 {
		for r := range p.keys {
			p.keys[r] = p.keys[r][:0]
		}
		for i, key := range keys {
			h1, h2 := a.filter.Hash(key)
			block, _ := bits.Mul64(h1, a.blocks) // as the documentation of bloom.Blocked has it
			r := block >> a.shift
			p.keys[r] = append(p.keys[r], hashedKey{h1, h2, first + i})
		}
		return
	}
	for r := range p.bits {
		p.bits[r] = p.bits[r][:0]
	}
	for i, key := range keys {
		p.positions = a.scheme.AppendPositions(p.positions[:0], key)
		for _, pos := range p.positions {
			r := pos >> a.shift
			p.bits[r] = append(p.bits[r], pos<<indexBits|uint64(first+i))
		}
	}
}

// addBlocked adds the keys of one range.
func (a *parallelAdder) addBlocked(keys []hashedKey, added []bool) {
	for _, key := range keys { // so that the cache misses are waited for together
		block, _ := bits.Mul64(key.h1, a.blocks)
		a.words[block*8].Load()
	}
	for _, key := range keys {
		added[key.index] = a.filter.AddHash(key.h1, key.h2)
	}
}

// A marks has a bit for each key of a chunk.
type marks [maxChunk / 64]uint64

// set sets bits of one range, and marks the keys that were the first to do so.
func (a *parallelAdder) set(entries []uint64, isNew *marks) {
	for _, entry := range entries {
		pos, index := entry>>indexBits, entry%maxChunk
		word := &a.plain[pos/64]
		isNew[index/64] |= (^*word >> (pos % 64) & 1) << (index % 64)
		*word |= 1 << (pos % 64)
	}
}
