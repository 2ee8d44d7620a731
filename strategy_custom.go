package bloom

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Definition describes a custom strategy for [NewStrategy]. Set either Positions or KeyPositions.
// The zero values of the other fields are right for k independent positions anywhere in m bits.
//
// Positions and KeyPositions are called once per scheme. They return the function that is called for each key, and can
// compute values for it beforehand, such as reciprocals. For an m or k that the strategy does not support they return
// an error; [New] and [NewSchemeWithParams] return it, too.
//
// The function that they return must be pure, because filters outlive the program that made them:
// the same arguments always give the same positions, each in [0, m) and not necessarily different.
// It is called from many goroutines at once. A position of m or more causes a panic.
type Definition struct {
	// Positions finds a key's position i, 0 <= i < k, from its digest.
	Positions func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error)

	// KeyPositions finds a key's k positions from the key itself, for strategies that hash it more than once. The
	// function stores them in dst. key is a copy. The function must keep neither key nor dst: their memory is used
	// again after it has returned. Such a strategy takes no other hash, and methods that take a digest panic. seed is
	// the argument of [WithSeed].
	KeyPositions func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error)

	MaxK int    // the largest k, up to 255; 0 means 64
	MaxM uint64 // the largest m; 0 for any

	// Rate returns the false-positive rate of m bits and k positions per key after n keys. Set it if that rate differs
	// from the rate of independent positions. The rate must fall with m and rise with n. New computes sizes from it.
	Rate func(m uint64, k int, n uint64) float64

	// EstimateCount returns the most likely number of keys for x set bits, see [Strategy.EstimateCount]. Set it if the
	// positions are not independent.
	EstimateCount func(m uint64, k int, x uint64) float64

	// Size returns m and k for n keys at rate p, 0 < p < 1. If Size is nil, New computes rates by Rate and takes the
	// smallest m for which some k keeps p.
	Size func(n uint64, p float64) (m uint64, k int, err error)
}

// NewStrategy returns a custom strategy. The name identifies it: files contain the name, and a reader of such a file
// passes the strategy of that name to [WithStrategy]. Filters are compatible if their strategies have the same name and
// both have Positions, or both have KeyPositions. A strategy without a name is for one process: filters with this
// strategy are compatible with each other, but cannot be written.
//
// The library provides the rest, such as atomic operations, batches and files. It trusts the definition to keep the
// rate p of a filter: package bloomtest tests that.
//
// [New] returns an error if the definition contradicts itself, or if the name has more than 255
// bytes or is the name of a built-in strategy.
func NewStrategy(name string, d Definition) Strategy {
	s := &custom{Definition: d, independent: independent{newLabel(name)}}
	s.wrong = s.contradiction()
	return Strategy{s}
}

// A custom is a strategy that NewStrategy has made from a Definition.
type custom struct {
	Definition
	independent
	wrong error
}

func (s *custom) invalid() error  { return s.wrong }
func (s *custom) isCustom() bool  { return true }
func (s *custom) hashesKey() bool { return s.KeyPositions != nil }
func (s *custom) folds() bool     { return false }

// contradiction returns an error if the definition is invalid.
func (s *custom) contradiction() error {
	wrong := func(format string, args ...any) error {
		return invalid("strategy %.40q %s", s.label, fmt.Sprintf(format, args...))
	}
	switch {
	case len(s.name) > format.MaxName:
		return wrong("has a name of %d bytes, want at most %d", len(s.name), format.MaxName)
	case builtinStrategy(s.name) != (Strategy{}):
		return wrong("has a name that is taken by this package")
	case (s.Positions == nil) == (s.KeyPositions == nil):
		return wrong("has both or neither of Positions and KeyPositions, want one")
	case s.MaxK < 0 || s.MaxK > maxCustomK:
		return wrong("has MaxK = %d, want 0 to %d", s.MaxK, maxCustomK)
	}
	return nil
}

func (s *custom) limits() limits {
	l := s.independent.limits()
	l.maxM, l.maxK = cmp.Or(s.MaxM, l.maxM), cmp.Or(s.MaxK, l.maxK)
	return l
}

func (s *custom) size(n uint64, p float64) (m uint64, k int, err error) {
	if s.Size == nil {
		return search(s, n, p, s.Rate != nil)
	}
	switch m, k, err = s.Size(n, p); {
	case err != nil:
		return 0, 0, invalid("n = %d and p = %v with strategy %q: %w", n, p, s.label, err)
	case m >= maxM:
		return 0, 0, fail(ErrTooLarge, "m = %d bits by the Size of strategy %q, want fewer than %d", m, s.label, uint64(maxM))
	}
	return m, k, nil
}

// bestK computes k for 10,000 keys if the definition has a Rate or a MaxK below 64. Otherwise the formula for
// independent positions holds.
func (s *custom) bestK(bitsPerKey float64) (k int) {
	if s.Rate == nil && cmp.Or(s.MaxK, maxK) >= maxK {
		return s.independent.bestK(bitsPerKey)
	}
	const keys = 10_000
	l, best := s.limits(), math.Inf(1)
	unit := sizeUnit(s)
	m := (max(uint64(keys*min(bitsPerKey, 1<<20)), 1) + unit - 1) / unit * unit
	for c := 1; c <= l.maxK; c++ {
		if r := s.rate(m, c, keys); r < best {
			k, best = c, r
		}
	}
	return max(k, 1)
}

