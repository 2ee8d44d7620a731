package bloom

import (
	"fmt"

	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/seed3447c163/bloom/internal/noescape"
)

// ownFunctions are those that an own strategy has prepared for a scheme, at most one.
type ownFunctions struct {
	positions    func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64)
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
	case d.Positions != nil:
		own.positions, err = d.Positions(m, k)
	default:
		own.keyPositions, err = d.KeyPositions(m, k, s.hash.k0)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: m = %d and k = %d with strategy %q: %w", ErrInvalid, m, k, d, err)
	case own.positions == nil && own.keyPositions == nil:
		return fmt.Errorf("%w: strategy %q prepared no function for m = %d and k = %d", ErrInvalid, d, m, k)
	}
	return nil
}

// How the kernels are written
//
// Bits are found into an array on the stack, which takes time to clear: so there is a small
// one for most filters, and a large one. Lookups by positions need none.
// BenchmarkOwnStrategy.

const (
	fewPositions = 16 // enough for p = 1e-4
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
	f.scheme.own.keyPositions(noescape.Slice(positions), noescape.Slice(key))
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
	f.scheme.own.keyPositions(noescape.Slice(positions), noescape.Slice(key))
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

// beyond panics for a bit that is none of the filter's: it may lie outside the array, or in
// it but outside every count and estimate.
func (s *scheme) beyond(pos uint64) {
	panic(fmt.Sprintf("bloom: strategy %q returned position %d, want less than m = %d", s.strategy, pos, s.params.M))
}
