package bloom

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEstimatesOfEmptyAndFull(t *testing.T) {
	for _, s := range allStrategies {
		f := MustNew(100, 0.01, WithStrategy(s))
		require.Zero(t, f.EstimatedCount())
		require.Zero(t, f.EstimatedFalsePositiveRate())
		require.Zero(t, f.FillRatio())
		for i := range f.Params().M {
			f.bits.set(i)
		}
		require.Equal(t, uint64(math.MaxUint64), f.EstimatedCount())
		require.Equal(t, 1.0, f.EstimatedFalsePositiveRate())
		require.Equal(t, 1.0, f.FillRatio())
	}
}

// TestEstimatesFollowTheTruth at half load, full load and overload.
func TestEstimatesFollowTheTruth(t *testing.T) {
	const n = 50_000
	for _, s := range allStrategies {
		f := MustNew(n, 0.01, WithStrategy(s))
		p := f.Params()
		var b [40]byte
		i := uint64(0)
		for _, load := range []float64{0.001, 0.1, 0.5, 1, 2, 4} {
			for ; i < uint64(load*n); i++ {
				f.Add(key40(&b, i))
			}
			// Four standard errors of the count and what it does to the rate.
			require.InEpsilon(t, load*n, f.EstimatedCount(), 4/math.Sqrt(min(load, 1)*n)+0.5/(load*n), "%s load=%v", s, load)
			if load >= 0.5 {
				require.InEpsilon(t, s.FalsePositiveRate(p.M, p.K, i), f.EstimatedFalsePositiveRate(), 0.05, "%s load=%v", s, load)
			}
		}
	}
}
