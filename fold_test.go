package bloom

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom/internal/fold"
	"github.com/stretchr/testify/require"
)

// foldable are the strategies that have a fold.
var foldable = append(slices.Clone(blockeds), DoubleHashing, SplitBlock)

// folded is a filter of m bits with so many keys, and the one of m/factor bits with the
// same keys, added one by one.
func folded(t *testing.T, s Strategy, m, factor uint64, keys int, opts ...Option) (large, want *BloomFilter) {
	opts = append(opts, WithStrategy(s))
	large, err := NewWithParams(Params{M: m, K: 8}, opts...)
	require.NoError(t, err)
	want, err = NewWithParams(Params{M: m / factor, K: 8}, opts...)
	require.NoError(t, err)
	for i := range keys {
		key := fmt.Append(nil, "key ", i)
		large.Add(key)
		want.Add(key)
	}
	return large, want
}

// TestFoldIsExact: bit for bit what the smaller filter would hold, for every factor.
func TestFoldIsExact(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, s := range foldable {
		for _, factor := range []uint64{1, 2, 3, 4, 5, 7, 8, 24, 63, 64, 65, 100, 128, 720, 5040} {
			for _, units := range []uint64{1, 2, 3, 8, 13, 64} {
				unit, err := s.foldUnit()
				require.NoError(t, err)
				m := units * factor * unit
				for _, keys := range []int{0, 1, 20} {
					large, want := folded(t, s, m, factor, keys)
					got, err := large.fold(factor, large.Params().P)
					require.NoError(t, err)
					require.True(t, got.Equal(want), "%s factor %d of m = %d with %d keys", s, factor, m, keys)
					require.Equal(t, m/factor, got.Params().M)
				}
			}
		}
	}
	// Other hashes, and a filter of some thousand words.
	for _, opt := range []Option{WithSeed(7), WithHash(MapHash), WithHash(RapidHash), WithKey(testKey)} {
		for _, s := range foldable {
			for _, factor := range []uint64{2, 3, 8, 100} {
				large, want := folded(t, s, 512*2400, factor, 10_000, opt)
				got, err := large.fold(factor, large.Params().P)
				require.NoError(t, err)
				require.True(t, got.Equal(want), "%s factor %d", s, factor)
			}
		}
	}
}

// TestFoldOfFolds: the order does not matter, and a fold is a filter like any other.
func TestFoldOfFolds(t *testing.T) {
	for _, s := range foldable {
		large, _ := folded(t, s, 512*360, 1, 1000)
		at6, err := large.fold(6, large.Params().P)
		require.NoError(t, err)
		at2, err := large.fold(2, large.Params().P)
		require.NoError(t, err)
		again, err := at2.fold(3, at2.Params().P)
		require.NoError(t, err)
		require.True(t, again.Equal(at6))
		require.True(t, again.AddString("a key that comes later"))
		require.False(t, large.ContainsString("a key that comes later"))
		encoded, err := again.MarshalBinary()
		require.NoError(t, err)
		back, err := Read(bytes.NewReader(encoded), WithStrategy(s))
		require.NoError(t, err)
		require.True(t, back.Equal(again))
	}
}

// TestFoldedParams: N is how many keys the fold keeps P for.
func TestFoldedParams(t *testing.T) {
	for _, s := range append(foldable, Blocked) {
		for _, hash := range []Option{WithSeed(0), WithHash(MapHash)} {
			f := MustNew(100_000, 0.01, WithStrategy(s), hash)
			unit, err := f.Strategy().foldUnit()
			require.NoError(t, err)
			for _, factor := range fold.Divisors(f.Params().M / unit) {
				if factor > 1000 {
					continue
				}
				small, err := f.fold(factor, f.Params().P)
				require.NoError(t, err)
				p := small.Params()
				require.Equal(t, 0.01, p.P)
				require.Equal(t, f.Params().K, p.K)
				rate := func(n uint64) float64 {
					return small.Strategy().FalsePositiveRate(p.M, p.K, n) + s.get().equalDigests(n, small.scheme.hash.def)
				}
				require.LessOrEqual(t, rate(p.N), 0.01)
				require.Greater(t, rate(p.N+1), 0.01)
				if s.id() == idDoubleHashing {
					require.InEpsilon(t, 100_000/float64(factor), float64(p.N), 0.1, "factor %d", factor)
				}
			}
		}
	}
	unknown, err := NewWithParams(Params{M: 640, K: 3})
	require.NoError(t, err)
	small, err := unknown.fold(10, unknown.Params().P)
	require.NoError(t, err)
	require.Equal(t, Params{M: 64, K: 3}, small.Params())
}

