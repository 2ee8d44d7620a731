package redisfilter

import "sync/atomic"

// A front is a local copy of those bits of a shard that are known to be set. It
// has never a bit that the shard lacks, so that a key it contains is one that the
// server would call "probably there": it adds no errors of its own. The nil front
// knows nothing.
type front []atomic.Uint64

func newFront(m uint64) front { return make(front, (m+63)/64) }

// containsAll reports whether all bits at these positions are known to be set.
func (f front) containsAll(positions []uint64) bool {
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

// learn notes that bits of a word are set.
func (f front) learn(index, mask uint64) {
	if f == nil {
		return
	}
	if word := &f[index]; word.Load()&mask != mask {
		word.Or(mask)
	}
}
