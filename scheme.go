package bloom

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/dchest/siphash"
	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/splitvec"
)

// A Scheme is a filter without its bits: parameters, strategy and hash, all that
// says where a key's bits are. It is for those who keep the bits themselves, in a
// file, in another system or in a format of their own. Everyone else wants [New].
//
// A Scheme is a small value that never changes.
type Scheme struct{ scheme *scheme }

// A scheme is what filters of one kind share. It never changes.
type scheme struct {
	params   Params
	strategy Strategy
	hash     hasher
	divisor  divide.Divisor // by m, for strategies that take remainders
	own      ownFunctions
}

// orNone is the scheme, or an empty one if there is none, as in a zero BloomFilter.
func (s *scheme) orNone() *scheme {
	if s == nil {
		return &noScheme
	}
	return s
}

var noScheme = scheme{hash: hasher{hash: &murmur3Hash}}

// filter returns the filter with these bits.
func (s *scheme) filter(bits bitArray) *BloomFilter {
	units, kernel := s.params.M, s.strategy.id()
	switch {
	case kernel.groups() > 0:
		units /= blockBits
	case kernel == idSplitBlock:
		units /= splitBits
		if splitvec.For(bits) {
			kernel = kernelSplitVectors
		}
	case kernel == idDoubleHashing:
		kernel = kernelOfDouble(s.params.M, s.params.K)
	}
	return &BloomFilter{
		bits:  bits,
		units: units, seed: s.hash.k0, k: uint8(s.params.K), kernel: kernel, hash: s.hash.hash.id,
		scheme: s,
	}
}

// NewScheme returns the scheme of the filter that [New] makes of the same
// arguments. The errors are New's, except that no memory is asked for.
func NewScheme(n uint64, p float64, opts ...Option) (Scheme, error) {
	o, err := newOptions(opts)
	if err != nil {
		return Scheme{}, err
	}
	s, err := sized(n, p, o)
	return Scheme{s}, err
}

// NewSchemeWithParams returns the scheme of the filter that [NewWithParams] makes
// of the same arguments. The errors are NewWithParams', except that no memory is
// asked for.
func NewSchemeWithParams(params Params, opts ...Option) (Scheme, error) {
	o, err := newOptions(opts)
	if err != nil {
		return Scheme{}, err
	}
	s, err := given(params, o)
	return Scheme{s}, err
}

// sized makes the scheme for n keys at rate p.
func sized(n uint64, p float64, o options) (*scheme, error) {
	h, err := o.hasher()
	if err != nil {
		return nil, err
	}
	request := sizeRequest{n, p, o.strategy.def, h}
	if s := request.recent(); s != nil {
		if err := o.checkSize(s.params.M); err != nil {
			return nil, err
		}
		return s, nil
	}
	// Keys with equal digests are part of the rate. Without that part, p must
	// still be possible.
	collisions, rest := h.collisions(n), p
	if p > 0 && p < 1 { // size refuses any other
		if rest -= collisions; rest <= 0 {
			return nil, fmt.Errorf("%w: p = %v with %v, of whose digests n = %d keys take a share of %.2g: want a larger p", ErrInvalid, p, h.hash.name, n, collisions)
		}
	}
	params, strategy, err := size(n, rest, o.strategy)
	if err != nil {
		if rest != p {
			err = fmt.Errorf("%w (of p = %v, %.2g are taken by equal digests of %v)", err, p, collisions, h.hash.name)
		}
		return nil, err
	}
	params.P = p
	if err := o.checkSize(params.M); err != nil {
		return nil, err
	}
	made := scheme{params: params, strategy: strategy, hash: h, divisor: divide.New(params.M)}
	if err := made.prepare(); err != nil {
		return nil, err
	}
	return request.keep(made), nil
}

// given makes the scheme with the m and k that params names.
func given(params Params, o options) (*scheme, error) {
	h, err := o.hasher()
	if err != nil {
		return nil, err
	}
	if err := params.validate(o.strategy); err != nil {
		return nil, err
	}
	strategy, err := o.strategy.resolve(params, h.collisions(params.N))
	if err != nil {
		return nil, err
	}
	if err := o.checkSize(params.M); err != nil {
		return nil, err
	}
	made := &scheme{params: params, strategy: strategy, hash: h, divisor: divide.New(params.M)}
	return made, made.prepare()
}

// Params returns m and k, and n and p as far as they are known.
func (s Scheme) Params() Params { return s.scheme.orNone().params }

