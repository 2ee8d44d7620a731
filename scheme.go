package bloom

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/seed3447c163/bloom/internal/probe"
)

// A Scheme is a filter without its bits: parameters, strategy and hash, all that
// says where a key's bits are. It is for programs that keep the bits themselves, in a
// file, in another system or in a format of their own. All others want [New].
//
// A Scheme is a small value that never changes.
type Scheme struct{ scheme *scheme }

// NewScheme returns the scheme of the filter that [New] makes of the same
// arguments. The errors are New's, except that no memory is asked for.
func NewScheme(n uint64, p float64, opts ...Option) (Scheme, error) {
	o, h, err := newOptions(opts)
	if err != nil {
		return Scheme{}, err
	}
	s, err := schemeFor(n, p, o.strategy, h)
	if err != nil {
		return Scheme{}, err
	}
	if err := o.checkSize(s.params.M); err != nil {
		return Scheme{}, err
	}
	return Scheme{s}, nil
}

// NewSchemeWithParams returns the scheme of the filter that [NewWithParams] makes
// of the same arguments. The errors are NewWithParams', except that no memory is
// asked for.
func NewSchemeWithParams(params Params, opts ...Option) (Scheme, error) {
	o, h, err := newOptions(opts)
	if err != nil {
		return Scheme{}, err
	}
	s := new(scheme)
	if err := s.set(params, o.strategy, h); err != nil {
		return Scheme{}, err
	}
	if err := o.checkSize(params.M); err != nil {
		return Scheme{}, err
	}
	return Scheme{s}, nil
}

// A scheme is what filters of one kind share. It never changes.
type scheme struct {
	params   Params
	strategy Strategy
	hash     hasher
	divisor  divide.Divisor // by m, for SeededHashing
	own      ownFunctions
}

// schemeFor returns the scheme of a filter for n keys at rate p.
func schemeFor(n uint64, p float64, strategy Strategy, h hasher) (*scheme, error) {
	request := schemeRequest{n, p, strategy.def, h}
	if s := request.recent(); s != nil {
		return s, nil
	}
	if err := checkHash(strategy, h); err != nil {
		return nil, err // before a search
	}
	params, strategy, err := paramsFor(n, p, strategy, h.def)
	if err != nil {
		return nil, err
	}
	made := &sizedScheme{request: request}
	if err := made.scheme.set(params, strategy, h); err != nil {
		return nil, err
	}
	made.keep()
	return &made.scheme, nil
}

// Programs with many filters make them alike, one for each block of a file or for each user.
// So the schemes that New has made most recently are kept and shared: no sizing, and less
// memory for each filter. There are at most as many as recentSchemes has places, about ten
// kilobytes; none with a secret key, which should not live longer than its filters.
var recentSchemes [64]atomic.Pointer[sizedScheme]

// A sizedScheme is a scheme and what was asked for: one allocation.
type sizedScheme struct {
	scheme  scheme
	request schemeRequest
}

// A schemeRequest is what was asked for.
type schemeRequest struct {
	n        uint64
	p        float64
	strategy *definition
	hash     hasher
}

// place returns where the request's scheme is kept. Many requests share a place.
func (r schemeRequest) place() *atomic.Pointer[sizedScheme] {
	x := (r.n*probe.Mul ^ math.Float64bits(r.p) ^ uint64(r.strategy.id)) * probe.Mul
	return &recentSchemes[x>>58]
}

// recent returns the scheme for the request if it is still there.
func (r schemeRequest) recent() *scheme {
	if kept := r.place().Load(); kept != nil && kept.request == r {
		return &kept.scheme
	}
	return nil
}

// keep makes the scheme one of the recent ones.
func (s *sizedScheme) keep() {
	if s.request.hash.def != &sipHash {
		s.request.place().Store(s)
	}
}

