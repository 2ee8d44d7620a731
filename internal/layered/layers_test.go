package layered

import (
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestStats: the numbers are the sums of the layers', and the rate is that of all together.
func TestStats(t *testing.T) {
	var all Layers
	ones, m, right := uint64(0), uint64(0), 1.0
	for i := range 2 {
		f := bloom.MustNew(100<<i, 1e-6, bloom.WithStrategy(bloom.Blocked))
		all = all.Append(f, 0, 0, f.Params().N)
		for key := range uint64(60) {
			h1, h2 := bloom.Digest64(key)
			require.True(t, all.Newest().Add(h1, h2, all.Newest().Tickets.Take(h1)))
		}
		own := f.Stats()
		ones, m, right = ones+own.Ones, m+own.M, right*(1-own.EstimatedFalsePositiveRate)
	}
	got := all.Stats()
	require.InDelta(t, 1-right, got.EstimatedFalsePositiveRate, 1e-12)
	require.Equal(t, bloom.Stats{
		Params: bloom.Params{N: 300, M: m, K: all[1].Params().K}, Strategy: "blocked", Hash: "murmur3", SizeBytes: m / 8, Ones: ones,
		EstimatedCount: 120, EstimatedFalsePositiveRate: got.EstimatedFalsePositiveRate,
	}, got)
}
