package bloom

import (
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/rate"
)

// A Strategy determines which k of a filter's m bits belong to a key. The strategies of this package are
// [DoubleHashing], [Blocked], [SplitBlock] and [SeededHashing]; [NewStrategy] makes others. The packages in interop
// have the strategies of other systems. The zero Strategy has an empty name; [New] refuses it.
//
// The positions of a named strategy never change, because filters outlive the program that made them. Two custom
// strategies are compatible if they have the same name and both have Positions or both have KeyPositions. A strategy
// without a name is compatible only with itself.
//
// A Strategy is a small value that never changes. Two calls of NewStrategy with the same name return strategies that
// are compatible, but not equal by ==.
type Strategy struct{ strategy }

// A strategy is the implementation of a Strategy. Each has its own type and file. Values can be compared. They are
// static data, so that the linker drops strategies that a program does not use.
type strategy interface {
	called() label
	isCustom() bool // made by NewStrategy
	invalid() error // why New refuses it; nil for a built-in strategy

	// The next methods say which m and k a filter can have, and how New chooses them.
	limits() limits
	size(n uint64, p float64) (m uint64, k int, err error)
	bestK(bitsPerKey float64) int // best k for many keys

	// rate returns the expected false-positive rate after n keys. estimate returns the most likely number of keys for x
	// set bits. measure returns the number of set bits and the rate for them.
	rate(m uint64, k int, n uint64) float64
	estimate(m uint64, k int, x uint64) float64
	measure(bits bitArray, m uint64, k int) (ones uint64, rate float64)

	// The next methods say where the bits of a key are.
	hashesKey() bool       // positions depend on the key itself and not on its digest
	blockBits() uint64     // size of a block, of which m is a multiple; 1 if all positions are independent
	wordsPerKey(k int) int // atomic operations of an add

	// folds reports whether FoldTo can merge neighbouring blocks into one. It can if a key's block is floor(x·blocks),
	// 0 <= x < 1, and neither x nor the key's bits within the block depend on m.
	folds() bool

	// kernel returns the code for filters of m bits and k positions per key.
	kernel(m uint64, k int, seed uint64) (*kernel, error)
}

// limits are the ranges of m, k and p for a strategy.
type limits struct {
	maxM              uint64
	minK, maxK, stepK int // k is a multiple of stepK
	minP, maxP        float64
}

// sizeUnit returns the unit of the m that New chooses: a block or, without blocks, a word.
func sizeUnit(s strategy) uint64 { return max(s.blockBits(), 64) }

const (
	// maxK is the largest k, unless a custom strategy has its own MaxK. With half of the bits
	// set, k = 64 reaches rates below 1e-19; a larger k would be slower and no better.
	maxK = 64

	// maxCustomK is the largest MaxK. Filters of other systems have k above 64.
	maxCustomK = 255

	minP = 0x1p-64 // 2^-maxK: half of the bits are set
)

// Name returns the name that identifies the strategy, also in files. It is empty for a custom
// strategy without a name.
func (s Strategy) Name() string { return s.label().name }

// String returns the name. For a strategy without a name, it returns a text that is unique in this process.
func (s Strategy) String() string { return s.label().String() }

// identity returns a text that two strategies share if and only if they are compatible.
func (s Strategy) identity() string {
	if s.NeedsKey() && s.isCustom() {
		return s.label().unique() + "/key"
	}
	return s.label().unique()
}

// label returns the strategy's label, empty for the zero Strategy.
func (s Strategy) label() label {
	if s.strategy == nil {
		return label{}
	}
	return s.called()
}

// NeedsKey reports whether the strategy needs the key itself, not only its digest, as
// [SeededHashing] does. Then all methods that take or return a digest panic.
func (s Strategy) NeedsKey() bool { return s.strategy != nil && s.hashesKey() }

// FalsePositiveRate returns the expected rate of a filter of m bits and k positions per key, after n keys. [New]
// computes sizes from it. For the built-in strategies, it is never below the exact rate. For independent positions, it
// is exact below 40 keys; above, its relative error is at most 0.014·(k/n)². A call takes about a microsecond. For a
// custom strategy without Rate, such as the strategies of other systems in interop, FalsePositiveRate returns the rate
// of independent positions. Then the true rate of a small filter can be many times higher: docs/formats.md has figures.
// The rate is NaN for an m, a k or a strategy that [NewSchemeWithParams] refuses.
func (s Strategy) FalsePositiveRate(m uint64, k int, n uint64) float64 {
	if s.check(m, k) != nil {
		return math.NaN()
	}
	return s.rate(m, k, n)
}

