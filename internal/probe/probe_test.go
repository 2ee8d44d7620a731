package probe

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSelectionStaysInside: the kernels have no bounds checks.
func TestSelectionStaysInside(t *testing.T) {
	for _, blocks := range []uint64{1, 2, 3, 1000, 1<<32 - 2, 1<<32 - 1, 1 << 44, 1<<53 - 512, 1 << 53} {
		require.Equal(t, blocks-1, Reduce(math.MaxUint64, blocks))
		require.Zero(t, Reduce(0, blocks))
		if blocks < 1<<32 {
			require.Equal(t, blocks-1, SplitBlock(math.MaxUint64, blocks))
			require.Zero(t, SplitBlock(0, blocks))
		}
	}
}
