package main

import (
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
)

const (
	maxChunk = 4096 // lines per chunk
	inFlight = 8    // chunks at the same time
)

// A chunk holds some lines in its own memory.
type chunk struct {
	text  []byte   // the lines with their ends
	lines [][]byte // in text
	keys  [][]byte // in lines
	added []bool   // the new keys

	// For parallelAdder.
	baskets      [][]hashedKey // per range
	left         atomic.Int32  // ranges to do
	hashed, done chan struct{}
}

// A hashedKey is the digest of a key and its number in the chunk.
type hashedKey struct {
	h1, h2 uint64
	index  int
}

// fill copies up to maxChunk lines and returns the others.
func (c *chunk) fill(in *input, lines [][]byte) (rest [][]byte) {
	n := min(len(lines), maxChunk)
	size := 0
	for _, line := range lines[:n] {
		size += len(line) + 1
	}
	if cap(c.text) < size {
		c.text = make([]byte, 0, size)
	}
	c.text, c.lines, c.added = c.text[:0], c.lines[:0], resize(c.added, n)
	for _, line := range lines[:n] {
		start := len(c.text)
		c.text = append(append(c.text, line...), in.end())
		c.lines = append(c.lines, c.text[start:len(c.text)-1])
	}
	c.keys = in.keysOf(c.keys[:0], c.lines)
	return lines[n:]
}

// A parallelAdder adds keys to a filter on all cores, with the answers of one core.
//
// The blocked strategies set all bits of a key in one block. So the blocks are divided into
// ranges, and each range has a goroutine, which adds the keys of its range in their order. Other
// goroutines hash the keys before. With other strategies one goroutine adds all keys.
type parallelAdder struct {
	filter *bloom.BloomFilter
	blocks uint64 // of 512 bits; 0 for other strategies
	shift  int    // from a block to its range
	toHash chan *chunk
	toAdd  []chan *chunk // per range
}

func newParallelAdder(f *bloom.BloomFilter, workers int) *parallelAdder {
	a := &parallelAdder{filter: f, toHash: make(chan *chunk, inFlight)}
	if !strings.HasPrefix(f.Scheme().Strategy().Name(), "blocked-") {
		return a
	}
	a.blocks = f.Params().M / 512
	ranges := 1
	for ranges < 2*workers {
		ranges *= 2
	}
	a.shift = max(bits.Len64(a.blocks-1)-bits.Len(uint(ranges-1)), 0)
	for range workers {
		go func() {
			for c := range a.toHash {
				a.hash(c)
				close(c.hashed)
			}
		}()
	}
	for r := range ranges {
		chunks := make(chan *chunk, inFlight)
		a.toAdd = append(a.toAdd, chunks)
		go func() {
			for c := range chunks {
				<-c.hashed
				a.addRange(c, r)
				if c.left.Add(-1) == 0 {
					close(c.done)
				}
			}
		}()
	}
	return a
}

// start begins to add the keys of a chunk. When c.done is closed, c.added is set.
func (a *parallelAdder) start(c *chunk) {
	c.hashed, c.done = make(chan struct{}), make(chan struct{})
	if a.blocks == 0 {
		a.filter.AddMany(c.keys, c.added)
		close(c.done)
		return
	}
	c.left.Store(int32(len(a.toAdd)))
	a.toHash <- c
	for _, chunks := range a.toAdd {
		chunks <- c
	}
}

// close ends the goroutines after the started chunks.
func (a *parallelAdder) close() {
	close(a.toHash)
	for _, chunks := range a.toAdd {
		close(chunks)
	}
}

// hash puts the digests of a chunk's keys into the baskets.
func (a *parallelAdder) hash(c *chunk) {
	if c.baskets == nil {
		c.baskets = make([][]hashedKey, len(a.toAdd))
	}
	for r := range c.baskets {
		c.baskets[r] = c.baskets[r][:0]
	}
	for i, key := range c.keys {
		h1, h2 := a.filter.Digest(key)
		r := a.block(h1) >> a.shift
		c.baskets[r] = append(c.baskets[r], hashedKey{h1, h2, i})
	}
}

// block returns the block of a digest, as documented at bloom.Blocked.
func (a *parallelAdder) block(h1 uint64) uint64 {
	block, _ := bits.Mul64(h1, a.blocks)
	return block
}

func (a *parallelAdder) addRange(c *chunk, r int) {
	for keys := c.baskets[r]; len(keys) > 0; {
		group := keys[:min(64, len(keys))]
		for _, key := range group { // the cache misses overlap
			a.filter.Words()[a.block(key.h1)*8].Load()
		}
		for _, key := range group {
			c.added[key.index] = a.filter.AddDigest(key.h1, key.h2)
		}
		keys = keys[len(group):]
	}
}
