package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/redisbloom/internal/redistest"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the worker processes that lead starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-worker" {
		main()
	}
	os.Exit(m.Run())
}

func TestTwoProcesses(t *testing.T) {
	redistest.Program(t, "redis-server")
	var out, errs strings.Builder
	require.Zero(t, run(context.Background(), []string{"-pages", "500"}, &out, &errs), "%s%s", &out, &errs)
	require.Contains(t, out.String(), "pages fetched once: 500, more than once: 0, never: 0")
	require.Equal(t, 2, strings.Count(out.String(), "new to all processes"), out.String())
	require.NotContains(t, out.String(), ": 0 pages", "both have a part")
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-pages", "0"}, {"-processes", "-1"}, {"-nonsense"}} {
		var out, errs strings.Builder
		require.Equal(t, 2, run(context.Background(), args, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