// Strategy returns the strategy that finds the keys' positions; in place of
// [Blocked], the one of Blocked1 to Blocked8 that was chosen.
func (s Scheme) Strategy() Strategy { return s.scheme.orNone().strategy }

// SizeBytes returns the memory that the bits take: whole 64-bit words.
func (s Scheme) SizeBytes() uint64 { return wordsFor(s.Params().M) * 8 }

// Identity returns a text that two schemes have in common if and only if they put
// every key's bits in the same places: m, k, the strategy's name, the hash's and its
// seed. A secret key is represented by a check value, from which it cannot be
// found. The text never changes for the same scheme, except that one that is not
// [Scheme.Portable] is another in every process.
func (s Scheme) Identity() string { return s.scheme.orNone().identity() }

func (s *scheme) identity() string {
	return fmt.Sprintf("m=%d k=%d strategy=%s hash=%v:%016x", s.params.M, s.params.K, s.strategy.quoted(), s.hash.hash.quoted(), s.hash.check())
}

// String returns the Identity, for a log. It holds no secret key.
func (s Scheme) String() string { return s.Identity() }

// GoString is String: %#v would print the secret key.
func (s Scheme) GoString() string { return s.Identity() }

// digest hashes a key.
func (s *scheme) digest(key []byte) (h1, h2 uint64) {
	if s.hash.hash == &noHash {
		panic(s.misuse("Hash"))
	}
	return s.hash.sum(key)
}

func (s *scheme) misuse(call string) string {
	return fmt.Sprintf("bloom: %s on a filter with strategy %q, which needs the key itself", call, s.strategy)
}

// Hash returns the 128-bit digest of a key, as [BloomFilter.Hash] of a filter with this
// scheme does. It allocates nothing. It panics if the strategy needs the key itself.
func (s Scheme) Hash(key []byte) (h1, h2 uint64) { return s.scheme.orNone().digest(key) }

// HashString is [Scheme.Hash] for a string, without copying it.
func (s Scheme) HashString(key string) (h1, h2 uint64) { return s.Hash(bytesOf(key)) }

// HashFunc returns the hash of the keys. [WithKey] stands for one named "siphash", and a
// strategy that takes the key itself has one named "none".
func (s Scheme) HashFunc() Hash { return Hash{s.scheme.orNone().hash.hash} }

// Seed returns what [WithSeed] has set, 0 if nothing; for Murmur3's seeds 1 to 8, what they
// stand for. Of a secret key nothing can be learned here.
func (s Scheme) Seed() uint64 {
	if s.Keyed() {
		return 0
	}
	return s.scheme.orNone().hash.k0
}

// Keyed reports whether keys are hashed under a secret key, by [WithKey].
func (s Scheme) Keyed() bool { return s.scheme.orNone().hash.hash == &sipHash }

// Portable returns nil if another process can understand the bits: if it can have the
// same scheme, given the secret key or the strategy and hash of one's own that it needs.
// Otherwise the error wraps [ErrNotPortable] and says why: with [MapHash], or a strategy
// or hash without a name. Filters that are not portable cannot be written. For the zero
// Scheme it wraps [ErrInvalid].
func (s Scheme) Portable() error { return s.scheme.orNone().portable() }

// AppendPositions appends the positions of a key's k bits, each in [0, m) and not
// necessarily different, in the order in which the strategy finds them.
func (s Scheme) AppendPositions(dst []uint64, key []byte) []uint64 {
	return s.scheme.orNone().appendPositions(dst, key)
}

func (s *scheme) appendPositions(dst []uint64, key []byte) []uint64 {
	switch s.strategy.id() {
	case idSeededHashing:
		for i := range s.params.K {
			dst = append(dst, seededPosition(key, s.hash.k0, i, &s.divisor))
		}
		return dst
	case idOwnKeyPositions:
		dst, positions := s.room(dst)
		s.own.keyPositions(unescaped(positions), unescaped(key))
		return s.inside(dst, len(dst)-s.params.K)
	}
	h1, h2 := s.hash.sum(key)
	return s.appendDigestPositions(dst, h1, h2)
}

// AppendPositionsHash is [Scheme.AppendPositions] for a key whose digest is already known,
// see [BloomFilter.AddHash]. It panics if the strategy needs the key itself.
func (s Scheme) AppendPositionsHash(dst []uint64, h1, h2 uint64) []uint64 {
	return s.scheme.orNone().appendDigestPositions(dst, h1, h2)
}

