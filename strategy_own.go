package bloom

import (
	"fmt"

	"github.com/seed3447c163/bloom/internal/divide"
)

// ownFunctions are those that an own strategy has prepared for a scheme, at most one.
type ownFunctions struct {
	positions    func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64)
	masks        func(dst []Mask, h1, h2 uint64)
	keyPositions func(dst []uint64, key []byte)
}

// prepare lets the strategy prepare for the scheme's m, k and seed.
func (s *scheme) prepare() (err error) {
	d, m, k := s.strategy.get(), s.params.M, s.params.K
	if d.id == idSeededHashing {
		s.divisor = divide.New(m)
	}
	if !d.own() {
		return nil
	}
	own := &s.own
	switch {
	case d.Index != nil:
		own.positions = positionsByIndex(d.Index, m, k)
	case d.Positions != nil:
		own.positions, err = d.Positions(m, k)
	case d.Masks != nil:
		own.masks, err = d.Masks(m, k)
	default:
		own.keyPositions, err = d.KeyPositions(m, k, s.hash.k0)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: m = %d and k = %d with strategy %q: %w", ErrInvalid, m, k, d, err)
	case own.positions == nil && own.masks == nil && own.keyPositions == nil:
		return fmt.Errorf("%w: strategy %q prepared no function for m = %d and k = %d", ErrInvalid, d, m, k)
	}
	return nil
}

// positionsByIndex is Positions by the function of one position.
func positionsByIndex(index func(h1, h2 uint64, i int, m uint64) uint64, m uint64, k int) func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
	return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
		p0 = index(h1, h2, i, m)
		if i+1 < k {
			p1 = index(h1, h2, i+1, m)
		}
		if i+2 < k {
			p2 = index(h1, h2, i+2, m)
		}
		if i+3 < k {
			p3 = index(h1, h2, i+3, m)
		}
		return p0, p1, p2, p3
	}
}

// How the kernels are written
//
// Bits are found into an array on the stack, which takes time to clear: so there is a small
// one for most filters, and a large one. Lookups by positions need none.
// BenchmarkOwnStrategy.

const (
	fewPositions = 16 // enough for p = 1e-4
	fewMasks     = 4
	roomForK     = (maxOwnK + 3) / 4 * 4
)

func (f *BloomFilter) addPositions(h1, h2 uint64) bool {
	var few [fewPositions]uint64
	positions := few[:]
	if f.k > fewPositions {
		var all [roomForK]uint64
		positions = all[:]
	}
	return f.addAll(f.scheme.findPositions(positions, h1, h2))
}

// findPositions returns all positions, in dst, which has room for a multiple of four.
func (s *scheme) findPositions(dst []uint64, h1, h2 uint64) []uint64 {
	find, k := s.own.positions, s.params.K
	for i := 0; i < k; i += 4 {
		four := dst[i:][:4]
		four[0], four[1], four[2], four[3] = find(h1, h2, i)
	}
	return dst[:k]
}

// containsPositions looks at four bits at a time, as doubleContains does.
func (f *BloomFilter) containsPositions(h1, h2 uint64) bool {
	find, m, k := f.scheme.own.positions, f.units, int(f.k)
	for i := 0; ; i += 4 {
		p0, p1, p2, p3 := find(h1, h2, i)
		left := k - i
		switch left { // nothing is known of positions from the k-th on
		case 1:
			p1 = p0
			fallthrough
		case 2:
			p2 = p0
			fallthrough
		case 3:
			p3 = p0
		}
		if most := max(p0, p1, p2, p3); most >= m {
			f.scheme.beyond(most)
		}
		if f.lackAt(p0)|f.lackAt(p1)|f.lackAt(p2)|f.lackAt(p3) != 0 {
			return false
		}
		if left <= 4 {
			return true
		}
	}
}

func (f *BloomFilter) addKeyPositions(key []byte) bool {
	var few [fewPositions]uint64
	positions := few[:]
	if f.k > fewPositions {
		var all [maxOwnK]uint64
		positions = all[:]
	}
	positions = positions[:f.k]
	f.scheme.own.keyPositions(unescaped(positions), unescaped(key))
	return f.addAll(positions)
}

