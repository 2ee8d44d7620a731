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
// A Scheme is a small value that never changes. The zero Scheme is not usable: methods that return errors return one
// that wraps [ErrInvalid], and the others panic, except String.
type Scheme struct{ scheme *scheme }

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
func NewScheme(n uint64, p float64, opts ...Option) (Scheme, error) {
	o, begun, err := newOptions(opts)
	if err != nil {
		return Scheme{}, err
	}
	params, err := paramsFor(n, p, o.strategy, begun.hash)
	if err != nil {
		return Scheme{}, err
	}
	s, err := o.schemeWithin(params, o.strategy, begun)
	return Scheme{s}, err
}

// NewSchemeWithParams returns the scheme of filters of exactly params.M bits and params.K positions per key, for
// example to match another system. params.N and params.P may be zero, and are not checked against M and K. It allocates
// no bits.
//
// The error wraps [ErrInvalid] if M is 0, K is not in 1..64 (or what the strategy allows), P is neither 0 nor between 0
// and 1, an option is invalid, or the strategy cannot have this M and K. It wraps [ErrTooLarge] if M is more than the
// strategy can have or [WithMaxBytes] allows.
func NewSchemeWithParams(params Params, opts ...Option) (Scheme, error) {
	o, begun, err := newOptions(opts)
	if err != nil {
		return Scheme{}, err
	}
	s, err := o.schemeWithin(params, o.strategy, begun)
	return Scheme{s}, err
}

// A scheme is shared by all filters of one kind. It never changes.
type scheme struct {
	params   Params
	strategy Strategy

	// The hash is called directly. Through an interface, the key and a buffer on the caller's stack would escape to the
	// heap.
	hash   *Hash
	seed   uint64
	k0, k1 uint64       // the secret of sipHash; for other hashes, both are the initial state
	vector vector.Input // how kernels in assembly hash batches

	kernel *kernel
	empty  kernelArgs // arguments for its filters' kernels, without bits
}

// schemeWithin checks m against WithMaxBytes and calls newScheme.
func (o *options) schemeWithin(params Params, strategy Strategy, begun scheme) (*scheme, error) {
	if bytes := wordsFor(params.M) * 8; bytes > o.maxBytes { // before a custom strategy sees m
		return nil, fail(ErrTooLarge, "m = %d bits are %d bytes, want at most %d", params.M, bytes, o.maxBytes)
	}
	return newScheme(params, strategy, begun)
}

// newScheme completes a scheme that has its hash. It returns an error if the parameters are invalid or the strategy
// cannot have them. The parameters were computed, given by the caller, or read from a file.
func newScheme(params Params, strategy Strategy, s scheme) (*scheme, error) {
	if math.Signbit(params.P) || params.P != 0 && !(params.P > 0 && params.P < 1) {
		return nil, invalid("p = %v, want 0 < p < 1, or 0 for unknown", params.P)
	}
	if err := strategy.check(params.M, params.K); err != nil {
		return nil, err
	}
	kernel, err := strategy.kernel(params.M, params.K, s.seed)
	if err != nil {
		return nil, invalid("m = %d and k = %d with strategy %q: %w", params.M, params.K, strategy, err)
	}
	s.params, s.strategy, s.kernel = params, strategy, kernel
	s.empty = kernelArgs{params.M / strategy.blockBits(), params.K, s.k0, nil}
	return &s, nil
}

const zeroFilter = "bloom: use of the zero BloomFilter or Scheme: make one by New or NewScheme, or read one into it"

var errZero = invalid("the zero BloomFilter or Scheme, want one that New or NewScheme made or that was read")

// must returns s, or panics if there is none, as in a zero BloomFilter or Scheme.
func (s *scheme) must() *scheme {
	if s == nil {
		panic(zeroFilter)
	}
	return s
}

// misuse returns the panic text for a call with digests, if the strategy needs the key.
func (s *scheme) misuse(call string) string {
	if s == nil {
		return zeroFilter
	}
	return fmt.Sprintf("bloom: %s on a filter with strategy %q, which needs the key itself", call, s.strategy)
}

// digest hashes a key.
func (s *scheme) digest(key []byte) (h1, h2 uint64) {
	if s == nil || s.hash == &noHash {
		panic(s.misuse("Digest"))
	}
	return s.sumOne(key)
}

// Params returns m and k, and n and p if they are known.
func (s Scheme) Params() Params { return s.scheme.must().params }

// Strategy returns the strategy.
func (s Scheme) Strategy() Strategy { return s.scheme.must().strategy }