func TestFoldRefuses(t *testing.T) {
	f, err := NewWithParams(Params{M: 512 * 6, K: 8}, WithStrategy(Blocked4))
	require.NoError(t, err)
	for _, s := range allStrategies {
		if _, err := s.foldUnit(); err == nil {
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
	for i := range 1000 {
		f.Add(fmt.Append(nil, i))
	}
	_, err = f.FoldTo(0.01)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "which is the filter's rate as it is")
}

// TestFoldTo: the result keeps p by its bits, the next smaller one would not.
func TestFoldTo(t *testing.T) {
	t.Parallel()
	const p = 0.01
	for _, s := range foldable {
		for _, keys := range []int{0, 1, 50, 400, 3000, 9000} {
			f, err := NewWithParams(Params{M: 2520 * 512, K: 8}, WithStrategy(s))
			require.NoError(t, err)
			for i := range keys {
				f.Add(fmt.Append(nil, i))
			}
			got, err := f.FoldTo(p)
			require.NoError(t, err)
			require.LessOrEqual(t, got.Stats().EstimatedFalsePositiveRate, p)
			require.Equal(t, p, got.Params().P)
			require.InDelta(t, float64(keys), float64(got.Stats().EstimatedCount), 0.05*float64(keys)+5)
			for i := range keys {
				require.True(t, got.Contains(fmt.Append(nil, i)))
			}
			unit, err := s.foldUnit()
			require.NoError(t, err)
			factor := f.Params().M / got.Params().M
			same, err := f.fold(factor, f.Params().P)
			require.NoError(t, err)
			require.True(t, same.Equal(got))
			for _, larger := range fold.Divisors(f.Params().M / unit) {
				if larger <= factor {
					break
				}
				if larger < 4*factor && keys >= 50 { // of fewer, the estimate of their number is a bad guess
					tooSmall, err := f.fold(larger, f.Params().P)
					require.NoError(t, err)
					require.Greater(t, tooSmall.Stats().EstimatedFalsePositiveRate, p, "%s: %d keys fit m/%d, got m/%d", s, keys, larger, factor)
				}
			}
		}
	}
}

// TestFoldToWastes pins what the doc comment says: with 2520 units, and need of a tenth.
func TestFoldToWastes(t *testing.T) {
	list := fold.Divisors(2520)
	for i, factor := range list[1:] {
		if factor <= 10 {
			require.LessOrEqual(t, float64(list[i])/float64(factor), 2.0)
		}
	}
	require.Subset(t, list, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
}

// TestFoldWhileAdding: every key that was in before is in the fold.
func TestFoldWhileAdding(t *testing.T) {
	for _, s := range foldable {
		f, err := NewWithParams(Params{M: 512 * 120, K: 8}, WithStrategy(s))
		require.NoError(t, err)
		var wg sync.WaitGroup
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
			small, err := f.fold(3, f.Params().P)
			require.NoError(t, err)
			for i := range last + 1 {
				require.True(t, small.Contains(fmt.Append(nil, i)))
			}
		}
		wg.Wait()
	}
}

func TestDivisors(t *testing.T) {
	require.Equal(t, []uint64{1}, fold.Divisors(1))
	require.Equal(t, []uint64{12, 6, 4, 3, 2, 1}, fold.Divisors(12))
	require.Equal(t, []uint64{49, 7, 1}, fold.Divisors(49))
}

func BenchmarkFold(b *testing.B) {
	for _, s := range []Strategy{DoubleHashing, Blocked2} {
		f, err := NewWithParams(Params{M: 2520 * 512 * 78, K: 8}, WithStrategy(s)) // 12.6 MB
		require.NoError(b, err)
		for i := range 1_000_000 {
			f.Add(fmt.Append(nil, i))
		}
		for _, factor := range []uint64{2, 3, 8, 72} {
			b.Run(fmt.Sprintf("strategy=%s/factor=%d", s, factor), func(b *testing.B) {
				b.SetBytes(int64(f.SizeBytes()))
				for b.Loop() {
					if _, err := f.fold(factor, f.Params().P); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("strategy=%s/op=clone", s), func(b *testing.B) {
			b.SetBytes(int64(f.SizeBytes()))
			for b.Loop() {
				f.Clone()
			}
		})
	}
}
