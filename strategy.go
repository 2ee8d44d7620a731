package bloom

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"sync/atomic"
)

// A Strategy says which k of a filter's m bits belong to a key. The strategies
// of this package are [DoubleHashing], [Blocked] and [SeededHashing], and those of
// other systems, [GuavaMitz64], [GuavaMitz32] and [BitsAndBlooms]; [NewStrategy] makes
// others. The zero Strategy is none, and [New] refuses it.
//
// The positions of a named strategy never change, because filters outlive the
// program that made them. Two strategies of the same name are taken to be equal; one
// without a name equals only itself.
//
// A Strategy is a small value that never changes, and can be compared: every strategy of
// this package equals itself, one of your own equals what the same call of NewStrategy
// returned. A filter keeps its own, whatever is assigned to a variable afterwards.
type Strategy struct{ def *definition }

// A definition is what a Strategy stands for. It never changes, and all filters with the
// strategy share it.
type definition struct {
	id     strategyID
	name   string
	serial uint64 // of one without a name: which call of NewStrategy made it
	index  IndexFunc
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

// An IndexFunc returns the position, in [0, m), of the i-th of a key's bits,
// 0 <= i < k, given the two halves of the key's 128-bit digest. It must be pure:
// the same arguments give the same position for ever. It is called from many
// goroutines at once.
type IndexFunc func(h1, h2 uint64, i int, m uint64) uint64

// strategyID picks a kernel.
type strategyID uint8

const (
	idNone strategyID = iota // a BloomFilter that New has not made
	idCustom
	idDoubleHashing
	idSeededHashing
	idBlocked // of no filter: New resolves it to one of the next
	idBlocked1
	idBlocked2
	idBlocked4
	idBlocked8
	idGuavaMitz32
	idGuavaMitz64
	idBitsAndBlooms
)

// Kernels that a filter has in place of its strategy's own. They are in no file.
const (
	kernelDoubleStraight strategyID = 128 + iota
)

// maxK is the largest number of bits a key may have. Half the bits of a filter
// are set at its best, so k = 64 reaches rates below 1e-19; more would be slower
// and no better.
const maxK = 64

// maxForeignK is the largest k that Guava's files can say. Other systems choose k
// for a p that nobody needs, and their filters are there to be read.
const maxForeignK = 255

// NewStrategy returns a strategy of your own. The name identifies it: filters
// are compatible if their strategies' names are equal. One with the empty name is for
// this process: its filters are compatible with each other, and cannot be written.
//
// A filter calls index once for each of a key's bits, twice where it adds the key; a
// position of m or more makes the call that met it panic. The filter is sized as if the
// positions were independent and uniform, so the promise of p is only as good as index
// is.
//
// [New] returns an error for a strategy whose index is nil or whose name is that
// of one of this package's.
func NewStrategy(name string, index IndexFunc) Strategy {
	d := &definition{id: idCustom, name: name, index: index}
	if name == "" {
		d.serial = nameless.Add(1)
	}
	return Strategy{d}
}

// nameless counts the strategies without a name.
var nameless atomic.Uint64

// same reports whether two strategies put keys in the same places.
func (s Strategy) same(other Strategy) bool {
	a, b := s.get(), other.get()
	return a == b || a.id == b.id && a.name == b.name && a.serial == b.serial
}

// quoted returns what no other strategy of this process has.
func (s Strategy) quoted() string {
	d := s.get()
	if d.serial > 0 {
		return fmt.Sprintf("%q#%d", d.name, d.serial)
	}
	return strconv.Quote(d.name)
}

// Name returns the name that identifies the strategy.
func (s Strategy) Name() string { return s.get().name }

// String returns the name, for logs.
func (s Strategy) String() string { return s.get().name }

// NeedsKey reports whether a key's digest is not enough to find its positions, as with
// [SeededHashing] and [BitsAndBlooms]: then [BloomFilter.AddHash] and
// [BloomFilter.ContainsHash] panic.
func (s Strategy) NeedsKey() bool { return s.get().needsKey() }

func (d *definition) needsKey() bool { return d.id == idSeededHashing || d.id == idBitsAndBlooms }

// foreign reports whether the strategy is that of another system.
func (s Strategy) foreign() bool {
	id := s.id()
	return id == idGuavaMitz32 || id == idGuavaMitz64 || id == idBitsAndBlooms
}

// maxK returns the largest k that a filter with the strategy may have.
func (s Strategy) maxK() int {
	if s.foreign() {
		return maxForeignK
	}
	return maxK
}

func (s Strategy) validate() error {
	switch d := s.get(); {
	case d.id == idNone:
		return fmt.Errorf("%w: the strategy is the zero Strategy, want one such as DoubleHashing", ErrInvalid)
	case d.id != idCustom:
		return nil
	case d.index == nil:
		return fmt.Errorf("%w: strategy %q has no index function", ErrInvalid, d.name)
	case len(d.name) > maxName:
		return fmt.Errorf("%w: strategy name %.20q… has %d bytes, want at most %d", ErrInvalid, d.name, len(d.name), maxName)
	case d.taken():
		return fmt.Errorf("%w: strategy name %q is taken by this package", ErrInvalid, d.name)
	}
	return nil
}

// builtins are all strategies of this package, whatever is assigned to its variables.
var builtins = []*definition{
	&doubleHashing, &seededHashing, &blocked, &blocked1, &blocked2, &blocked4, &blocked8,
	&guavaMitz32, &guavaMitz64, &bitsAndBlooms,
}

// taken reports whether the name is that of a strategy of this package.
func (d *definition) taken() bool {
	return slices.ContainsFunc(builtins, func(b *definition) bool { return d.name == b.name })
}

// How an add finds its one winner
//
// Each add kernel below makes two passes over the key's k bits. The first only
// reads, and remembers the last bit that lacks. If none does, the key was there:
// false, and nothing is written. The second sets all the other bits, then flips
// the remembered one, and answers whether it was this call that flipped it.
//
// At most one winner: whoever flips its remembered bit has set all the others
// before, so the flip is the moment in which the key becomes complete, and that
// moment comes once, because bits are never cleared. At least one: let z be the
// last of the key's bits, in probe order, that lacked when the adds began. Only
// a call that saw z lacking can set it, it remembers z, as no later bit lacks,
// and the first to flip it wins. (Another key's add may flip z instead; then
// nobody wins.) A bit that occurs twice among the k is no exception, since
// the second pass leaves out all occurrences of the remembered one. Blocked does
// the same with the words of a key in place of its bits.
//
// The second pass sets bits whether they lack or not: testing each would be a
// branch on a coin toss, which costs more than the locked Or that it saves.
// BenchmarkAdd, key=fresh.

// noBit is no position: positions are below m.
const noBit = ^uint64(0)

// reduce maps a uniform x to [0, m) by multiplication, as m·(x / 2^64).
// Lemire, "Fast random integer generation in an interval", 2019.
func reduce(x, m uint64) uint64 {
	hi, _ := bits.Mul64(x, m)
	return hi
}

// position calls a custom strategy's index and checks the answer: a bit beyond m
// may lie outside the array, or in it but outside every count and estimate.
func (d *definition) position(h1, h2 uint64, i int, m uint64) uint64 {
	pos := d.index(h1, h2, i, m)
	if pos >= m {
		panic(fmt.Sprintf("bloom: strategy %q returned position %d for i = %d, want less than m = %d", d.name, pos, i, m))
	}
	return pos
}

func customAdd(b bitArray, m uint64, k int, s *definition, h1, h2 uint64) bool {
	last := noBit
	for i := range k {
		if pos := s.position(h1, h2, i, m); b.get(pos) == 0 {
			last = pos
		}
	}
	if last == noBit {
		return false
	}
	for i := range k {
		if pos := s.position(h1, h2, i, m); pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

func customContains(b bitArray, m uint64, k int, s *definition, h1, h2 uint64) bool {
	for i := range k {
		if b.get(s.position(h1, h2, i, m)) == 0 {
			return false
		}
	}
	return true
}