// SizeBytes returns the number of bytes that the bits take, in whole 64-bit words.
func (s Scheme) SizeBytes() uint64 { return wordsFor(s.Params().M) * 8 }

// String returns a text that is equal for two schemes if and only if their filters are compatible: every key has the
// same positions in both. It consists of m, k, the names of strategy and hash, and the seed or a check value that does
// not reveal the secret. The text is for comparing and for logs, not for parsing. It is the same in every process if
// the scheme is [Scheme.Portable].
func (s Scheme) String() string {
	if s.scheme == nil {
		return "bloom.Scheme(zero)"
	}
	return fmt.Sprintf("m=%d k=%d strategy=%s hash=%v:%016x", s.scheme.params.M, s.scheme.params.K,
		s.scheme.strategy.identity(), s.scheme.hash.identity(), s.scheme.checkValue())
}

// LogValue returns what String returns, for package log/slog.
func (s Scheme) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Digest returns the 128-bit digest of a key. With it, a program hashes a key once for many filters, see
// [BloomFilter.AddDigest] and [BloomFilter.ContainsDigest]. The digest is the same for all filters with the same hash
// and seed or secret, whatever their size and strategy. Digest panics if the strategy needs the key itself.
func (s Scheme) Digest(key []byte) (h1, h2 uint64) { return s.scheme.digest(key) }

// Hash returns the hash. Its name is "siphash" with [WithSecret], and "none" with a strategy that needs the key itself.
func (s Scheme) Hash() *Hash { return s.scheme.must().hash }

// Seed returns the seed that [WithSeed] has set, 0 if none. It never reveals a secret.
func (s Scheme) Seed() uint64 { return s.scheme.must().seed }

// Portable returns nil if another process can read the bits, given the secret and the custom
// strategy and hash, if any. Otherwise the error wraps [ErrNotPortable]: the hash is [MapHash], or
// the strategy or the hash has no name. Filters that are not portable cannot be written.
func (s Scheme) Portable() error { return s.scheme.portable() }

func (s *scheme) portable() error {
	switch {
	case s == nil:
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
func (s Scheme) AppendPositions(dst []uint64, key []byte) []uint64 {
	if positionsOf := s.scheme.must().kernel.positionsOfKey; positionsOf != nil {
		dst, positions := s.scheme.grow(dst)
		positionsOf(memory.NoEscape(positions), memory.NoEscape(key))
		return dst
	}
	h1, h2 := s.scheme.digest(key)
	return s.AppendDigestPositions(dst, h1, h2)
}

// AppendDigestPositions is [Scheme.AppendPositions] for a key whose digest is already known,
// see [BloomFilter.AddDigest]. It panics if the strategy needs the key itself.
func (s Scheme) AppendDigestPositions(dst []uint64, h1, h2 uint64) []uint64 {
	if s.scheme.must().hash == &noHash {
		panic(s.scheme.misuse("AppendDigestPositions"))
	}
	dst, positions := s.scheme.grow(dst)
	s.scheme.kernel.positions(&s.scheme.empty, memory.NoEscape(positions), h1, h2)
	return dst
}

// grow makes dst longer by k. positions is the new part.
func (s *scheme) grow(dst []uint64) (longer, positions []uint64) {
	n, k := len(dst), s.params.K
	dst = slices.Grow(dst, k)[:n+k]
	return dst, dst[n:]
}

// Filter returns an empty filter with this scheme. The error wraps [ErrTooLarge] if the
// machine has too little memory.
func (s Scheme) Filter() (*BloomFilter, error) {
	if s.scheme == nil {
		return nil, errZero
	}
	b, err := newBitArray(s.scheme.params.M)
	if err != nil {
		return nil, err
	}
	return s.scheme.filter(b), nil
}

// FilterOver returns a filter with this scheme and the given bits: bit i is bit i%64 of
// words[i/64]. Nothing is copied. The words must stay valid while the filter is used. All its
// operations read and write them atomically. [Blocked] and [SplitBlock] are faster if the first
// word begins a cache line. For bytes at any alignment, package view has Over.
//
// The error wraps [ErrInvalid] if the number of words is not SizeBytes/8, or if bit m or a later bit is set.
func (s Scheme) FilterOver(words []atomic.Uint64) (*BloomFilter, error) {
	if s.scheme == nil {
		return nil, errZero
	}
	m := s.scheme.params.M
	if want := wordsFor(m); uint64(len(words)) != want {
		return nil, invalid("%d words, want %d for m = %d bits", len(words), want, m)
	}
	if err := bitArray(words).checkTail(m, ErrInvalid); err != nil {
		return nil, err
	}
	return s.scheme.filter(words), nil
}
