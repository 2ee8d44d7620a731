package redisfilter

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// TestFewWords: for any n and p, a key has its bits in two or four words, the rate is at most p, and little memory is lost.
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
