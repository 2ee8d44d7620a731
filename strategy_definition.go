package bloom

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/rate"
)

// A Definition says what [NewStrategy] makes: where a key's bits are, by exactly one of
// its first four functions, and, as far as that is not the usual, which m and k a filter
// may have and what rate it keeps. The zero value of every other field is right for
// k independent positions anywhere in m bits.
//
// Positions, Masks and KeyPositions are called once for each scheme, and return the
// function that is then called for each key: it may use what was prepared, such as
// reciprocals or block counts. For an m or k that the strategy cannot have they return an
// error, which becomes that of [New] and [NewWithParams].
//
// What they return, and Index, must be pure: the same arguments always give the same
// bits, as filters outlive the program that made them. It is called from many goroutines
// at once. It must not keep the slices that it is given beyond the call, nor change the
// key: they may be on a stack, see [NewHash]. A call that meets a bit at m or beyond
// panics.
type Definition struct {
	// Positions finds a key's positions from its digest, four at a time: the function that
	// it returns returns the positions i, i+1, i+2 and i+3, for i = 0, 4, 8 and so on below
	// k. What it returns for a position from the k-th on is not looked at. Positions
	// may be equal. Lookups stop after four if one of those bits is not set.
	Positions func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error)

	// Masks finds a key's bits as words of the filter and the bits in them, for strategies
	// that have several in one word: the function that it returns sets the Words elements
	// of dst. That costs an atomic operation for each word in place of each bit.
	Masks func(m uint64, k int) (func(dst []Mask, h1, h2 uint64), error)
	Words int // elements of dst, 1 to 16

	// KeyPositions is Positions for strategies that take the key itself, because they hash
	// it several times. They have no other hash, and seed is that of [WithSeed]. AddDigest,
	// ContainsDigest and all else that takes a digest panics.
	KeyPositions func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error)

	// Index finds one position: the i-th, 0 <= i < k. It is the shortest to write, and takes
	// up to twice as long as a strategy of this package.
	Index func(h1, h2 uint64, i int, m uint64) uint64

	K     int    // the one k that a filter may have; 0 for any
	KUnit int    // what k is a multiple of; 0 for any
	MaxK  int    // the largest k, up to 255; 0 for 64
	Unit  uint64 // what m is a multiple of, for Masks of 64; 0 for any, of which New takes multiples of 64
	MaxM  uint64 // the largest m; 0 for any

	// FoldUnit is for [BloomFilter.Fold], and 0 where that is not possible. It says that f
	// neighbouring units of so many bits become one where m becomes m/f, and a key's bits
	// with them: 1 where a position is floor(x·m), 0 <= x < 1, for an x that does not depend
	// on m; the size of a block, which is Unit and a multiple of 64, where the block is chosen so.
	FoldUnit uint64

	// Rate returns the false-positive rate of m bits with n keys of k bits each, where
	// that is not the one of independent positions. It falls with m and rises with n. New
	// sizes by it.
	Rate func(m uint64, k int, n uint64) float64

	// EstimatedN returns how many keys have most likely set x of m bits, where that is not
	// the usual, because the bits of one key coincide more often or never: see
	// [Strategy.EstimatedN].
	EstimatedN func(m uint64, k int, x uint64) float64

	// Size returns the m and k for n keys at rate p, 0 < p < 1, where there is a rule for
	// that, or k follows from one. Otherwise New finds the smallest m at which some k keeps
	// p, by Rate.
	Size func(n uint64, p float64) (m uint64, k int, err error)
}

// A Mask is some bits of one word of a filter: bit i of the filter is bit i%64 of word
// i/64.
type Mask struct{ Word, Bits uint64 }

const (
	// maxK is the largest number of bits a key may have unless a strategy says otherwise.
	// Half the bits of a filter are set at its best, so k = 64 reaches rates below 1e-19;
	// more would be slower and no better.
	maxK = 64

	// maxOwnK is the largest that a strategy may say, and files too: other systems choose
	// larger k, and their filters are to be read.
	maxOwnK = 255

	maxMasks = 16
)

