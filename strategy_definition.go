package bloom

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/rate"
)

// A Definition says what [NewStrategy] makes: where a key's bits are, by either Positions or
// KeyPositions, and, if it differs from the default, which m and k a filter may have and what
// rate it keeps. The zero value of every other field is right for k independent positions
// anywhere in m bits.
//
// Positions and KeyPositions are called once per scheme. They return the function that is
// called for each key, which may use what was prepared, such as reciprocals or block counts.
// For an m or k that the strategy cannot have they return an error, which becomes that of
// [New] and [NewWithParams].
//
// The function that they return must be pure, because filters outlive the program that made
// them: the same arguments always give the same positions, each in [0, m) and not necessarily
// different. It is called from many goroutines at once. A call that meets a position at m or
// beyond panics.
type Definition struct {
	// Positions finds a key's positions from its digest, four at a time: the function that it
	// returns returns positions i, i+1, i+2 and i+3, for i = 0, 4, 8 and so on below k.
	// Results for positions from the k-th on are ignored. Lookups stop after four if one of
	// those bits is not set.
	Positions func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error)

	// KeyPositions finds a key's k positions from the key itself, for strategies that hash it
	// several times, and stores them in dst, which has length k. The function must not keep
	// dst or key beyond the call, nor change the key: both may be on a stack, see [NewHash].
	// Such a strategy has no other hash, and seed is that of [WithSeed]. AddDigest,
	// ContainsDigest and everything else that takes a digest panics.
	KeyPositions func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error)

	MaxK int    // the largest k, up to 255; 0 for 64
	Unit uint64 // what m is a multiple of; 0 for any, and then New takes multiples of 64
	MaxM uint64 // the largest m; 0 for any

	// Rate returns the false-positive rate of m bits with n keys of k bits each, where it
	// differs from that of independent positions. It falls with m and rises with n. New
	// sizes by it.
	Rate func(m uint64, k int, n uint64) float64

	// EstimatedN returns how many keys have most likely set x of m bits, where it differs from
	// that of independent positions, see [Strategy.EstimatedN].
	EstimatedN func(m uint64, k int, x uint64) float64

	// Size returns the m and k for n keys at rate p, 0 < p < 1, where there is a rule for
	// them. Otherwise New finds the smallest m at which some k keeps p, by Rate.
	Size func(n uint64, p float64) (m uint64, k int, err error)
}

const (
	// maxK is the largest number of bits a key may have unless a strategy says otherwise.
	// Half the bits of a filter are set at its best, so k = 64 reaches rates below 1e-19;
	// more would be slower and no better.
	maxK = 64

	// maxOwnK is the largest that a strategy may say, and files too: other systems choose
	// larger k, and their filters are to be read.
	maxOwnK = 255
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
	if own.id = idOwnPositions; d.KeyPositions != nil {
		own.id = idOwnKeyPositions
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
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: strategy %.40q %s", ErrInvalid, d, fmt.Sprintf(format, args...))
	}
	switch {
	case len(d.name) > format.MaxName:
		return wrong("has a name of %d bytes, want at most %d", len(d.name), format.MaxName)
	case slices.ContainsFunc(builtins, func(b *definition) bool { return d.name == b.name }):
		return wrong("has a name that is taken by this package")
	case (d.Positions == nil) == (d.KeyPositions == nil):
		return wrong("has both or neither of Positions and KeyPositions, want one")
	case d.Unit >= maxM:
		return wrong("has Unit = %d, want less than %d", d.Unit, uint64(maxM))
	case d.MaxK < 0 || d.MaxK > maxOwnK:
		return wrong("has MaxK = %d, want 0 to %d", d.MaxK, maxOwnK)
	}
	return nil
}

func (d *definition) largestK() int { return cmp.Or(d.MaxK, maxK) }

// unit returns what m is a multiple of.
func (d *definition) unit() uint64 { return max(1, d.Unit) }

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
	case d.onlyK != 0 && k != d.onlyK:
		return fmt.Errorf("%w: k = %d bits a key with strategy %q, want %d", ErrInvalid, k, d, d.onlyK)
	case m%d.unit() != 0 || k%max(1, d.kUnit) != 0:
		return fmt.Errorf("%w: m = %d and k = %d with strategy %q, want multiples of %d and %d", ErrInvalid, m, k, d, d.unit(), max(1, d.kUnit))
	case d.MaxM != 0 && m > d.MaxM:
		return fmt.Errorf("%w: m = %d bits with strategy %q, want at most %d", ErrTooLarge, m, d, d.MaxM)
	}
	return nil
}
