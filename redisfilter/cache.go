package redisfilter

import "sync/atomic"

// A cache is a local copy of the bits of a shard that are known to be set. It never has a bit that
// the shard lacks, so it adds no errors. The nil cache knows nothing.
type cache []atomic.Uint64

func newCache(m uint64) cache { return make(cache, (m+63)/64) }

// contains reports whether all bits at these positions are known to be set.
func (f cache) contains(positions []uint64) bool {
	if f == nil {
		return false
	}
	for _, pos := range positions {
		if f[pos/64].Load()>>(pos%64)&1 == 0 {
			return false
		}
	}
	return true
}

// learn notes that the bits at these positions are set.
func (f cache) learn(positions []uint64) {
	if f == nil {
		return
	}
	for _, pos := range positions {
		if word, bit := &f[pos/64], uint64(1)<<(pos%64); word.Load()&bit == 0 {
			word.Or(bit)
		}
	}
}
