package bloom

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/vector"
)

// bitArray is a fixed number of bits that any number of goroutines may read and
// set at the same time without a lock. Bit i is bit i%64 of word i/64.
//
// The proof that an add has one winner (see addAll) needs Go's sequentially consistent atomics.
type bitArray []atomic.Uint64

// kernelArgs is the part of a filter that kernels work on. Its memory layout is that of [vector.Bits].
type kernelArgs struct {
	blocks uint64 // a digest selects one of them; without blocks, each bit counts as a block
	k      int    // positions per key
	state  uint64 // initial state of the hash, from the seed
	bits   bitArray
}

func (b *kernelArgs) vector() *vector.Bits { return (*vector.Bits)(unsafe.Pointer(b)) }

// wordsFor returns how many words hold m bits.
func wordsFor(m uint64) uint64 { return m/64 + min(m%64, 1) }

// newBitArray returns m bits, all zero, or an error that wraps ErrTooLarge if
// this machine cannot hold them.
func newBitArray(m uint64) (bitArray, error) {
	w, err := memory.NewWords(wordsFor(m))
	return w, tooLarge(m, err)
}

// checkMemory returns an error that wraps ErrTooLarge if this machine cannot hold
// m bits.
func checkMemory(m uint64) error { return tooLarge(m, memory.CheckWords(wordsFor(m))) }

// tryWords allocates n words, all words of a filter of m bits or some. The error names m and wraps ErrTooLarge.
func tryWords(m, n uint64) (bitArray, error) {
	w, err := memory.TryWords(n)
	return w, tooLarge(m, err)
}

func tooLarge(m uint64, err error) error {
	if err == nil {
		return nil
	}
	return fail(ErrTooLarge, "m = %d bits are %w", m, err)
}

func makeWords(n uint64) bitArray { return memory.MakeWords(n) }

// at returns bit i as 1 or 0, so that callers can combine bits without branches. There is no bounds check: i must be
// less than m. On 64-bit systems it inlines; a test checks that.
func (b bitArray) at(i uint64) uint64 {
	if atomic.LoadUint64(wordAt(b.start(), i/64))&(1<<(i&63)) != 0 {
		return 1
	}
	return 0
}

// set sets bit i. It does not return the old bit, because Or without a result is a single locked instruction on amd64.
// It inlines; a test checks that.
func (b bitArray) set(i uint64) {
	b[i/64].Or(1 << (i % 64))
}

// flip sets bit i and reports whether this call changed it.
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

// or sets every bit that is set in other. Both have the same length.
func (b bitArray) or(other bitArray) {
	for i := range b {
		// Most words of a second union add nothing, and a load is cheaper than a locked instruction.
		if w := other[i].Load(); w&^b[i].Load() != 0 {
			b[i].Or(w)
		}
	}
}

// and clears every bit that is not set in other. Both have the same length.
func (b bitArray) and(other bitArray) {
	for i := range b {
		if w := other[i].Load(); b[i].Load()&^w != 0 {
			b[i].And(w)
		}
	}
}

// equal reports whether b and other have the same bits. Both have the same length.
func (b bitArray) equal(other bitArray) bool {
	for i := range b {
		if b[i].Load() != other[i].Load() {
			return false
		}
	}
	return true
}

// copyFrom overwrites all words with the words of other. Both have the same length. Other goroutines may write to other
// during the copy. No other goroutine may use b yet, because the stores are not atomic. Ordinary stores take half the
// time of atomic ones, vector stores a quarter.
func (b bitArray) copyFrom(other bitArray) {
	if vector.Has {
		for len(other) >= blockWords {
			lines := min(len(other)/blockWords, vector.MostLines)
			vector.CopyLines(b.start(), other.start(), lines)
			b, other = b[lines*blockWords:], other[lines*blockWords:]
		}
	}
	to := unsafe.Slice((*uint64)(b.start()), len(b))
	for ; len(to) >= blockWords && len(other) >= blockWords; to, other = to[blockWords:], other[blockWords:] {
		t, from := (*[blockWords]uint64)(to), (*block)(other)
		t[0], t[1], t[2], t[3] = from[0].Load(), from[1].Load(), from[2].Load(), from[3].Load()
		t[4], t[5], t[6], t[7] = from[4].Load(), from[5].Load(), from[6].Load(), from[7].Load()
	}
	for i := range to {
		to[i] = other[i].Load()
	}
}

// A block is one cache line. Strategy Blocked sets all bits of a key in one block.
type block = [blockWords]atomic.Uint64

const (
	blockBits  = 512
	blockWords = blockBits / 64
)

// start returns the address of the first word, for code that needs no bounds checks.
func (b bitArray) start() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// wordAt returns the address of the i-th word after p.
func wordAt(p unsafe.Pointer, i uint64) *uint64 { return (*uint64)(unsafe.Add(p, i*8)) }

