package redisfilter

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

// layoutFor returns the scheme of each shard and how many there are. The schemes are
// part of the layout: they are frozen from the first release on.
func layoutFor(n uint64, p float64, shards int, opts []bloom.Option) (s bloom.Scheme, _ int, err error) {
	return layoutWith(n, p, shards, append([]bloom.Option{bloom.WithStrategy(identity.DefaultStrategy(p, bloom.DoubleHashing))}, opts...))
}

func layoutWith(n uint64, p float64, shards int, opts []bloom.Option) (s bloom.Scheme, _ int, err error) {
	if shards > 1 { // whether one filter could be as large does not matter
		s, err = shardScheme(n, p, shards, opts)
	} else {
		s, err = bloom.NewScheme(n, p, opts...)
	}
	if err == nil {
		err = identity.Check(s)
	}
	if err != nil {
		return s, 0, err
	}
	if shards == 0 {
		whole := (s.Params().M + shardBits - 1) / shardBits
		if whole > maxShards {
			return s, 0, fmt.Errorf("%w: n = %d keys at p = %v need %d bytes, want at most %d", bloom.ErrTooLarge, n, p, s.SizeBytes(), uint64(maxShards)*shardBits/8)
		}
		if whole > 1 {
			return layoutWith(n, p, int(whole), opts)
		}
		shards = 1
	}
	if s.Params().M > maxShardBits {
		return s, 0, fmt.Errorf("%w: m = %d bits in each of %d shards, want at most %d: use more shards", bloom.ErrTooLarge, s.Params().M, shards, uint64(maxShardBits))
	}
	// A limit of memory is that of the whole filter. The strategy may be unable to have it in
	// one piece.
	whole := bloom.Params{M: s.Params().M * uint64(shards), K: 1}
	if _, err := bloom.NewSchemeWithParams(whole, append(slices.Clip(opts), bloom.WithStrategy(bloom.DoubleHashing))...); errors.Is(err, bloom.ErrTooLarge) {
		return s, 0, err
	}
	return s, shards, nil
}

// manyKeys is how many keys a shard has on average so that one deviation of room is
// certainly enough. Near n keys, ln(rate) grows by about ln(1/p) times the relative
// excess. The excess is nearly normal with deviation d = 1/sqrt(n); the mean of the rate
// over all shards is then p·exp((d·ln(1/p))²/2) without room, and room for one deviation
// divides it by exp(d·ln(1/p)). That is enough from n = ln²(1/p)/4 on: 492 for the
// smallest p that there is, 2^-64.
const manyKeys = 20_000

// shardScheme returns the scheme of each of some shards, over which the rate is at
// most p after n keys.
//
// Shards do not get equal numbers of keys: n/S on average, with a deviation of
// sqrt(n/S). The fuller ones err more and the emptier ones less. One deviation of
// room more than pays for what does not cancel out, if a shard has many keys. If it
// has few, and p is small, then the fullest ones decide, and all must be larger.
func shardScheme(n uint64, p float64, shards int, opts []bloom.Option) (bloom.Scheme, error) {
	mean := float64(n) / float64(shards)
	each := uint64(math.Ceil(mean + math.Sqrt(mean)))
	for {
		s, err := bloom.NewScheme(each, p, opts...)
		if err != nil || mean >= manyKeys || shardedRate(s, mean, p) <= p {
			return s, err
		}
		each += max(1, each/32)
	}
}

// ratePoints is at how many loads shardedRate computes the true rate: some
// milliseconds in all.
const ratePoints = 24

// shardedRate returns the false-positive rate over shards that hold mean keys on
// average, or a bound that is a little above. What weighs less than a millionth of p is
// left out.
//
// How many keys a shard holds is binomial. In its place stands the Poisson
// distribution, which is wider. The true rate of a load takes long to compute; that of
// the textbook does not, and the ratio of the two changes slowly and in one
// direction: between two points, the larger ratio is taken.
func shardedRate(s bloom.Scheme, mean, p float64) float64 {
	m, k := s.Params().M, s.Params().K
	share := func(j uint64) float64 { // of the shards hold j keys
		lg, _ := math.Lgamma(float64(j) + 1)
		return math.Exp(float64(j)*math.Log(mean) - mean - lg)
	}
	ratio := func(j uint64) float64 {
		return s.Strategy().FalsePositiveRate(m, k, j) / rate.Textbook(m, k, j)
	}
	deviation := math.Sqrt(mean)
	first := uint64(max(1, mean-8*deviation))
	last := uint64(math.Ceil(mean + deviation))
	for share(last) > p*1e-6 {
		last += uint64(math.Ceil(deviation))
	}
	growth := math.Pow(float64(last)/float64(first), 1.0/ratePoints)

	sum, here := 0.0, ratio(first)
	for from := first; from < last; {
		to := min(last, max(from+1, uint64(float64(from)*growth)))
		there := ratio(to)
		for j := from; j < to; j++ {
			sum += share(j) * min(1, max(here, there)*rate.Textbook(m, k, j))
		}
		from, here = to, there
	}
	return sum
}
