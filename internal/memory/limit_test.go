package memory

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPhysical: the machine's memory is known on systems that have a call for it, is more than this
// test has already got, and less than any machine has.
func TestPhysical(t *testing.T) {
	total, ok := Physical()
	known := []string{"android", "darwin", "dragonfly", "freebsd", "ios", "linux", "netbsd", "openbsd", "windows"}
	require.Equal(t, slices.Contains(known, runtime.GOOS), ok)
	if !ok {
		require.EqualValues(t, math.MaxInt, Limit())
		return
	}
	t.Logf("%d bytes", total)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	require.Greater(t, total, stats.Sys-stats.HeapReleased)
	require.Less(t, total, uint64(1)<<50)
	require.Equal(t, min(total, math.MaxInt), Limit())
}
