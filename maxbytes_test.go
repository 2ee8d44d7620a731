package bloom

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMaxBytes(t *testing.T) {
	require.Equal(t, uint64(math.MaxUint64), MaxBytes())
	require.Equal(t, uint64(math.MaxUint64), MaxBytes(WithSeed(3), nil))
	require.Equal(t, uint64(7), MaxBytes(WithMaxBytes(9), WithStrategy(Blocked), WithMaxBytes(7)))
}
