// Package bitsandblooms reads and writes the filters of
// github.com/bits-and-blooms/bloom, versions 2 and 3, without requiring it.
//
// A program that moves from there to here keeps its files: [Read] and [ReadJSON]
// return ordinary filters of package bloom with the strategy [Strategy],
// safe for concurrent use, with one winner, unions and estimates. [Write] and
// [WriteJSON] go the other way, and [New] makes the filter that NewWithEstimates makes
// of the same arguments.
//
//	f, err := bitsandblooms.Read(file, bloom.WithMaxBytes(1<<30))
//	if f.AddString("key") { // !TestAndAddString
//
// New(m, k) is [bloom.NewWithParams] with M, K and [Strategy], where m = 0
// is an error. docs/from-bits-and-blooms.md has the other calls.
package bitsandblooms

import (
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
)

// New returns an empty filter that is equal to the one that NewWithEstimates(n, p)
// makes, and after the same keys has the same bytes. m is not rounded to whole words.
//
// Options may be [bloom.WithMaxBytes] and no others. The error wraps
// [bloom.ErrInvalid] if p is not between 0 and 1 or so small that k is above
// 255, or an option is none of these, and [bloom.ErrTooLarge] if the machine has too
// little memory.
func New(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	params, err := Params(n, p)
	if err != nil {
		return nil, err
	}
	s, err := scheme(params, opts)
	if err != nil {
		return nil, err
	}
	return s.Filter()
}

// Params returns the parameters that EstimateParameters(n, p) returns:
// m = -n·ln p/(ln 2)² and k = ln 2·m/n, both rounded up. n = 0 is taken for 1. The errors
// are those of [New].
func Params(n uint64, p float64) (bloom.Params, error) {
	result := bloom.Params{N: n, P: p}
	if !(p > 0 && p < 1) {
		return result, fmt.Errorf("%w: p = %v, want 0 < p < 1", bloom.ErrInvalid, p)
	}
	n = max(n, 1)
	m := math.Ceil(-float64(n) * math.Log(p) / (ln2 * ln2))
	if m >= 1<<63 {
		return result, fmt.Errorf("%w: n = %d keys at p = %v need m = %.0f bits, want fewer than 2^63", bloom.ErrTooLarge, n, p, m)
	}
	k := math.Ceil(ln2 * m / float64(n))
	if k > maxK {
		return result, fmt.Errorf("%w: p = %v needs k = %.0f bits a key, want at most %d", bloom.ErrInvalid, p, k, maxK)
	}
	result.M, result.K = uint64(m), int(k)
	return result, nil
}

// maxK is the largest k that package bloom takes.
const maxK = 255

// ln2 is a variable, so that products of it are rounded as theirs are.
var ln2 = math.Ln2

// scheme returns the scheme with the given parameters, and refuses options by which
// it would be another than theirs.
func scheme(params bloom.Params, opts []bloom.Option) (bloom.Scheme, error) {
	made, err := bloom.NewSchemeWithParams(params, append([]bloom.Option{bloom.WithStrategy(Strategy)}, opts...)...)
	if err != nil {
		return made, err
	}
	if why := notTheirs(made); why != "" {
		return made, fmt.Errorf("%w: the options ask for %s", bloom.ErrInvalid, why)
	}
	return made, nil
}

// notTheirs returns what it is about a scheme that bits-and-blooms does not have, or
// "".
func notTheirs(s bloom.Scheme) string {
	if s.Strategy() != Strategy {
		return fmt.Sprintf("strategy %q, want %q", s.Strategy(), Strategy)
	}
	return ""
}
