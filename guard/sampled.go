package guard

import (
	"math/rand/v2"
	"sync/atomic"
)

// A sampled is a counter that many goroutines share. At a high count, it counts only a sample of the calls.
type sampled struct {
	many  atomic.Bool // if true, only a sample is counted; then this cache line is rarely written
	_     [64]byte
	count atomic.Uint64
	_     [64]byte
}

const (
	exact  = 1 << 15 // calls before sampling begins
	weight = 256     // what a sampled call adds, a power of two
)

// add counts every call at first. Later, it ignores most calls, but counts one in weight, on average, as weight calls.
func (c *sampled) add() {
	switch {
	case !c.many.Load():
		if c.count.Add(1) >= exact {
			c.many.Store(true)
		}
	case rand.Uint32()%weight == 0:
		c.count.Add(weight)
	}
}
