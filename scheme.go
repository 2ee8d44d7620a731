package bloom

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/vector"
)

// A Scheme is a filter without its bits: parameters, strategy and hash. These determine the positions of a key. A
// Scheme is for programs that store the bits themselves, and for programs that make many equal filters: [Scheme.Filter]
// is over 50 times as fast as [New].
//
// A Scheme never changes, and all its filters share it. The zero Scheme and nil are not usable: methods that return
// errors return one that wraps [ErrInvalid], and the others panic, except those that format it.
type Scheme struct {
	params   Params
	strategy Strategy

	// hash is not an interface: through one, the key and a buffer on the caller's stack would escape to the heap.
	hash  *Hash
	seed  uint64
	state uint64 // initial state of the hash, from the seed

	sumKey func(key []byte) (h1, h2 uint64) // hash.sum, or SipHash under the secret
	vector vector.Input                     // how kernels in assembly hash batches

	kernel *kernel    // nil for the zero Scheme
	empty  kernelArgs // arguments for its filters' kernels, without bits
}

// NewScheme returns the scheme of the filter that [New] makes from the same arguments. It allocates no bits. m is the
// smallest multiple of 64 for which some k gives a rate of at most p, and k is the smallest such k. The rate is that of
// [Strategy.FalsePositiveRate]. For SplitBlock, m is the smallest multiple of 256. For Blocked, m is a multiple of 512,
// up to 3 % above the smallest one if a key's bits are then in fewer words: that is faster.
//
// Because k is a whole number, m is also larger than the bound -n·ln p / (ln 2)²: by less than 0.7 % for p < 0.11, by
// up to 3.7 % for p <= 0.5, and by more for larger p. [Blocked] and [SplitBlock] need more. For n = 0, m is one word or
// block. With a 64-bit hash such as [MapHash], a key has the digest of one of n others with probability n/2^64.
// NewScheme subtracts this from p.
//
// The error wraps [ErrInvalid] for p outside (0, 1) or NaN, a p that needs k > 64, or invalid options, and
// [ErrTooLarge] for m >= 2^53, because the formulas are then no longer exact.
func NewScheme(n uint64, p float64, opts ...Option) (*Scheme, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	params, err := paramsFor(n, p, o.strategy, o.hash)
	if err != nil {
		return nil, err
	}
	return newScheme(params, &o)
}

// NewSchemeWithParams returns the scheme of filters of exactly params.M bits and params.K positions per key, for
// example to match another system. params.N and params.P may be zero, and are not checked against M and K. It allocates
// no bits.
//
// The error wraps [ErrInvalid] if M is 0, K is not in 1..64 (or what the strategy allows), P is neither 0 nor between 0
// and 1, an option is invalid, or the strategy cannot have this M and K. It wraps [ErrTooLarge] if M is more than the
// strategy can have or [WithMaxBytes] allows.
func NewSchemeWithParams(params Params, opts ...Option) (*Scheme, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	return newScheme(params, &o)
}

// newScheme returns the scheme with these parameters, and with the strategy, the hash, and the seed or secret of o. It
// returns an error if the parameters are invalid or need more than o.maxBytes.
func newScheme(params Params, o *options) (*Scheme, error) {
	if bytes := wordsFor(params.M) * 8; bytes > o.maxBytes { // before a custom strategy sees m
		return nil, fail(ErrTooLarge, "m = %d bits are %d bytes, want at most %d", params.M, bytes, o.maxBytes)
	}
	s := Scheme{strategy: o.strategy, hash: o.hash, sumKey: o.hash.sum}
	if vector.Has {
		s.vector = o.hash.vector
	}
	if o.seed != nil {
		s.seed = *o.seed
	}
	switch {
	case o.keyed != nil:
		s.sumKey = o.keyed
	case o.hash.start != nil:
		s.state = o.hash.start(s.seed)
	}
	return s.with(params)
}

// with returns the scheme with other parameters. It returns an error if they are invalid or the strategy cannot have
// them. The parameters were computed, given by the caller, or read from a file.
func (s Scheme) with(params Params) (*Scheme, error) {
	if math.Signbit(params.P) || params.P != 0 && !(params.P > 0 && params.P < 1) {
		return nil, invalid("p = %v, want 0 < p < 1, or 0 for unknown", params.P)
	}
	if err := s.strategy.check(params.M, params.K); err != nil {
		return nil, err
	}
	kernel, err := s.strategy.kernel(params.M, params.K, s.seed)
	if err != nil {
		return nil, invalid("m = %d and k = %d with strategy %q: %w", params.M, params.K, s.strategy, err)
	}
	s.params, s.kernel = params, kernel
	s.empty = kernelArgs{params.M / s.strategy.blockBits(), params.K, s.state, nil}
	return &s, nil
}

const zeroFilter = "bloom: use of the zero BloomFilter or Scheme: make one by New or NewScheme, or read one into it"

var errZero = invalid("the zero BloomFilter or Scheme, want one that New or NewScheme made or that was read")

// zero reports whether there is no scheme, as in a zero BloomFilter.
func (s *Scheme) zero() bool { return s == nil || s.kernel == nil }

// must returns s, or panics if there is none, as in a zero BloomFilter or Scheme.
func (s *Scheme) must() *Scheme {
	if s.zero() {
		panic(zeroFilter)
	}
	return s
}

