package bloom

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// foldable are the strategies that have a fold.
var foldable = slices.DeleteFunc(slices.Clone(builtins), func(s Strategy) bool { return !s.folds() })

// folded is a filter of m bits with so many keys, and the one of m/factor bits with the
// same keys, added one by one.
func folded(t *testing.T, s Strategy, m, factor uint64, keys int, opts ...Option) (large, want *BloomFilter) {
	opts = append(opts, WithStrategy(s))
	large = must(newWithParams(Params{M: m, K: 8}, opts...))
	want = must(newWithParams(Params{M: m / factor, K: 8}, opts...))
	for i := range keys {
		key := fmt.Append(nil, "key ", i)
		large.Add(key)
		want.Add(key)
	}
	return large, want
}

// TestFoldIsExact: bit for bit what the smaller filter would hold, for every factor, also in steps.
func TestFoldIsExact(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, s := range foldable {
		for _, factor := range []uint64{1, 2, 3, 7, 8, 24, 63, 64, 65, 100, 128, 720} {
			for _, units := range []uint64{1, 2, 3, 13} {
				m := units * factor * s.blockBits()
				for _, keys := range []int{1, 20} {
					large, want := folded(t, s, m, factor, keys)
					require.True(t, large.fold(factor).bits.equal(want.bits), "%s factor %d of m = %d with %d keys", s, factor, m, keys)
					small := large
					for _, prime := range primeFactors(factor) {
						small = small.fold(prime)
					}
					require.True(t, small.bits.equal(want.bits), "%s factor %d of m = %d with %d keys", s, factor, m, keys)
				}
			}
		}
	}
	// Another hash, and a filter of some thousand words.
	for _, s := range foldable {
		for _, factor := range []uint64{2, 3, 100} {
			large, want := folded(t, s, 512*2400, factor, 3000, WithSecret(testKey))
			require.True(t, large.fold(factor).bits.equal(want.bits), "%s factor %d", s, factor)
		}
	}
}

func TestFoldRefuses(t *testing.T) {
	f := must(newWithParams(Params{M: 512 * 6, K: 8}, WithStrategy(Blocked)))
	for _, s := range allStrategies {
		if s.folds() {
			continue
		}
		f := MustNew(100, 0.1, WithStrategy(s))
		_, err := f.FoldTo(0.1)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("strategy %q has no exact fold", s))
	}
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		_, err := f.FoldTo(p)
		require.ErrorIs(t, err, ErrInvalid)
	}
	for _, s := range foldable { // a p that New refuses
		_, err := MustNew(1000, 0.01, WithStrategy(s)).FoldTo(s.limits().minP / 2)
		require.ErrorIs(t, err, ErrInvalid, s)
	}
	for i := range 1000 {
		f.Add(fmt.Append(nil, i))
	}
	_, err := f.FoldTo(0.01)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "but the filter's rate is already 0.")
}

// TestFoldTo: the result keeps p by its bits, and no smaller fold does. It has all keys.
func TestFoldTo(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, s := range foldable {
		for _, p := range []float64{0.01, 4.8e-7} {
			for i, keys := range []int{0, 1, 10, 181, 1000} {
				hash := []Option{WithSeed(0), WithHash(MapHash)}[i%2]
				f := must(newWithParams(Params{M: 2520 * 512, K: 8}, WithStrategy(s), hash))
				for i := range keys {
					f.Add(fmt.Append(nil, i))
				}
				if f.Stats().EstimatedFalsePositiveRate > p*0.99 {
					continue
				}
				got := must(f.FoldTo(p))
				require.LessOrEqual(t, got.Stats().EstimatedFalsePositiveRate, p)
				for i := range keys {
					require.True(t, got.Contains(fmt.Append(nil, i)))
				}
				factor := f.Params().M / got.Params().M
				require.True(t, f.fold(factor).bits.equal(got.bits))
				for larger := f.Params().M / s.blockBits(); larger > factor; larger-- {
					if f.Params().M/s.blockBits()%larger == 0 {
						_, rate := f.fold(larger).measure()
						require.Greater(t, rate, p-1e-15, "%s: %d keys fit m/%d, got m/%d", s, keys, larger, factor)
					}
				}
				params := got.Params()
				require.Equal(t, p, params.P)
				rate := func(n uint64) float64 {
					return s.FalsePositiveRate(params.M, params.K, n) + got.scheme.hash.equalDigests(n)
				}
				require.LessOrEqual(t, rate(params.N), p)
				require.Greater(t, rate(params.N+1), p)
			}
		}
	}
}

// TestFoldToOfTinyFilters: it ends soon, however much too large N and k are.
func TestFoldToOfTinyFilters(t *testing.T) {
	for _, m := range []uint64{1, 2, 64, 255, 257} {
		f := must(newWithParams(Params{M: m, K: 64, N: 1 << 40, P: 0.5}))
		got := must(f.FoldTo(0.01))
		require.EqualValues(t, 1, got.Params().M)
	}
}

// TestFoldWhileAdding: every key that was in before is in the fold.
func TestFoldWhileAdding(t *testing.T) {
	for _, s := range foldable {
		f := must(newWithParams(Params{M: 512 * 120, K: 8}, WithStrategy(s)))
		var wg testkit.Group
		const keys = 2000
		added := make(chan int, keys)
		wg.Go(func() {
			for i := range keys {
				f.Add(fmt.Append(nil, i))
				added <- i
			}
			close(added)
		})
		for last := range added {
			if last%200 != 0 {
				continue
			}
			small := f.fold(3)
			for i := range last + 1 {
				require.True(t, small.Contains(fmt.Append(nil, i)))
			}
		}
		wg.Wait()
	}
}

func BenchmarkFold(b *testing.B) {
	for _, s := range foldable {
		f := must(newWithParams(Params{M: 2520 * 512 * 78, K: 8}, WithStrategy(s))) // 12.6 MB
		addKeys(f, 1_000_000)
		b.Run("strategy="+s.Name(), func(b *testing.B) {
			b.SetBytes(int64(f.SizeBytes()))
			for b.Loop() {
				must(f.FoldTo(0.01))
			}
		})
	}
}
