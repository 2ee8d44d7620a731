package bloom

import (
	"cmp"
	"fmt"
	"math"

	"github.com/seed3447c163/bloom/internal/rate"
)

// A Strategy determines which k of a filter's m bits belong to a key. The strategies of this
// package are [DoubleHashing], [Blocked], [SplitBlock] and [SeededHashing]; [NewStrategy] makes
// others. The packages in interop have the strategies of other systems. [New] refuses the zero
// Strategy, whose name is empty.
//
// The positions of a named strategy never change, because filters outlive the program that made
// them. Two custom strategies are equal if they have the same name and both have Positions or both
// have KeyPositions. A strategy without a name equals only itself.
//
// A Strategy is a small value that never changes, and can be compared.
type Strategy struct{ def *definition }

// Name returns the name that identifies the strategy, also in files. It is empty for a custom
// strategy without a name.
func (s Strategy) Name() string { return s.get().name }

// String returns the name, or for a strategy without a name a text that is unique in this process.
func (s Strategy) String() string { return s.get().String() }

// NeedsKey reports whether the strategy needs the key itself, not only its digest, as
// [SeededHashing] does. Then all methods that take or return a digest panic.
func (s Strategy) NeedsKey() bool { return s.get().needsKey }

// FalsePositiveRate returns the exact expected rate of a filter of m bits and k positions per key,
// after n keys. [New] computes sizes from it. It takes some microseconds. For a custom strategy
// without Rate, it is the rate of independent positions. For [Blocked], it is the lowest rate of
// Blocked1 to Blocked8 with this k.
//
// It is NaN if New refuses the strategy, and for an m or k that the strategy does not support: 0, a
// k above 64 or the strategy's largest k; for Blocked an m that is not a multiple of 512 or a k
// that is not one of z; for [SplitBlock] an m that is not a multiple of 256 or a k other than 8.
func (s Strategy) FalsePositiveRate(m uint64, k int, n uint64) float64 {
	if s.check(m, k) != nil {
		return math.NaN()
	}
	return s.def.rate(m, k, n)
}

// EstimatedN returns the most likely number of keys in a filter of m bits and k positions per key
// with x set bits. EstimatedCount of [Stats] is this number, rounded. It is -m/k · ln(1 - x/m),
// except for Blocked1 to Blocked8, whose keys set fewer different bits, for SplitBlock, and for a
// custom strategy with an EstimatedN. It is +Inf for x = m: a full filter does not show how many
// keys filled it.
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
	case s.def.lawsOr().estimatedN != nil:
		return s.def.laws.estimatedN(s.def, m, k, x)
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

// validate returns what is wrong about a strategy whatever the parameters.
func (s Strategy) validate() error {
	if s.def == nil {
		return invalid("the strategy is the zero Strategy, want one such as DoubleHashing")
	}
	return s.def.invalid
}

// same reports whether two strategies put keys in the same places.
func (s Strategy) same(other Strategy) bool {
	a, b := s.get(), other.get()
	return a == b || a.custom && b.custom && a.needsKey == b.needsKey && a.name == b.name && a.serial == b.serial
}

// quoted returns what no other strategy of this process has.
func (s Strategy) quoted() string { return quoted(s.get().name, s.get().serial) }

// get returns the definition; that of the zero Strategy is empty.
func (s Strategy) get() *definition {
	if s.def == nil {
		return &noDefinition
	}
	return s.def
}

var noDefinition definition

// A Definition describes a custom strategy for [NewStrategy]. Set either Positions or KeyPositions.
// The zero values of the other fields are right for k independent positions anywhere in m bits.
//
// Positions and KeyPositions are called once per scheme. They return the function that is called
// for each key, which can use prepared values, such as reciprocals. They return an error for an m
// or k that the strategy does not support; [New] and [NewWithParams] return it.
//
// The function that they return must be pure, because filters outlive the program that made them:
// the same arguments always give the same positions, each in [0, m) and not necessarily different.
// It is called from many goroutines at once. A position of m or more causes a panic.
type Definition struct {
	// Positions finds a key's positions from its digest, four at a time: the function that it
	// returns returns positions i, i+1, i+2 and i+3, for i = 0, 4, 8 and so on below k.
	// Results for positions from the k-th on are ignored. Lookups stop after four if one of
	// those bits is not set.
	Positions func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error)

	// KeyPositions finds a key's k positions from the key itself, for strategies that hash it
	// several times, and stores them in dst, which has length k. The function must not keep dst or
	// key beyond the call, nor change the key: both may be on a stack, see [NewHash]. Such a
	// strategy has no other hash, and seed is that of [WithSeed]. Methods that take a digest panic.
	KeyPositions func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error)

	MaxK int    // the largest k, up to 255; 0 for 64
	Unit uint64 // what m is a multiple of; 0 for any, and then New takes multiples of 64
	MaxM uint64 // the largest m; 0 for any

	// Rate returns the false-positive rate of m bits and k positions per key after n keys, if it
	// differs from the rate of independent positions. It falls with m and rises with n. New
	// computes sizes from it.
	Rate func(m uint64, k int, n uint64) float64

	// EstimatedN returns how many keys have most likely set x of m bits, where it differs from
	// that of independent positions, see [Strategy.EstimatedN].
	EstimatedN func(m uint64, k int, x uint64) float64

	// Size returns the m and k for n keys at rate p, 0 < p < 1, where there is a rule for
	// them. Otherwise New finds the smallest m at which some k keeps p, by Rate.
	Size func(n uint64, p float64) (m uint64, k int, err error)
}