// flipLast sets the bits of unset in the last word that an add writes. It reports whether this call changed one of
// them.
func flipLast(w *uint64, unset uint64) bool { return atomic.OrUint64(w, unset)&unset != unset }

// flipTwo is the second pass of an add: it sets the bits of unset0 in a0 and of unset1 in a1, and reports whether the
// add wins. The last word with an unset bit is written last.
func flipTwo(a0, a1 *uint64, unset0, unset1 uint64) bool {
	if unset1 == 0 {
		return unset0 != 0 && flipLast(a0, unset0)
	}
	atomic.OrUint64(a0, unset0)
	return flipLast(a1, unset1)
}

// flipFour is the second pass of an add over four words. It reports whether the add wins. The last word with an unset
// bit is written last. The other words are written even if none of their bits are unset.
func flipFour(a0, a1, a2, a3 *uint64, unset0, unset1, unset2, unset3 uint64) bool {
	switch {
	case unset3 != 0:
	case unset2 != 0:
		a2, a3, unset2, unset3 = a3, a2, unset3, unset2
	case unset1 != 0:
		a1, a3, unset1, unset3 = a3, a1, unset3, unset1
	case unset0 != 0:
		a0, a3, unset0, unset3 = a3, a0, unset3, unset0
	default:
		return false
	}
	atomic.OrUint64(a0, unset0)
	atomic.OrUint64(a1, unset1)
	atomic.OrUint64(a2, unset2)
	return flipLast(a3, unset3)
}

// How an add finds its one winner
//
// Each add makes two passes over the key's k bits.
//
//  1. The first only reads, and remembers the last unset bit in probe order. If there is
//     none, the key was present: the answer is false, and nothing is written.
//  2. The second sets the other unset bits, then the remembered one. The answer is whether
//     this call changed the remembered bit.
//
// At most one winner. Suppose A and B both win, with remembered bits a before b in probe order
// (a = b is impossible: one call changes a bit). A saw b set, so B had set b before. B sets b
// last, so B had seen or set a before. Then A did not change a, a contradiction.
//
// At least one winner. Let z be the last bit in probe order that was unset when the adds
// began. Only a call that saw z unset sets it. It remembers z, because all later bits are set.
// The first of these calls to set z wins. (An add of another key may set z instead; then
// nobody wins.)
//
// A key may have the same bit twice: the second pass leaves out all occurrences of the remembered bit. Strategies with
// blocks do the same with words instead of bits, in the order of the words. The proof needs sequentially consistent
// atomics, one order in all code of a strategy, and bits that are never cleared during an add.

// fewPositions is the largest k for which adds use a short array on the stack. It suffices for p = 1e-4. Zeroing a
// longer array takes longer than a lookup. See BenchmarkAdd, BenchmarkCustom.
const fewPositions = 16

// addAll adds a key with these positions, see "How an add finds its one winner". It moves the positions of the unset
// bits to the front without a branch: a branch would often be mispredicted.
func addAll(b bitArray, positions []uint64) bool {
	n := uint64(0)
	for _, pos := range positions {
		positions[n] = pos
		n += b.at(pos) ^ 1
	}
	return n > 0 && flipAll(b, positions[:n])
}

// flipAll is the second pass of an add: it sets the bits that the first pass found unset, at least one, in probe order.
// It reports whether the add wins.
func flipAll(b bitArray, unset []uint64) bool {
	last := unset[len(unset)-1]
	for _, pos := range unset[:len(unset)-1] {
		if pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

// containsAll reports whether the bits at all positions are set. It reads four bits at a time, and returns if one of
// them is unset.
func containsAll(b bitArray, positions []uint64) bool {
	for len(positions) > 4 {
		if b.at(positions[0])&b.at(positions[1])&b.at(positions[2])&b.at(positions[3]) == 0 {
			return false
		}
		positions = positions[4:]
	}
	set := uint64(1)
	for _, pos := range positions {
		set &= b.at(pos)
	}
	return set != 0
}

// checkTail returns an error if bit m or a later bit is set. It wraps the given sentinel.
func (b bitArray) checkTail(m uint64, is error) error {
	if tail := m % 64; tail != 0 {
		if last := b[len(b)-1].Load(); last>>tail != 0 {
			return fail(is, "last word %#x has bits beyond m = %d, want none", last, m)
		}
	}
	return nil
}

// clear zeroes all words.
func (b bitArray) clear() {
	if vector.Has {
		for ; len(b) >= len(zeros); b = b[len(zeros):] {
			vector.CopyLines(b.start(), unsafe.Pointer(&zeros), len(zeros)/blockWords)
		}
	}
	for i := range b {
		if b[i].Load() != 0 {
			b[i].Store(0)
		}
	}
}

// zeros are the zeros that clear copies over the words. Copying takes a tenth of the time of one atomic store per word.
var zeros [512]uint64