// EstimateCount returns the most likely number of keys in a filter of m bits and k positions per key with x set bits.
// EstimatedCount of [Stats] is this number, rounded. It is -m/k · ln(1 - x/m); [Blocked], [SplitBlock], and custom
// strategies with an EstimateCount have their own formulas. The result is +Inf for x = m, because a full filter does
// not show how many keys filled it. It is NaN where FalsePositiveRate is NaN, and for x > m.
//
// Source: Swamidass & Baldi 2007, equation 6.
func (s Strategy) EstimateCount(m uint64, k int, x uint64) float64 {
	if s.check(m, k) != nil || x > m {
		return math.NaN()
	}
	return s.estimate(m, k, x)
}

// check returns an error for a strategy that New refuses, and for an m or k that the strategy cannot have.
func (s Strategy) check(m uint64, k int) error {
	if err := s.validate(); err != nil {
		return err
	}
	switch l := s.limits(); {
	case m == 0:
		return invalid("m = 0 bits, want at least 1")
	case k < 1 || k > l.maxK:
		return invalid("k = %d, want 1 to %d", k, l.maxK)
	case k < l.minK || k%l.stepK != 0 || m%s.blockBits() != 0:
		return invalid("m = %d and k = %d with strategy %q, want multiples of %d and %d", m, k, s, s.blockBits(), l.stepK)
	case m > l.maxM:
		return fail(ErrTooLarge, "m = %d bits with strategy %q, want at most %d", m, s, l.maxM)
	}
	return nil
}

// validate returns an error for a strategy that is invalid for all parameters.
func (s Strategy) validate() error {
	if s.strategy == nil {
		return invalid("the strategy is the zero Strategy, want one such as DoubleHashing")
	}
	return s.invalid()
}

// independent has the methods of a strategy of this package whose k positions depend on the digest and are independent,
// anywhere in m bits. Strategies embed it and override what differs.
type independent struct{ label }

func (c independent) called() label { return c.label }
func (independent) isCustom() bool  { return false }
func (independent) invalid() error  { return nil }
func (independent) hashesKey() bool { return false }
func (independent) folds() bool     { return true }

func (independent) limits() limits {
	return limits{maxM: math.MaxUint64, minK: 1, maxK: maxK, stepK: 1, minP: minP, maxP: 1}
}

func (independent) bestK(bitsPerKey float64) int {
	return int(min(max(1, math.Round(math.Ln2*bitsPerKey)), maxK))
}

func (independent) rate(m uint64, k int, n uint64) float64 { return rate.Independent(m, k, n) }

func (independent) estimate(m uint64, k int, x uint64) float64 {
	return -float64(m) / float64(k) * math.Log1p(-float64(x)/float64(m))
}

func (independent) measure(bits bitArray, m uint64, k int) (ones uint64, rate float64) {
	ones = bits.count()
	return ones, math.Pow(float64(ones)/float64(m), float64(k))
}

func (independent) blockBits() uint64     { return 1 }
func (independent) wordsPerKey(k int) int { return k }

// builtins lists all strategies of this package. Add a new strategy here. The rest of its code is in its own file.
var builtins = []Strategy{{&doubleHashing}, {&seededHashing}, {&blockedStrategy}, {&splitBlock}}

// Strategies returns the strategies of this package, the default first. It is for programs that offer a choice, and for
// tests.
func Strategies() []Strategy { return slices.Clone(builtins) }

// builtinStrategy returns the strategy with that name, or the zero Strategy.
func builtinStrategy(name string) Strategy {
	for _, s := range builtins {
		if s.Name() == name {
			return s
		}
	}
	return Strategy{}
}

// A label identifies a strategy or a hash by its name. If the name is empty, the label is a number that is unique in
// this process.
type label struct {
	name   string
	serial uint64
}

// nameless counts the strategies and hashes without a name.
var nameless atomic.Uint64

func newLabel(name string) label {
	if name != "" {
		return label{name: name}
	}
	return label{serial: nameless.Add(1)}
}

// String returns the name or the number, for logs and errors.
func (l label) String() string {
	switch {
	case l.name != "":
		return l.name
	case l.serial > 0:
		return "unnamed#" + strconv.FormatUint(l.serial, 10)
	}
	return "none"
}

// unique returns a text that no other label of this process has, whatever characters are in a name.
func (l label) unique() string {
	if l.serial > 0 {
		return `""#` + strconv.FormatUint(l.serial, 10)
	}
	return strconv.Quote(l.name)
}