// misuse returns the panic text for a call with digests, if the strategy needs the key.
func (s *Scheme) misuse(call string) string {
	if s.zero() {
		return zeroFilter
	}
	return fmt.Sprintf("bloom: %s on a filter with strategy %q, which needs the key itself", call, s.strategy)
}

// Params returns m and k, and n and p if they are known.
func (s *Scheme) Params() Params { return s.must().params }

// Strategy returns the strategy.
func (s *Scheme) Strategy() Strategy { return s.must().strategy }

// SizeBytes returns the number of bytes that the bits take, in whole 64-bit words.
func (s *Scheme) SizeBytes() uint64 { return wordsFor(s.Params().M) * 8 }

// String returns a text that is equal for two schemes if and only if their filters are compatible: every key has the
// same positions in both. It consists of m, k, the names of strategy and hash, and the seed or a check value that does
// not reveal the secret. The text is for comparing and for logs, not for parsing. It is the same in every process if
// the scheme is [Scheme.Portable].
func (s *Scheme) String() string {
	if s.zero() {
		return "bloom.Scheme(zero)"
	}
	return fmt.Sprintf("m=%d k=%d strategy=%s hash=%v:%016x", s.params.M, s.params.K,
		s.strategy.identity(), s.hash.identity(), s.checkValue())
}

// LogValue returns what String returns, for package log/slog.
func (s *Scheme) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Digest returns the 128-bit digest of a key. With it, a program hashes a key once for many filters, see
// [BloomFilter.AddDigest] and [BloomFilter.ContainsDigest]. The digest is the same for all filters with the same hash
// and seed or secret, whatever their size and strategy. Digest panics if the strategy needs the key itself.
func (s *Scheme) Digest(key []byte) (h1, h2 uint64) {
	if s.zero() || s.hash == &noHash {
		panic(s.misuse("Digest"))
	}
	return s.sumOne(key)
}

// Hash returns the hash. Its name is "siphash" with [WithSecret], and "none" with a strategy that needs the key itself.
func (s *Scheme) Hash() *Hash { return s.must().hash }

// Seed returns the seed that [WithSeed] has set, 0 if none. It never reveals a secret.
func (s *Scheme) Seed() uint64 { return s.must().seed }

// Portable returns nil if another process can read the bits, given the secret and the custom
// strategy and hash, if any. Otherwise the error wraps [ErrNotPortable]: the hash is [MapHash], or
// the strategy or the hash has no name. Filters that are not portable cannot be written.
func (s *Scheme) Portable() error {
	switch {
	case s.zero():
		return errZero
	case s.hash == &mapHash:
		return fail(ErrNotPortable, "its hash is %v, want Murmur3, RapidHash or a secret", MapHash)
	case s.hash.name == "":
		return fail(ErrNotPortable, "its hash has no name")
	case s.strategy.Name() == "":
		return fail(ErrNotPortable, "its strategy has no name")
	}
	return nil
}

// AppendPositions appends the positions of a key's k bits to dst, in the strategy's order. Each is less than m. Two of
// them may be equal.
func (s *Scheme) AppendPositions(dst []uint64, key []byte) []uint64 {
	if positionsOf := s.must().kernel.positionsOfKey; positionsOf != nil {
		dst, positions := s.grow(dst)
		positionsOf(memory.NoEscape(positions), memory.NoEscape(key))
		return dst
	}
	h1, h2 := s.Digest(key)
	return s.AppendDigestPositions(dst, h1, h2)
}

// AppendDigestPositions is [Scheme.AppendPositions] for a key whose digest is already known,
// see [BloomFilter.AddDigest]. It panics if the strategy needs the key itself.
func (s *Scheme) AppendDigestPositions(dst []uint64, h1, h2 uint64) []uint64 {
	if s.must().hash == &noHash {
		panic(s.misuse("AppendDigestPositions"))
	}
	dst, positions := s.grow(dst)
	s.kernel.positions(&s.empty, memory.NoEscape(positions), h1, h2)
	return dst
}

// grow makes dst longer by k. positions is the new part.
func (s *Scheme) grow(dst []uint64) (longer, positions []uint64) {
	n, k := len(dst), s.params.K
	dst = slices.Grow(dst, k)[:n+k]
	return dst, dst[n:]
}

// Filter returns an empty filter with this scheme. The error wraps [ErrTooLarge] if the
// machine has too little memory.
func (s *Scheme) Filter() (*BloomFilter, error) {
	if s.zero() {
		return nil, errZero
	}
	b, err := newBitArray(s.params.M)
	if err != nil {
		return nil, err
	}
	return s.over(b), nil
}

// FilterOver returns a filter with this scheme and the given bits: bit i is bit i%64 of
// words[i/64]. Nothing is copied. The words must stay valid while the filter is used. All its
// operations read and write them atomically. [Blocked] and [SplitBlock] are faster if the first
// word begins a cache line. For bytes at any alignment, package view has Over.
//
// The error wraps [ErrInvalid] if the number of words is not SizeBytes/8, or if bit m or a later bit is set.
func (s *Scheme) FilterOver(words []atomic.Uint64) (*BloomFilter, error) {
	if s.zero() {
		return nil, errZero
	}
	m := s.params.M
	if want := wordsFor(m); uint64(len(words)) != want {
		return nil, invalid("%d words, want %d for m = %d bits", len(words), want, m)
	}
	if err := bitArray(words).checkTail(m, ErrInvalid); err != nil {
		return nil, err
	}
	return s.over(words), nil
}