// A definition is what a Strategy stands for. It never changes, and all filters with the
// strategy share it.
type definition struct {
	name    string
	custom  bool   // NewStrategy has made it
	serial  uint64 // of one without a name: which call of NewStrategy made it
	invalid error  // why New refuses it
	Definition

	// The code is the same for all filters, or prepare returns it for m bits and k positions per key.
	code     *kernel
	prepare  func(d *definition, m uint64, k int, seed uint64) (*kernel, error)
	needsKey bool   // the code takes the key
	block    uint64 // bits of a block, of which a digest selects one; 0 for none

	onlyK      int     // the one k; 0 for any
	kUnit      int     // what k is a multiple of; 0 for any
	minP, maxP float64 // what it is sized for; 0 for any

	// foldUnit is how many bits are merged as one by FoldTo: f neighbouring units become one
	// where m becomes m/f, and a key's bits with them. It is 1 for positions floor(x·m), where
	// x in [0, 1) does not depend on m; the size of a block that is selected so; otherwise 0.
	foldUnit uint64

	laws         *laws // nil for none
	ratesDigests bool  // the rate includes keys with equal digests of 64 bits

	// members are the strategies of which New chooses one, by size. A filter has one of them
	// instead.
	members []*definition
}

const (
	// maxK is the largest k, unless a custom strategy has its own MaxK. With half of the bits
	// set, k = 64 reaches rates below 1e-19; a larger k would be slower and no better.
	maxK = 64

	// maxCustomK is the largest MaxK, because filters of other systems have k above 64.
	maxCustomK = 255
)

// laws are what a strategy of this package has instead of a search by the rate, and of the formulas
// for independent positions. Any may be nil. They take the strategy, so that several can share them
// as data: a function that makes definitions would run in every program, and the linker would keep
// the code of all strategies.
type laws struct {
	size        func(d *definition, n uint64, p float64) (units uint64, k int, s *definition) // s is d or a member
	bestK       func(d *definition, bitsPerKey float64) int                                   // for many keys
	rate        func(d *definition, m uint64, k int, n uint64) float64
	estimatedN  func(d *definition, m uint64, k int, x uint64) float64
	onesAndRate func(d *definition, bits bitArray, k int) (ones uint64, rate float64) // in one look at the bits
}

var noLaws laws

// A kernel is the code of a strategy. A filter has a pointer to one: there is no other
// dispatch on strategies. Only digests cross these functions, which are called through
// variables: a key would escape to the heap, except through noescape.
type kernel struct {
	// add adds a key, as "How an add finds its one winner" says; contains asks for one.
	add, contains func(b *bitset, h1, h2 uint64) bool

	// positions sets dst to a key's positions: the strategy's specification as code. It looks
	// at no bits.
	positions func(b *bitset, dst []uint64, h1, h2 uint64)

	// Batches of filters with at least prefetchFrom words call prefetch for a group of keys
	// before the group's turn comes. It asks for the lines that the group needs, for writing
	// or reading.
	prefetch     func(b *bitset, group []digest, write bool)
	prefetchFrom int

	h1Only bool // of a digest, only h1 is used

	// containsMany is contains for a group, where that is faster than one by one; nil
	// otherwise. It sets found, which is as long as group.
	containsMany func(b *bitset, group []digest, found []bool) int

	// A strategy that needs the key has these instead of all the others.
	addKey, containsKey func(b *bitset, key []byte) bool
	keyPositions        func(dst []uint64, key []byte)

	// vectors is the kernel to use instead with words for which splitvec.For says so; nil if
	// there is none.
	vectors *kernel
}

// A digest is that of a key: h1 and h2.
type digest = [2]uint64

func (d *definition) String() string { return shown(d.name, d.serial) }

func (d *definition) largestK() int { return cmp.Or(d.MaxK, maxK) }

// unit returns what m is a multiple of.
func (d *definition) unit() uint64 { return max(1, d.Unit) }

// sizedUnit returns what an m that New chooses is a multiple of.
func (d *definition) sizedUnit() uint64 { return cmp.Or(d.Unit, 64) }

// rate returns the false-positive rate for an m and k that the strategy can have.
func (d *definition) rate(m uint64, k int, n uint64) float64 {
	switch {
	case d.Rate != nil:
		return d.Rate(m, k, n)
	case d.lawsOr().rate != nil:
		return d.laws.rate(d, m, k, n)
	}
	return rate.Independent(m, k, n)
}

// lawsOr returns the laws; those of a strategy without are empty.
func (d *definition) lawsOr() *laws { return cmp.Or(d.laws, &noLaws) }

// kernelFor returns the code for filters of m bits and k positions per key.
func (d *definition) kernelFor(m uint64, k int, seed uint64) (*kernel, error) {
	if d.prepare != nil {
		return d.prepare(d, m, k, seed)
	}
	return d.code, nil
}

// check returns an error for an m or k that the strategy cannot have.
func (d *definition) check(m uint64, k int) error {
	switch {
	case m == 0:
		return invalid("m = 0 bits, want at least 1")
	case k < 1 || k > d.largestK():
		return invalid("k = %d, want 1 to %d", k, d.largestK())
	case d.onlyK != 0 && k != d.onlyK:
		return invalid("k = %d with strategy %q, want %d", k, d, d.onlyK)
	case m%d.unit() != 0 || k%max(1, d.kUnit) != 0:
		return invalid("m = %d and k = %d with strategy %q, want multiples of %d and %d", m, k, d, d.unit(), max(1, d.kUnit))
	case d.MaxM != 0 && m > d.MaxM:
		return fmt.Errorf("%w: m = %d bits with strategy %q, want at most %d", ErrTooLarge, m, d, d.MaxM)
	}
	return nil
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
// A bit that occurs twice among the k is no exception, because the second pass leaves out all
// occurrences of the remembered bit. Blocks do the same with words instead of bits. The proof
// needs sequentially consistent atomics, and bits that are never cleared meanwhile.
