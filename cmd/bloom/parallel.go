package main

import (
	"math/bits"
	"strings"
	"unsafe"

	"github.com/seed3447c163/bloom"
)

// A parallelAdder adds keys to a filter on all cores, with exactly the answers that one core
// would give if it added one key after the other.
//
// That is possible because a bit, once set, stays set. A key is new if one of its bits was
// not set by any key before it. So the filter is cut into ranges. Each has a goroutine, which
// sets the bits of its range in the order of the keys, and a key is new if one of the ranges
// says so. Adding a key that is there sets nothing, so no range has to know what the others
// say. With blocked all bits of a key are in one range.
//
// Other goroutines find the positions before, and lay them into a basket for each range.
type parallelAdder struct {
	filter    *bloom.BloomFilter
	scheme    bloom.Scheme
	words     []uint64
	blocks    uint64 // of 512 bits, of which one has all bits of a key; 0 for other strategies
	shift     int    // from a position, or from a block, to its range
	toPrepare chan *chunk
	toAdd     []chan *chunk // for each range
}

const (
	indexBits = 12
	maxChunk  = 1 << indexBits // keys that are added at once: a number among them has so many bits
	inFlight  = 8              // chunks on their way
)

// tooLarge is from how many bits on a position has no room in a basket: more than any machine
// has.
const tooLarge = 1 << (64 - indexBits)

func newParallelAdder(f *bloom.BloomFilter, workers int) *parallelAdder {
	words := f.Words()
	a := &parallelAdder{
		filter: f,
		scheme: f.Scheme(),
		// Each range has its words for itself, so atomic operations would be a waste.
		words:     unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(words))), len(words)),
		toPrepare: make(chan *chunk, inFlight),
	}
	ranges := 1
	for ranges < 2*workers {
		ranges *= 2
	}
	units := f.Params().M
	if strings.HasPrefix(a.scheme.Strategy().Name(), "blocked-") {
		a.blocks = units / 512
		units = a.blocks
	}
	a.shift = max(bits.Len64(units-1)-bits.Len(uint(ranges-1)), 0)
	if a.blocks == 0 {
		a.shift = max(a.shift, 9) // no two ranges share a cache line
	}
	for range workers {
		go func() {
			for c := range a.toPrepare {
				a.prepare(c)
				close(c.prepared)
			}
		}()
	}
	for r := range ranges {
		chunks := make(chan *chunk, inFlight)
		a.toAdd = append(a.toAdd, chunks)
		go func() {
			for c := range chunks {
				<-c.prepared
				a.addRange(c, r)
				if c.left.Add(-1) == 0 {
					a.finish(c)
				}
			}
		}()
	}
	return a
}

// start begins to add the keys of a chunk. When c.done is closed, c.added and c.count tell
// which were new, and how many.
func (a *parallelAdder) start(c *chunk) {
	c.prepared, c.done = make(chan struct{}), make(chan struct{})
	if a.filter.Params().M > tooLarge {
		c.count = a.filter.AddMany(c.keys, c.added)
		close(c.done)
		return
	}
	c.left.Store(int32(len(a.toAdd)))
	a.toPrepare <- c
	for _, chunks := range a.toAdd {
		chunks <- c
	}
}

// close ends the goroutines, when they have done what was started.
func (a *parallelAdder) close() {
	close(a.toPrepare)
	for _, chunks := range a.toAdd {
		close(chunks)
	}
}

// A basket has what is to be done in one range for the keys of a chunk.
type basket struct {
	bits  []uint64    // position<<indexBits | number of the key
	keys  []hashedKey // with blocked
	isNew [maxChunk]uint8
}

// A hashedKey is the digest of a key, and its number.
type hashedKey struct {
	h1, h2 uint64
	index  int
}

// prepare lays the keys of a chunk into the baskets.
func (a *parallelAdder) prepare(c *chunk) {
	if c.baskets == nil {
		c.baskets = make([]basket, len(a.toAdd))
	}
	for r := range c.baskets {
		b := &c.baskets[r]
		b.bits, b.keys = b.bits[:0], b.keys[:0]
	}
	if a.blocks > 0 {
		for i, key := range c.keys {
			h1, h2 := a.filter.Digest(key)
			b := &c.baskets[a.block(h1)>>a.shift]
			b.keys = append(b.keys, hashedKey{h1, h2, i})
		}
		return
	}
	for i, key := range c.keys {
		c.positions = a.scheme.AppendPositions(c.positions[:0], key)
		for _, pos := range c.positions {
			b := &c.baskets[pos>>a.shift]
			b.bits = append(b.bits, pos<<indexBits|uint64(i))
		}
	}
}

// block returns the block that has all bits of a key, as the documentation of bloom.Blocked
// has it.
func (a *parallelAdder) block(h1 uint64) uint64 {
	block, _ := bits.Mul64(h1, a.blocks)
	return block
}

// addRange adds what a chunk has for one range.
func (a *parallelAdder) addRange(c *chunk, r int) {
	b := &c.baskets[r]
	if a.blocks > 0 {
		for keys := b.keys; len(keys) > 0; {
			group := keys[:min(64, len(keys))]
			for _, key := range group { // so that the cache misses are waited for together
				a.filter.Words()[a.block(key.h1)*8].Load()
			}
			for _, key := range group {
				c.added[key.index] = a.filter.AddDigest(key.h1, key.h2)
			}
			keys = keys[len(group):]
		}
		return
	}
	clear(b.isNew[:len(c.keys)])
	for _, entry := range b.bits {
		pos, index := entry>>indexBits, entry%maxChunk
		word := &a.words[pos/64]
		b.isNew[index] |= uint8(^*word >> (pos % 64) & 1)
		*word |= 1 << (pos % 64)
	}
}

// finish says which keys were new.
func (a *parallelAdder) finish(c *chunk) {
	c.count = 0
	for i := range c.keys {
		if a.blocks == 0 {
			isNew := uint8(0)
			for r := range c.baskets {
				isNew |= c.baskets[r].isNew[i]
			}
			c.added[i] = isNew != 0
		}
		if c.added[i] {
			c.count++
		}
	}
	close(c.done)
}
