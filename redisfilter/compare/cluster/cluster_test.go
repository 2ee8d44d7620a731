package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestRuns measures everything for a moment.
func TestRuns(t *testing.T) {
	redistest.Program(t, "redis-server")
	var out strings.Builder
	s := scale{n: 100_000, shards: []int{6}, batches: []int{100}, rounds: 1, keys: 800, timeout: 2500 * time.Millisecond}
	require.NoError(t, run(t.Context(), s, &out), out.String())
	for _, section := range []string{"memory", "round trips", "moved", "killed"} {
		require.Contains(t, out.String(), section)
	}
}
