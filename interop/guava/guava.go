// Package guava reads and writes the Bloom filters of Java's Guava,
// com.google.common.hash.BloomFilter.
//
//	f, err := guava.Read(file, bloom.WithMaxBytes(1<<30))
//	f.ContainsString("key") // mightContain, with Funnels.stringFunnel(UTF_8)
//
// The filters are ordinary ones of package bloom, with the strategy [Mitz64] or, for Guava up to
// version 16, [Mitz32].
//
// A file does not say which Funnel its keys went through. In Go a key is the bytes that the
// funnel makes: the string itself for Funnels.stringFunnel(UTF_8), and those of
// [UnencodedCharsFunnel], [IntegerFunnel], [LongFunnel] and [SequentialFunnel] for the others.
// With another funnel than the writer's, keys are missed.
//
// docs/java.md shows a Java program and a Go program that share a filter.
package guava

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/exactlog"
)

// DefaultP is the false-positive rate of Guava's create without one.
const DefaultP = 0.03

const (
	maxWords = math.MaxInt32 // Guava keeps the words in one Java array
	maxK     = 255           // the format has one byte for it
)

// New returns the empty filter that BloomFilter.create(funnel, n, p) of the given release makes,
// with equal m, k and strategy. The same keys make the same bytes.
//
// Guava uses the textbook formula and rounds k to the nearest whole number, so the rate at n keys
// can be some percent above p. For small filters with a small p, see [Mitz64].
//
// Options are [bloom.WithMaxBytes], and [bloom.WithStrategy] with [Mitz32] for programs with Guava
// up to version 16.
//
// The error wraps [bloom.ErrInvalid] if p is not between 0 and 1, for another option, or if Guava
// cannot make the filter: k above 255, or no bit at all. It wraps [bloom.ErrTooLarge] for more than
// 2^31-1 words, more than the 2^31 bits that Mitz32 reaches, or more memory than the machine has.
func New(n uint64, p float64, release Release, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	params, err := Params(n, p, release)
	if err != nil {
		return nil, err
	}
	s, err := scheme(params, Mitz64, opts)
	if err != nil {
		return nil, err
	}
	if s.Strategy() == Mitz32 && params.M > 1<<31 {
		return nil, fmt.Errorf("%w: n = %d keys at p = %v need m = %d bits, and MURMUR128_MITZ_32 reaches no more than 2^31", bloom.ErrTooLarge, n, p, params.M)
	}
	return s.Filter()
}

// A Release is the Guava of the programs that read a new filter. Releases compute k in two ways,
// and filters with another k are not compatible. Reading needs no release: k is in the file.
type Release int

// The ways differ in k by 1 if n is very small or -log2(p) is just above a half: for p = 0.01 up to
// n = 3, for p = 0.03 and 0.001 never. Guava 17 and earlier divided whole numbers, and are not
// covered.
const (
	Since33_4 Release = iota + 1 // Guava 33.4 and later
	Since18                      // Guava 18 to 33.3
)

// Params returns the parameters that BloomFilter.create chooses for n keys at rate p. It counts
// n = 0 as 1, as Guava does. The errors are those of [New].
func Params(n uint64, p float64, release Release) (bloom.Params, error) {
	switch release {
	case Since33_4:
		return params(n, p, func(uint64) float64 { return -exactlog.Log(p) / ln2 })
	case Since18:
		return params(n, p, func(bits uint64) float64 { return float64(bits) / float64(max(n, 1)) * ln2 })
	}
	return bloom.Params{}, fmt.Errorf("%w: release %d of Guava, want Since33_4 or Since18", bloom.ErrInvalid, release)
}

// ln2 is a variable because Go computes with constants exactly, and Java with float64.
var ln2 = math.Ln2

// params computes bits = -n·ln p/(ln 2)², truncated, and k, rounded half up.
func params(n uint64, p float64, idealK func(bits uint64) float64) (bloom.Params, error) {
	result := bloom.Params{N: n, P: p}
	if !(p > 0 && p < 1) {
		return result, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	bits := -float64(max(n, 1)) * exactlog.Log(p) / (ln2 * ln2)
	if bits < 1 {
		return result, fmt.Errorf("%w: n = %d keys at p = %v need %.3g bits, and Guava rounds that to none", bloom.ErrInvalid, n, p, bits)
	}
	if bits >= maxWords*64+1 {
		return result, fmt.Errorf("%w: n = %d keys at p = %v need m = %.0f bits, want at most %d", bloom.ErrTooLarge, n, p, math.Floor(bits), uint64(maxWords*64))
	}
	k := math.Floor(idealK(uint64(bits)) + 0.5)
	if k > maxK {
		return result, fmt.Errorf("%w: p = %v needs k = %.0f bits per key, want at most %d", bloom.ErrInvalid, p, k, maxK)
	}
	result.M = (uint64(bits) + 63) / 64 * 64
	result.K = max(1, int(k))
	return result, nil
}

// scheme returns Guava's scheme with the given parameters, and refuses options that change it.
func scheme(params bloom.Params, s bloom.Strategy, opts []bloom.Option) (bloom.Scheme, error) {
	made, err := bloom.NewSchemeWithParams(params, append([]bloom.Option{bloom.WithStrategy(s)}, opts...)...)
	if err != nil {
		return made, err
	}
	if why := notGuava(made); why != "" {
		return made, fmt.Errorf("%w: the options ask for %s", bloom.ErrInvalid, why)
	}
	return made, nil
}

// notGuava returns what Guava does not have of a scheme, or "".
func notGuava(s bloom.Scheme) string {
	if s.Strategy() != Mitz64 && s.Strategy() != Mitz32 {
		return fmt.Sprintf("strategy %q, want %q or %q", s.Strategy(), Mitz64, Mitz32)
	}
	switch params := s.Params(); {
	case s.Hash() != bloom.Murmur3 || s.Seed() != 0:
		return fmt.Sprintf("another hash than Murmur3 with seed 0 (%s)", s.Identity())
	case params.M%64 != 0:
		return fmt.Sprintf("m = %d bits, want a multiple of 64", params.M)
	case params.M/64 > maxWords:
		return fmt.Sprintf("m = %d bits, want at most %d", params.M, uint64(maxWords*64))
	}
	return ""
}