func (f *BloomFilter) containsKeyPositions(key []byte) bool {
	var few [fewPositions]uint64
	positions := few[:]
	if f.k > fewPositions {
		var all [maxOwnK]uint64
		positions = all[:]
	}
	positions = positions[:f.k]
	f.scheme.own.keyPositions(unescaped(positions), unescaped(key))
	return f.containsAll(positions)
}

// addAll sets the bits, as "How an add finds its one winner" has it. Bits behind the last
// one that is not set were seen set.
func (f *BloomFilter) addAll(positions []uint64) bool {
	b, m, at := f.bits, f.units, -1
	for i, pos := range positions {
		if pos >= m {
			f.scheme.beyond(pos)
		}
		lacks := int(b.get(pos)) - 1 // all ones, or 0: a branch would be mispredicted half the time
		at ^= (at ^ i) & lacks
	}
	if at < 0 {
		return false
	}
	last := positions[at]
	for _, pos := range positions[:at] {
		if pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

// containsAll looks at four bits at a time, as doubleContains does.
func (f *BloomFilter) containsAll(positions []uint64) bool {
	b, m := f.bits, f.units
	for len(positions) > 4 {
		p0, p1, p2, p3 := positions[0], positions[1], positions[2], positions[3]
		if most := max(p0, p1, p2, p3); most >= m {
			f.scheme.beyond(most)
		}
		if b.get(p0)&b.get(p1)&b.get(p2)&b.get(p3) == 0 {
			return false
		}
		positions = positions[4:]
	}
	all := uint64(1)
	for _, pos := range positions {
		if pos >= m {
			f.scheme.beyond(pos)
		}
		all &= b.get(pos)
	}
	return all != 0
}

func (f *BloomFilter) addMasks(h1, h2 uint64) bool {
	words := f.scheme.strategy.def.Words
	var few [fewMasks]Mask
	masks := few[:]
	if words > fewMasks {
		var all [maxMasks]Mask
		masks = all[:]
	}
	masks = masks[:words]
	f.scheme.own.masks(unescaped(masks), h1, h2)
	return f.addAllMasks(masks)
}

func (f *BloomFilter) containsMasks(h1, h2 uint64) bool {
	words := f.scheme.strategy.def.Words
	var few [fewMasks]Mask
	masks := few[:]
	if words > fewMasks {
		var all [maxMasks]Mask
		masks = all[:]
	}
	masks = masks[:words]
	f.scheme.own.masks(unescaped(masks), h1, h2)
	return f.containsAllMasks(masks)
}

// addAllMasks is addAll with words in place of bits. Two masks of one word may share bits:
// those of the last one that lacks a bit are left to it.
func (f *BloomFilter) addAllMasks(masks []Mask) bool {
	b, at := f.bits, -1
	for i, mask := range masks {
		if mask.Word >= uint64(len(b)) {
			f.scheme.beyond(mask.Word * 64)
		}
		lack := mask.Bits &^ b[mask.Word].Load()
		at ^= (at ^ i) & -int((lack|-lack)>>63)
	}
	if at < 0 {
		return false
	}
	last := masks[at]
	for _, mask := range masks[:at] {
		if mask.Word == last.Word {
			mask.Bits &^= last.Bits
		}
		b[mask.Word].Or(mask.Bits)
	}
	return b[last.Word].Or(last.Bits)&last.Bits != last.Bits
}

func (f *BloomFilter) containsAllMasks(masks []Mask) bool {
	b, lack := f.bits, uint64(0)
	for _, mask := range masks {
		if mask.Word >= uint64(len(b)) {
			f.scheme.beyond(mask.Word * 64)
		}
		lack |= mask.Bits &^ b[mask.Word].Load()
	}
	return lack == 0
}

// beyond panics for a bit that is none of the filter's: it may lie outside the array, or in
// it but outside every count and estimate.
func (s *scheme) beyond(pos uint64) {
	panic(fmt.Sprintf("bloom: strategy %q returned position %d, want less than m = %d", s.strategy, pos, s.params.M))
}