func (s *custom) rate(m uint64, k int, n uint64) float64 {
	if s.Rate != nil {
		return s.Rate(m, k, n)
	}
	return s.independent.rate(m, k, n)
}

func (s *custom) estimate(m uint64, k int, x uint64) float64 {
	if s.EstimateCount != nil {
		return s.EstimateCount(m, k, x)
	}
	return s.independent.estimate(m, k, x)
}

func (s *custom) measure(bits bitArray, m uint64, k int) (ones uint64, rate float64) {
	ones, rate = s.independent.measure(bits, m, k)
	if s.Rate == nil || ones == 0 {
		return ones, rate
	}
	if n := wholeKeys(s.estimate(m, k, ones)); n < math.MaxUint64 {
		if rate := s.Rate(m, k, n); rate >= 0 && rate <= 1 {
			return ones, rate
		}
	}
	return ones, 1
}

func (s *custom) kernel(m uint64, k int, seed uint64) (_ *kernel, err error) {
	if s.hashesKey() {
		c := customKeys{label: s.label, m: m, own: memory.IsOwn(s.KeyPositions)}
		c.find, err = s.KeyPositions(m, k, seed)
		return &kernel{addKey: c.add, containsKey: c.contains, positionsOfKey: c.positions}, cmp.Or(err, noFunction(c.find == nil))
	}
	c := customDigests{label: s.label, m: m}
	c.find, err = s.Positions(m, k)
	return &kernel{
		add: c.add, contains: c.contains, positions: c.positions, fill: fillPositions(c.positions), prefetchFrom: scatteredWords,
	}, cmp.Or(err, noFunction(c.find == nil))
}

func noFunction(missing bool) error {
	if missing {
		return errors.New("it has no function for them")
	}
	return nil
}

// customDigests holds a custom strategy's function for one m and k.
type customDigests struct {
	label label
	m     uint64
	find  func(h1, h2 uint64, i int) uint64
}

// at returns position i of the key with digest (h1, h2). It panics if the position is m or more.
func (c *customDigests) at(h1, h2 uint64, i int) uint64 {
	pos := c.find(h1, h2, i)
	checkPosition(pos, c.m, c.label)
	return pos
}

func (c *customDigests) positions(_ *kernelArgs, dst []uint64, h1, h2 uint64) {
	for i := range dst {
		dst[i] = c.at(h1, h2, i)
	}
}

func (c *customDigests) add(b *kernelArgs, h1, h2 uint64) bool {
	if b.k > fewPositions {
		var all [maxCustomK]uint64
		c.positions(b, all[:b.k], h1, h2)
		return addAll(b.bits, all[:b.k])
	}
	var few [fewPositions]uint64
	c.positions(b, few[:b.k], h1, h2)
	return addAll(b.bits, few[:b.k])
}

// contains reports whether all bits of a key are set. After every four bits, it returns if one of them is unset.
func (c *customDigests) contains(b *kernelArgs, h1, h2 uint64) bool {
	set := uint64(1)
	for i := range b.k {
		set &= b.bits.at(c.at(h1, h2, i))
		if i&3 == 3 && set == 0 {
			return false
		}
	}
	return set != 0
}

// customKeys holds the function of a custom strategy that hashes the key itself. The function gets a copy of the key
// and a slice for positions, both from a pool. They are not on a goroutine's stack: stacks move, so a function that
// wrongly keeps the slice could then write anywhere. With a pool it can only change positions of other calls. So each
// position is read once and then checked.
type customKeys struct {
	label label
	m     uint64
	own   bool // find belongs to this module and keeps nothing, so the key is not copied
	find  func(dst []uint64, key []byte)
}

// arguments holds the slice for positions and the copy of the key that a customKeys passes to its function.
type arguments struct {
	positions [maxCustomK]uint64
	key       memory.Buffer
}

var pooled = sync.Pool{New: func() any { return new(arguments) }}

func (c *customKeys) begin(key []byte) (*arguments, []byte) {
	f := pooled.Get().(*arguments)
	if c.own {
		return f, memory.NoEscape(key)
	}
	return f, f.key.Copy(key)
}

func (c *customKeys) positions(dst []uint64, key []byte) {
	f, key := c.begin(key)
	c.find(f.positions[:len(dst)], key)
	for j := range dst {
		dst[j] = f.positions[j]
		checkPosition(dst[j], c.m, c.label)
	}
	pooled.Put(f)
}

func (c *customKeys) add(b *kernelArgs, key []byte) bool {
	if b.k > fewPositions {
		var all [maxCustomK]uint64
		c.positions(all[:b.k], key)
		return addAll(b.bits, all[:b.k])
	}
	var few [fewPositions]uint64
	c.positions(few[:b.k], key)
	return addAll(b.bits, few[:b.k])
}

func (c *customKeys) contains(b *kernelArgs, key []byte) bool {
	f, key := c.begin(key)
	positions, set := f.positions[:b.k], uint64(1)
	c.find(positions, key)
	for _, pos := range positions {
		checkPosition(pos, c.m, c.label)
		set &= b.bits.at(pos)
	}
	pooled.Put(f)
	return set != 0
}

// checkPosition panics if a position is not below m, even if the last word has a bit there: counts and files must not
// have bits beyond m.
func checkPosition(pos, m uint64, of label) {
	if pos >= m {
		outside(pos, m, of)
	}
}

func outside(pos, m uint64, of label) {
	panic(fmt.Sprintf("bloom: strategy %q returned position %d, want less than m = %d", of, pos, m))
}
