package bloom

import "math"

// A Strategy says which k of a filter's m bits belong to a key. The strategies
// of this package are [DoubleHashing], [Blocked], [SplitBlock] and [SeededHashing];
// [NewStrategy] makes others, and the packages in interop have those of other systems.
// [New] refuses the zero Strategy, which stands for none.
//
// The positions of a named strategy never change, because filters outlive the
// program that made them. Two strategies of the same name are taken to be equal; one
// without a name equals only itself.
//
// A Strategy is a small value that never changes, and can be compared: every strategy of
// this package equals itself, one of your own equals what the same call of NewStrategy
// returned. A filter keeps its own, whatever is assigned to a variable afterwards.
type Strategy struct{ def *definition }

// Name returns the name that identifies the strategy, in files too. It is empty for one of
// your own without a name.
func (s Strategy) Name() string { return s.get().name }

// String is for logs and errors: the name, or for a strategy without one something that tells
// it from others of this process.
func (s Strategy) String() string { return s.get().String() }

// NeedsKey reports whether a key's digest is not enough to find its positions, as with
// [SeededHashing]: then [BloomFilter.AddDigest], [BloomFilter.ContainsDigest] and all else
// that takes or returns a digest panics.
func (s Strategy) NeedsKey() bool {
	id := s.id()
	return id == idSeededHashing || id == idOwnKeyPositions
}

// FalsePositiveRate returns the expected rate of a filter of m bits, k to a key,
// after n keys, exact for the strategy: it is what [New] sizes by. It takes some
// microseconds. For a strategy of your own it is that of its Rate, or of independent
// positions if it has none. For [Blocked] itself it is that of the best of its four with
// this k; [BloomFilter.Strategy] says which of them a filter has.
//
// It is NaN for a strategy that New refuses, such as the zero Strategy, and for an m or k that
// the strategy cannot have: m = 0, k = 0, a k above 64 or what the strategy allows; for
// Blocked an m that is not a multiple of 512 or a k that is not one of z; for [SplitBlock] an
// m that is not a multiple of 256 or a k other than 8.
func (s Strategy) FalsePositiveRate(m uint64, k int, n uint64) float64 {
	if s.check(m, k) != nil {
		return math.NaN()
	}
	return s.def.rate(m, k, n)
}

// EstimatedN returns how many keys have most likely been added to a filter of m
// bits, k to a key, of which x are set: what EstimatedCount of [Stats] rounds, for
// bits that are elsewhere. It is -m/k · ln(1 - x/m), except for Blocked1 to Blocked8, whose
// keys set fewer different bits, for SplitBlock, and for a strategy of your own with an
// EstimatedN. It is +Inf for x = m: a full filter does not show how many keys filled it.
//
// It is NaN where FalsePositiveRate is, for x > m, and for [Blocked] itself:
// [BloomFilter.Strategy] says which of its four a filter has.
//
// Source: Swamidass & Baldi 2007, equation 6.
func (s Strategy) EstimatedN(m uint64, k int, x uint64) float64 {
	switch {
	case s.check(m, k) != nil || x > m:
		return math.NaN()
	case s.def.EstimatedN != nil:
		return s.def.EstimatedN(m, k, x)
	}
	return -float64(m) / float64(k) * math.Log1p(-float64(x)/float64(m))
}

// check returns an error for a strategy that New refuses, and for an m or k that it cannot have.
func (s Strategy) check(m uint64, k int) error {
	if err := s.validate(); err != nil {
		return err
	}
	return s.def.check(m, k)
}

// same reports whether two strategies put keys in the same places.
func (s Strategy) same(other Strategy) bool {
	a, b := s.get(), other.get()
	return a == b || a.id == b.id && a.name == b.name && a.serial == b.serial
}

// quoted returns what no other strategy of this process has.
func (s Strategy) quoted() string { return quoted(s.get().name, s.get().serial) }

// A definition is what a Strategy stands for. It never changes, and all filters with the
// strategy share it.
type definition struct {
	id     strategyID
	name   string
	serial uint64 // of one without a name: which call of NewStrategy made it
	Definition

	// Of strategies of this package, where they have any.
	index       func(h1, h2 uint64, i int, m uint64) uint64            // position i, as a pure function for reference
	onlyK       int                                                    // the one k; 0 for any
	kUnit       int                                                    // what k is a multiple of; 0 for any
	foldUnit    uint64                                                 // for FoldTo: f neighbouring units of so many bits become one at m/f; 0 where that is not exact
	minP, maxP  float64                                                // what they are sized for; 0 for any
	onesAndRate func(bits bitArray, k int) (ones uint64, rate float64) // in one look at the bits
}

// get returns the definition; that of the zero Strategy is empty.
func (s Strategy) get() *definition {
	if s.def == nil {
		return &noDefinition
	}
	return s.def
}

var noDefinition definition

func (s Strategy) id() strategyID { return s.get().id }

// strategyID picks a kernel.
type strategyID uint8

const (
	idNone strategyID = iota // a BloomFilter that New has not made
	idOwnPositions
	idOwnKeyPositions
	idDoubleHashing
	idSeededHashing
	idBlocked // of no filter: New resolves it to one of the next
	idBlocked1
	idBlocked2
	idBlocked4
	idBlocked8
	idSplitBlock
)

// Kernels that a filter has in place of its strategy's own. They are in no file.
const (
	kernelDoubleStraight strategyID = 128 + iota
	kernelSplitVectors
)

// own reports whether NewStrategy has made it.
func (d *definition) own() bool { return d.id >= idOwnPositions && d.id <= idOwnKeyPositions }

func (d *definition) String() string { return shown(d.name, d.serial) }

// builtins are all strategies of this package, whatever is assigned to its variables.
var builtins = []*definition{
	&doubleHashing, &seededHashing, &blocked, &blocked1, &blocked2, &blocked4, &blocked8,
	&splitBlock,
}

// How an add finds its one winner
//
// Each add kernel makes two passes over the key's k bits. The first only
// reads, and remembers the last bit that is not set. If all are, the key was there:
// false, and nothing is written. The second sets all the other bits, then flips
// the remembered one, and answers whether it was this call that flipped it.
//
// At most one winner: whoever flips its remembered bit has set all the others
// before, so the flip is the moment in which the key becomes complete, and that
// moment comes once, because bits are never cleared. At least one: let z be the
// last of the key's bits, in probe order, that was not set when the adds began. Only
// a call that saw z unset can set it, it remembers z, as all later bits are set,
// and the first to flip it wins. (Another key's add may flip z instead; then
// nobody wins.) A bit that occurs twice among the k is no exception, since
// the second pass leaves out all occurrences of the remembered one. Blocked does
// the same with the words of a key in place of its bits.
//
// The second pass sets bits whether they are set already or not: testing each would be a
// branch that is mispredicted half the time, which costs more than the locked Or that it saves.
// BenchmarkAdd, key=fresh.

// noBit is no position: positions are below m.
const noBit = ^uint64(0)
