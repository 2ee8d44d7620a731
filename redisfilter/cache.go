package redisfilter

import (
	"sync/atomic"
	"time"
)

// A cache is a local copy of bits that are known to be set in a shard. It has no other bits, so a key in the cache is
// also in the shard. It is allocated by the first confirmed add.
//
// A server that goes back to an older state forgets keys of the cache. So the cache may answer for a second after the
// server has confirmed one of its keys; then the next call for a key of the cache goes to the server. Replies about
// other keys confirm nothing: the server may have forgotten only the keys that the cache has.
type cache struct {
	words     uint64 // 0 if there is no cache
	bits      atomic.Pointer[[]atomic.Uint64]
	confirmed atomic.Int64 // local send time of the last command that confirmed a key, in nanoseconds
}

// trusted is how long the cache answers after a confirmation.
const trusted = time.Second

// has reports whether all bits at these positions are known to be set.
func (c *cache) has(positions []uint64) bool {
	bits := c.bits.Load()
	if bits == nil {
		return false
	}
	for _, pos := range positions {
		if (*bits)[pos/64].Load()>>(pos%64)&1 == 0 {
			return false
		}
	}
	return true
}

// mayAnswer reports whether the cache may answer without the server.
func (c *cache) mayAnswer() bool { return elapsed()-time.Duration(c.confirmed.Load()) < trusted }

// confirm records that the reply to a command sent at this time has confirmed a key of the cache.
func (c *cache) confirm(sent time.Duration) { c.confirmed.Store(int64(sent)) }

// learn sets the bits of a key that the server has, according to the reply to a command that was sent at this time.
func (c *cache) learn(positions []uint64, sent time.Duration) {
	if c.words == 0 {
		return
	}
	bits := c.bits.Load()
	if bits == nil {
		room := make([]atomic.Uint64, c.words)
		c.confirm(sent) // of the first key of the cache
		c.bits.CompareAndSwap(nil, &room)
		bits = c.bits.Load()
	}
	for _, pos := range positions {
		if word, bit := &(*bits)[pos/64], uint64(1)<<(pos%64); word.Load()&bit == 0 {
			word.Or(bit)
		}
	}
}
