package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwn: a function is this module's own only after Own.
func TestOwn(t *testing.T) {
	own, foreign := func(i int) int { return i + 2 }, func(i int) int { return i + 1 }
	require.Equal(t, 3, Own(own)(1))
	require.True(t, IsOwn(own))
	require.False(t, IsOwn(foreign))
}
