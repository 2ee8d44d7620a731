package counting

import "sync/atomic"

// counters are counters of 4 bits, 16 per word: counter i is bits 4·(i%16) to 4·(i%16)+3 of word
// i/16. They are safe for concurrent use.
type counters []atomic.Uint64

const (
	counterBits = 4
	perWord     = 64 / counterBits
	full        = 1<<counterBits - 1
)

// wordsFor returns how many words hold m counters.
func wordsFor(m uint64) uint64 { return m/perWord + min(m%perWord, 1) }

func (c counters) get(i uint64) uint64 {
	return c[i/perWord].Load() >> (i % perWord * counterBits) & full
}

// up adds 1 to a counter unless it is full. It returns the old value.
func (c counters) up(i uint64) uint64 {
	word, shift := &c[i/perWord], i%perWord*counterBits
	for {
		old := word.Load()
		was := old >> shift & full
		if was == full || word.CompareAndSwap(old, old+1<<shift) {
			return was
		}
	}
}

// down subtracts 1 from a counter unless it is 0 or full. It returns the old value.
func (c counters) down(i uint64) uint64 {
	word, shift := &c[i/perWord], i%perWord*counterBits
	for {
		old := word.Load()
		was := old >> shift & full
		if was == 0 || was == full || word.CompareAndSwap(old, old-1<<shift) {
			return was
		}
	}
}

// lowest is a mask of the lowest bit of each counter in a word.
const lowest = 0x1111111111111111

// nonzero returns a word in which the lowest bit of each counter tells whether the counter in word is not 0. All other
// bits are 0.
func nonzero(word uint64) uint64 {
	word |= word >> 2
	return (word | word>>1) & lowest
}

// gather moves bits 0, 4, 8, … of a word to bits 0, 1, 2, …
func gather(word uint64) uint64 {
	word = (word | word>>3) & 0x0303030303030303
	word = (word | word>>6) & 0x000f000f000f000f
	word = (word | word>>12) & 0x000000ff000000ff
	return (word | word>>24) & 0xffff
}