// set makes it the scheme of these parts, if they fit each other. Every scheme comes through
// here, whether its parts were computed, given, or read from a file.
func (s *scheme) set(params Params, strategy Strategy, h hasher) (err error) {
	if params.P != 0 && !(params.P > 0 && params.P < 1) {
		return fmt.Errorf("%w: p = %v, want 0 < p < 1, or 0 for unknown", ErrInvalid, params.P)
	}
	if err := strategy.get().check(params.M, params.K); err != nil {
		return err
	}
	if err := checkHash(strategy, h); err != nil {
		return err
	}
	if strategy.id() == idBlocked {
		if strategy, err = blockedOf(params, h); err != nil {
			return err
		}
	}
	*s = scheme{params: params, strategy: strategy, hash: h}
	return s.prepare()
}

// checkHash returns an error if the strategy cannot go with the hash.
func checkHash(s Strategy, h hasher) error {
	switch {
	case s.NeedsKey() && h.def != &noHash:
		return fmt.Errorf("%w: strategy %q has a hash of its own, want no other hash or key", ErrInvalid, s)
	case !s.NeedsKey() && h.def == &noHash:
		return fmt.Errorf("%w: no hash with strategy %q, want one such as Murmur3", ErrInvalid, s)
	}
	return nil
}

// blockedOf returns which of its four Blocked has for parameters that ParamsFor computed.
func blockedOf(p Params, h hasher) (Strategy, error) {
	made, s, err := paramsFor(p.N, p.P, Strategy{&blocked}, h.def)
	if err != nil || made.M != p.M || made.K != p.K {
		return s, fmt.Errorf("%w: m = %d and k = %d are not what strategy %q has for n = %d and p = %v: want Blocked1, Blocked2, Blocked4 or Blocked8",
			ErrInvalid, p.M, p.K, &blocked, p.N, p.P)
	}
	return s, nil
}

// orNone is the scheme, or an empty one if there is none, as in a zero BloomFilter.
func (s *scheme) orNone() *scheme {
	if s == nil {
		return &noScheme
	}
	return s
}

var noScheme = scheme{hash: hasher{def: &murmur3Hash}}

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
	return fmt.Sprintf("m=%d k=%d strategy=%s hash=%v:%016x", s.params.M, s.params.K, s.strategy.quoted(), s.hash.def.quoted(), s.hash.checkValue())
}

// String is Identity, so that a log of a Scheme says something.
func (s Scheme) String() string { return s.Identity() }

// digest hashes a key.
func (s *scheme) digest(key []byte) (h1, h2 uint64) {
	if s.hash.def == &noHash {
		panic(s.misuse("Hash"))
	}
	return s.hash.sum(key)
}

func (s *scheme) misuse(call string) string {
	return fmt.Sprintf("bloom: %s on a filter with strategy %q, which needs the key itself", call, s.strategy)
}

// Hash returns the 128-bit digest of a key, as [BloomFilter.Digest] of a filter with this
// scheme does. It allocates nothing. It panics if the strategy needs the key itself.
func (s Scheme) Digest(key []byte) (h1, h2 uint64) { return s.scheme.orNone().digest(key) }

// Hash returns the hash of the keys. [WithKey] stands for one named "siphash", and a
// strategy that takes the key itself has one named "none".
func (s Scheme) Hash() Hash { return Hash{s.scheme.orNone().hash.def} }

// Seed returns what [WithSeed] has set, 0 by default. It never reveals a secret key.
func (s Scheme) Seed() uint64 {
	if s.Keyed() {
		return 0
	}
	return s.scheme.orNone().hash.k0
}

// Keyed reports whether keys are hashed under a secret key, by [WithKey].
func (s Scheme) Keyed() bool { return s.scheme.orNone().hash.def == &sipHash }

// Portable returns nil if another process can understand the bits: if it can have the
// same scheme, given the secret key or the strategy and hash of your own that it needs.
// Otherwise the error wraps [ErrNotPortable] and says why: with [MapHash], or a strategy
// or hash without a name. Filters that are not portable cannot be written. For the zero
// Scheme it wraps [ErrInvalid].
func (s Scheme) Portable() error { return s.scheme.orNone().portable() }
