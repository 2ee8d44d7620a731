// Package bitsandblooms reads and writes the filters of github.com/bits-and-blooms/bloom, versions 2 and 3. It does not
// require that module.
//
//	f, err := bitsandblooms.Read(file, bloom.WithMaxBytes(1<<30))
//	if f.AddString("key") { // !TestAndAddString
//
// The filters are of type [bloom.BloomFilter], with the strategy [Strategy]. New(m, k) of bits-and-blooms is
// [bloom.NewSchemeWithParams] with M, K and [Strategy]. Test is Contains, TestAndAdd is the opposite of Add, and Merge
// is Union. Cap and K are in Params, and ApproximatedSize is in Stats.
package bitsandblooms

import (
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// New returns the empty filter that NewWithEstimates(n, p) of bits-and-blooms makes. With the same keys, both have the
// same bytes.
//
// The only option is [bloom.WithMaxBytes]. The error wraps [bloom.ErrInvalid] if p is not between 0 and 1, for k above
// 255 or for another option, and [bloom.ErrTooLarge] for more memory than the machine has or the option allows.
func New(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	params, err := Params(n, p)
	if err != nil {
		return nil, err
	}
	return foreign.New(params, required, opts)
}

// required has the options of every filter of bits-and-blooms.
var required = []bloom.Option{bloom.WithStrategy(Strategy)}

// ln2 is a variable, so that ln2*ln2 is rounded to float64, as in bits-and-blooms. Go would compute the product of
// constants exactly, and m could differ.
var ln2 = math.Ln2

// Scheme returns the scheme of the filters that New(m, k) of bits-and-blooms makes. It caches schemes, to save time
// with many small filters of the same m and k. It returns the errors of [bloom.NewSchemeWithParams].
func Scheme(m uint64, k int) (*bloom.Scheme, error) {
	kept := &schemes[(m*0x9e3779b97f4a7c15>>32+uint64(k))%uint64(len(schemes))]
	if s := kept.Load(); s != nil && s.Params() == (bloom.Params{M: m, K: k}) {
		return s, nil
	}
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, required...)
	if err == nil {
		kept.Store(s)
	}
	return s, err
}

// schemes is a cache, indexed by a hash of m and k. Its size is fixed, because m and k may come from files.
var schemes [64]atomic.Pointer[bloom.Scheme]

// Params returns the parameters of EstimateParameters(n, p): m = -n·ln p/(ln 2)² and
// k = ln 2·m/n, both rounded up. n = 0 counts as 1. It returns the errors of [New].
func Params(n uint64, p float64) (bloom.Params, error) {
	keys := float64(max(n, 1))
	m := math.Ceil(-keys * math.Log(p) / (ln2 * ln2))
	return foreign.Params(n, p, m, math.Ceil(ln2*m/keys), 1<<63)
}
