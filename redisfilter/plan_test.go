package redisfilter

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// TestFewWords: for any n and p, a key has its bits in two or four words, the rate is at most p, and little memory is
// lost.
func TestFewWords(t *testing.T) {
	opts := []bloom.Option{bloom.WithStrategy(bloom.Blocked), bloom.WithMaxBytes(math.MaxInt64)}
	for _, n := range []uint64{1, 2, 10, 50, 1000, 1e6, 1e9} {
		for digits := 0.1; digits < 12; digits += 0.1 {
			p := math.Pow(10, -digits)
			best, err := bloom.NewScheme(n, p, opts...)
			require.NoError(t, err)
			s, err := newScheme(n, p, opts)
			require.NoError(t, err)
			require.Contains(t, []int{2, 4}, wordsOf(s))
			require.LessOrEqual(t, bloom.Blocked.FalsePositiveRate(s.Params().M, s.Params().K, n), p)
			require.LessOrEqual(t, float64(s.SizeBytes()), 1.28*float64(best.SizeBytes())+4*blockBytes, "n = %d, p = %v", n, p)
		}
	}
}

// TestGrowingShards: by default, no shard of a growing filter exceeds 8 MiB while all have at most 256 MiB, if n is at
// most 60 times too small. With the second layer, none exceeds it up to 4,096 shards.
func TestGrowingShards(t *testing.T) {
	for _, n := range []uint64{1, 1e3, 3e4, 4e4, 1e5, 1e6, 3e6, 1e7, 3e7, 1e8, 1e9} {
		for digits := 1.0; digits < 10; digits += 0.5 {
			f, err := newPlan(n, math.Pow(10, -digits), options{growth: true})
			require.NoError(t, err)
			for count := uint64(1); count <= 6; count++ {
				layers, err := f.mode.reading(count)
				require.NoError(t, err)
				if length := layers[count-1].end + epochBytes; count == 2 && f.shards < maxShards || length*uint64(f.shards) <= 256<<20 {
					require.LessOrEqual(t, length, uint64(8<<20), "%d layers, n = %d, p = 1e-%v", count, n, digits)
				}
			}
		}
	}
}
