package bloom

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/splitvec"
	"github.com/seed3447c163/bloom/internal/words"
)

// bitArray is a fixed number of bits that any number of goroutines may read and
// set at the same time without a lock. Bit i is bit i%64 of word i/64.
//
// Go's atomics are sequentially consistent, and the proof that an add has one
// winner (see strategy.go) rests on that.
type bitArray []atomic.Uint64

// wordsFor returns how many words hold m bits.
func wordsFor(m uint64) uint64 { return m/64 + min(m%64, 1) }

// newBitArray returns m bits, all zero, or an error that wraps ErrTooLarge if
// this machine cannot hold them.
func newBitArray(m uint64) (bitArray, error) {
	w, err := words.New(wordsFor(m))
	return w, tooLarge(m, err)
}

// checkMemory returns an error that wraps ErrTooLarge if this machine cannot hold
// m bits.
func checkMemory(m uint64) error { return tooLarge(m, words.Check(wordsFor(m))) }

// tryWords returns n words for some of m bits, or an error that wraps ErrTooLarge.
func tryWords(m, n uint64) (bitArray, error) {
	w, err := words.Try(n)
	return w, tooLarge(m, err)
}

func tooLarge(m uint64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: m = %d bits are %w", ErrTooLarge, m, err)
}

func makeWords(n uint64) bitArray { return words.Make(n) }

// get reports whether bit i is set, as 1 or 0 so that callers can combine bits
// without branches. It inlines; a test holds it to that.
func (b bitArray) get(i uint64) uint64 {
	return b[i/64].Load() >> (i % 64) & 1
}

// set sets bit i and does not say what it was: without a result, Or is a single
// locked instruction on amd64. It inlines; a test holds it to that.
func (b bitArray) set(i uint64) {
	b[i/64].Or(1 << (i % 64))
}

// flip sets bit i and reports whether it was this call that did so.
func (b bitArray) flip(i uint64) bool {
	mask := uint64(1) << (i % 64)
	return b[i/64].Or(mask)&mask == 0
}

// count returns the number of bits that are set, in O(m).
func (b bitArray) count() uint64 {
	var ones uint64
	for i := range b {
		ones += uint64(bits.OnesCount64(b[i].Load()))
	}
	return ones
}

// or sets every bit that is set in other, which has the same length.
func (b bitArray) or(other bitArray) {
	for i := range b {
		// Most words of a second union add nothing: look before locking the line.
		if w := other[i].Load(); w&^b[i].Load() != 0 {
			b[i].Or(w)
		}
	}
}

// and clears every bit that is not set in other, which has the same length.
func (b bitArray) and(other bitArray) {
	for i := range b {
		if w := other[i].Load(); b[i].Load()&^w != 0 {
			b[i].And(w)
		}
	}
}

// equal reports whether both have the same bits; other has the same length.
func (b bitArray) equal(other bitArray) bool {
	for i := range b {
		if b[i].Load() != other[i].Load() {
			return false
		}
	}
	return true
}

// copyFrom overwrites all words with those of other, which has the same length and may be
// written to meanwhile. Nobody else may know of b yet: its words are stored like any
// others, in half the time that atomic stores take, or as vectors, in a quarter.
func (b bitArray) copyFrom(other bitArray) {
	if splitvec.For(other) {
		lines := len(other) / blockWords
		splitvec.CopyLines(b.start(), other.start(), lines)
		b, other = b[lines*blockWords:], other[lines*blockWords:]
	}
	to := b.plain()
	for ; len(to) >= blockWords && len(other) >= blockWords; to, other = to[blockWords:], other[blockWords:] {
		t, from := (*[blockWords]uint64)(to), (*block)(other)
		t[0], t[1], t[2], t[3] = from[0].Load(), from[1].Load(), from[2].Load(), from[3].Load()
		t[4], t[5], t[6], t[7] = from[4].Load(), from[5].Load(), from[6].Load(), from[7].Load()
	}
	for i := range to {
		to[i] = other[i].Load()
	}
}

// start is where the words are in memory, for kernels that need no bounds checks.
func (b bitArray) start() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// checkTail returns an error if a bit at or beyond m is set.
func (b bitArray) checkTail(m uint64, is error) error {
	if tail := m % 64; tail != 0 {
		if last := b[len(b)-1].Load(); last>>tail != 0 {
			return fmt.Errorf("%w: last word %#x has bits beyond m = %d, want none", is, last, m)
		}
	}
	return nil
}

// plain views the words as such, while nobody else knows of them.
func (b bitArray) plain() []uint64 {
	return unsafe.Slice((*uint64)(b.start()), len(b))
}

// clear zeroes all words. Those that are zero are only read.
func (b bitArray) clear() {
	for ; len(b) >= blockWords; b = b[blockWords:] {
		w := (*block)(b)
		if w[0].Load()|w[1].Load()|w[2].Load()|w[3].Load()|w[4].Load()|w[5].Load()|w[6].Load()|w[7].Load() == 0 {
			continue
		}
		for i := range w {
			if w[i].Load() != 0 {
				w[i].Store(0)
			}
		}
	}
	for i := range b {
		b[i].Store(0)
	}
}