func (s *scheme) appendDigestPositions(dst []uint64, h1, h2 uint64) []uint64 {
	if s.strategy.NeedsKey() {
		panic(s.misuse("AppendPositionsHash"))
	}
	if s.strategy.id() == idDoubleHashing { // its i-th position takes i steps: take each once
		x, y := h1, h2^probe.Xor
		for range s.params.K {
			dst = append(dst, probe.Reduce(x, s.params.M))
			x = x*probe.Mul + y
		}
		return dst
	}
	switch s.strategy.id() {
	case idOwnPositions:
		dst, positions := s.room(dst)
		s.own.positions(unescaped(positions), h1, h2)
		return s.inside(dst, len(dst)-s.params.K)
	case idOwnMasks:
		var buf [maxMasks]Mask
		n, masks := len(dst), buf[:s.strategy.def.Words]
		s.own.masks(unescaped(masks), h1, h2)
		for _, mask := range masks {
			for w := mask.Bits; w != 0; w &= w - 1 {
				dst = append(dst, mask.Word*64+uint64(bits.TrailingZeros64(w)))
			}
		}
		return s.inside(dst, n)
	}
	for i := range s.params.K {
		dst = append(dst, s.strategy.def.Index(h1, h2, i, s.params.M))
	}
	return s.inside(dst, len(dst)-s.params.K)
}

// inside panics if a position from there on is none of the filter's.
func (s *scheme) inside(dst []uint64, from int) []uint64 {
	for _, pos := range dst[from:] {
		if pos >= s.params.M {
			s.beyond(pos)
		}
	}
	return dst
}

// room makes dst longer by a key's k positions, and returns them too.
func (s *scheme) room(dst []uint64) (longer, positions []uint64) {
	n, k := len(dst), s.params.K
	dst = slices.Grow(dst, k)[:n+k]
	return dst, dst[n:]
}

// Filter returns an empty filter with this scheme. The error wraps [ErrTooLarge]
// if the machine has too little memory.
func (s Scheme) Filter() (*BloomFilter, error) {
	if s.scheme == nil {
		return nil, fmt.Errorf("%w: the zero Scheme, want one of NewScheme", ErrInvalid)
	}
	return s.scheme.newFilter()
}

// FilterOver returns a filter with this scheme whose bits are the given words: bit
// i is bit i%64 of words[i/64]. Nothing is copied. The words must stay valid for
// as long as the filter is used; each of its operations reads and writes them
// atomically. For speed with Blocked, the first one should begin a cache line.
//
// The error wraps [ErrInvalid] if there are not exactly SizeBytes/8 words or a bit
// at or beyond m is set.
func (s Scheme) FilterOver(words []atomic.Uint64) (*BloomFilter, error) {
	if s.scheme == nil {
		return nil, fmt.Errorf("%w: the zero Scheme, want one of NewScheme", ErrInvalid)
	}
	m := s.scheme.params.M
	if want := wordsFor(m); uint64(len(words)) != want {
		return nil, fmt.Errorf("%w: %d words, want %d for m = %d bits", ErrInvalid, len(words), want, m)
	}
	if tail := m % 64; tail != 0 {
		if last := words[len(words)-1].Load(); last>>tail != 0 {
			return nil, fmt.Errorf("%w: last word %#x has bits beyond m = %d, want none", ErrInvalid, last, m)
		}
	}
	return s.scheme.filter(words), nil
}

// Scheme returns the filter without its bits.
func (f *BloomFilter) Scheme() Scheme { return Scheme{f.scheme} }

// Words returns the filter's bits themselves, not a copy: bit i is bit i%64 of word
// i/64. It is for writing them to a format of one's own. Words may be read at any
// time; who changes them takes over the filter's promises.
func (f *BloomFilter) Words() []atomic.Uint64 { return f.bits }

// keyCheckText is what a secret key is checked with. Its digest is public, so it
// must never be of use as a key of a filter.
const keyCheckText = "github.com/seed3447c163/bloom: is this the key that the filter was made with?"

// check stands for the seed or key where filters are compared or written: the
// seed itself, or what a secret key makes of a constant.
func (h *hasher) check() uint64 {
	switch h.hash.id {
	case idMapHash:
		return maphash.String(mapSeed, keyCheckText)
	case idSipHash:
		check, _ := siphash.Hash128(h.k0, h.k1, []byte(keyCheckText))
		return check
	}
	return h.k0
}