// NewStrategy returns a strategy of your own. The name identifies it: filters
// are compatible if their strategies' names are equal, it is written to files, and to read
// such a file the strategy of that name is given by [WithStrategy]. One with the empty name
// is for this process: its filters are compatible with each other, and cannot be written.
//
// The library does the rest: atomic operations, the one winner, batches, checks, files.
// The promise of p is only as good as the definition is; package bloomtest tries it.
//
// [New] returns an error for a strategy whose definition contradicts itself or whose name
// has more than 255 bytes or is that of one of this package's.
func NewStrategy(name string, d Definition) Strategy {
	own := &definition{name: name, serial: serialFor(name), Definition: d}
	switch {
	case d.Masks != nil:
		own.id = idOwnMasks
	case d.KeyPositions != nil:
		own.id = idOwnKeyPositions
	default:
		own.id = idOwnPositions
	}
	return Strategy{own}
}

// validate returns what is wrong about a strategy whatever the parameters.
func (s Strategy) validate() error {
	d := s.get()
	if d.id == idNone {
		return fmt.Errorf("%w: the strategy is the zero Strategy, want one such as DoubleHashing", ErrInvalid)
	}
	if !d.own() {
		return nil
	}
	functions := 0
	for _, has := range []bool{d.Positions != nil, d.Masks != nil, d.KeyPositions != nil, d.Index != nil} {
		if has {
			functions++
		}
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: strategy %.40q %s", ErrInvalid, d, fmt.Sprintf(format, args...))
	}
	switch {
	case len(d.name) > format.MaxName:
		return wrong("has a name of %d bytes, want at most %d", len(d.name), format.MaxName)
	case slices.ContainsFunc(builtins, func(b *definition) bool { return d.name == b.name }):
		return wrong("has a name that is taken by this package")
	case functions != 1:
		return wrong("has %d of Positions, Masks, KeyPositions and Index, want one", functions)
	case d.Masks != nil && (d.Words < 1 || d.Words > maxMasks):
		return wrong("has masks of %d words, want 1 to %d", d.Words, maxMasks)
	case d.Masks != nil && d.Unit%64 != 0:
		return wrong("has masks and an m that is a multiple of %d, want of 64", d.Unit)
	case d.Unit >= maxM:
		return wrong("has Unit = %d, want less than %d", d.Unit, uint64(maxM))
	case d.FoldUnit != 0 && (d.FoldUnit%64 != 0 && d.FoldUnit != 1 || d.FoldUnit != d.unit()):
		return wrong("has FoldUnit = %d, want 1 or a multiple of 64, and what m is a multiple of, %d", d.FoldUnit, d.unit())
	case min(d.K, d.KUnit, d.MaxK) < 0 || d.largestK() > maxOwnK || max(d.K, d.KUnit) > d.largestK() || d.K%d.kUnit() != 0:
		return wrong("has K = %d, KUnit = %d, MaxK = %d, want a k of at most %d", d.K, d.KUnit, d.MaxK, maxOwnK)
	}
	return nil
}

func (d *definition) largestK() int { return cmp.Or(d.MaxK, max(maxK, d.K)) }

func (d *definition) kUnit() int { return max(1, d.KUnit) }

// unit returns what m is a multiple of.
func (d *definition) unit() uint64 {
	if d.Masks != nil {
		return max(64, d.Unit)
	}
	return max(1, d.Unit)
}

// sizedUnit returns what an m that New chooses is a multiple of.
func (d *definition) sizedUnit() uint64 { return cmp.Or(d.Unit, 64) }

// rate returns the false-positive rate for an m and k that the strategy can have.
func (d *definition) rate(m uint64, k int, n uint64) float64 {
	if d.Rate != nil {
		return d.Rate(m, k, n)
	}
	return rate.Independent(m, k, n)
}

// check returns an error for an m or k that the strategy cannot have.
func (d *definition) check(m uint64, k int) error {
	switch {
	case m == 0:
		return fmt.Errorf("%w: m = 0 bits, want at least 1", ErrInvalid)
	case k < 1 || k > d.largestK():
		return fmt.Errorf("%w: k = %d bits a key, want 1 to %d", ErrInvalid, k, d.largestK())
	case d.K != 0 && k != d.K:
		return fmt.Errorf("%w: k = %d bits a key with strategy %q, want %d", ErrInvalid, k, d, d.K)
	case m%d.unit() != 0 || k%d.kUnit() != 0:
		return fmt.Errorf("%w: m = %d and k = %d with strategy %q, want multiples of %d and %d", ErrInvalid, m, k, d, d.unit(), d.kUnit())
	case d.MaxM != 0 && m > d.MaxM:
		return fmt.Errorf("%w: m = %d bits with strategy %q, want at most %d", ErrTooLarge, m, d, d.MaxM)
	}
	return nil
}
