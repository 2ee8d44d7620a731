package bloom

import (
	"errors"
	"fmt"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/noescape"
	"github.com/seed3447c163/bloom/internal/prefetch"
)

// NewStrategy returns a custom strategy. The name identifies it: files contain the name, and a
// reader of such a file passes the strategy of that name to [WithStrategy]. Filters are
// compatible if their strategies have the same name and both have Positions, or both have
// KeyPositions. A strategy without a name is for one process: filters with this strategy are
// compatible with each other, and cannot be written.
//
// The library adds the atomic operations, the one winner, batches, checks and files. The
// definition must keep p; package bloomtest tests it.
//
// [New] returns an error if the definition contradicts itself, or if the name has more than 255
// bytes or is the name of a built-in strategy.
func NewStrategy(name string, d Definition) Strategy {
	s := &definition{name: name, custom: true, serial: serialFor(name), Definition: d, needsKey: d.KeyPositions != nil}
	s.invalid = s.contradiction()
	s.prepare = (*definition).prepareCustom
	return Strategy{s}
}

// contradiction returns an error if the definition of a custom strategy is invalid.
func (d *definition) contradiction() error {
	wrong := func(format string, args ...any) error {
		return invalid("strategy %.40q %s", d, fmt.Sprintf(format, args...))
	}
	switch {
	case len(d.name) > format.MaxName:
		return wrong("has a name of %d bytes, want at most %d", len(d.name), format.MaxName)
	case builtinStrategy(d.name) != nil:
		return wrong("has a name that is taken by this package")
	case (d.Positions == nil) == (d.KeyPositions == nil):
		return wrong("has both or neither of Positions and KeyPositions, want one")
	case d.Unit >= maxM:
		return wrong("has Unit = %d, want less than %d", d.Unit, uint64(maxM))
	case d.MaxK < 0 || d.MaxK > maxCustomK:
		return wrong("has MaxK = %d, want 0 to %d", d.MaxK, maxCustomK)
	}
	return nil
}

// A custom has the function of a custom strategy for one m and k.
type custom struct {
	def          *definition
	m            uint64
	positions    func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64)
	keyPositions func(dst []uint64, key []byte)
}

func (d *definition) prepareCustom(m uint64, k int, seed uint64) (*kernel, error) {
	c, err := &custom{def: d, m: m}, error(nil)
	if d.needsKey {
		c.keyPositions, err = d.KeyPositions(m, k, seed)
	} else {
		c.positions, err = d.Positions(m, k)
	}
	switch {
	case err != nil:
		return nil, err
	case c.positions == nil && c.keyPositions == nil:
		return nil, errors.New("it has no function for them")
	case d.needsKey:
		return &kernel{addKey: c.addKey, containsKey: c.containsKey, keyPositions: c.findKey}, nil
	}
	return &kernel{
		add: c.add, contains: c.contains, positions: c.find,
		prefetch: c.prefetch, prefetchFrom: scatteredWords,
	}, nil
}

// Positions go into an array on the stack. Clearing it takes time, so there is a small array for
// most filters and a large one for the others. Lookups of digests need none. BenchmarkCustom.
const (
	fewPositions  = 16                       // enough for p = 1e-4
	manyPositions = (maxCustomK + 3) / 4 * 4 // room for whole fours
)

func (c *custom) add(b *bitset, h1, h2 uint64) bool {
	if b.k > fewPositions {
		var all [manyPositions]uint64
		return addAll(b.bits, c.fours(all[:], b.k, h1, h2))
	}
	var few [fewPositions]uint64
	return addAll(b.bits, c.fours(few[:], b.k, h1, h2))
}

// contains looks at four bits at a time, and stops if one of them is unset.
func (c *custom) contains(b *bitset, h1, h2 uint64) bool {
	for i := 0; ; i += 4 {
		p0, p1, p2, p3 := c.positions(h1, h2, i)
		left := b.k - i
		switch left { // positions from the k-th on are undefined
		case 1:
			p1 = p0
			fallthrough
		case 2:
			p2 = p0
			fallthrough
		case 3:
			p3 = p0
		}
		if most := max(p0, p1, p2, p3); most >= c.m {
			c.beyond(most)
		}
		if b.bits.at(p0)&b.bits.at(p1)&b.bits.at(p2)&b.bits.at(p3) == 0 {
			return false
		}
		if left <= 4 {
			return true
		}
	}
}

// fours returns k positions in dst, which has room for a multiple of four.
func (c *custom) fours(dst []uint64, k int, h1, h2 uint64) []uint64 {
	for i := 0; i < k; i += 4 {
		four := dst[i:][:4]
		four[0], four[1], four[2], four[3] = c.positions(h1, h2, i)
	}
	c.check(dst[:k])
	return dst[:k]
}

func (c *custom) find(_ *bitset, dst []uint64, h1, h2 uint64) {
	var all [manyPositions]uint64
	copy(dst, c.fours(all[:], len(dst), h1, h2))
}

func (c *custom) findKey(dst []uint64, key []byte) {
	c.keyPositions(noescape.Slice(dst), noescape.Slice(key))
	c.check(dst)
}

func (c *custom) addKey(b *bitset, key []byte) bool { return c.doKey(b, key, addAll) }

func (c *custom) containsKey(b *bitset, key []byte) bool { return c.doKey(b, key, containsAll) }

// doKey finds a key's positions, and adds or looks them up.
func (c *custom) doKey(b *bitset, key []byte, do func(bits bitArray, positions []uint64) bool) bool {
	if b.k > fewPositions {
		var all [maxCustomK]uint64
		c.findKey(all[:b.k], key)
		return do(b.bits, noescape.Slice(all[:b.k]))
	}
	var few [fewPositions]uint64
	c.findKey(few[:b.k], key)
	return do(b.bits, noescape.Slice(few[:b.k]))
}

func (c *custom) prefetch(b *bitset, group []digest, write bool) {
	if b.k > prefetch.Most {
		return
	}
	var at [prefetch.Most]uint64
	for j := range group {
		d := &group[j]
		for i, pos := range c.fours(at[:], b.k, d[0], d[1]) {
			at[i] = pos / 64 * 8 // in bytes
		}
		prefetch.Lines(b.bits.start(), &at, b.k, write)
	}
}

// check panics if a position is not below m, even if the array has a bit there: no count or
// estimate would include it.
func (c *custom) check(positions []uint64) {
	for _, pos := range positions {
		if pos >= c.m {
			c.beyond(pos)
		}
	}
}

func (c *custom) beyond(pos uint64) {
	panic(fmt.Sprintf("bloom: strategy %q returned position %d, want less than m = %d", c.def, pos, c.m))
}
