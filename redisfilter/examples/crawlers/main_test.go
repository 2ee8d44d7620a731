package main

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the worker processes that lead starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-worker" {
		main()
	}
	os.Exit(m.Run())
}

func TestCrawl(t *testing.T) {
	redistest.Program(t, "redis-server")
	var out, errs strings.Builder
	require.Zero(t, run(t.Context(), []string{"-pages", "1000"}, &out, &errs), "%s%s", &out, &errs)
	require.Contains(t, out.String(), "not once and not reported: 0\n")
	require.Equal(t, 3, strings.Count(out.String(), "new to all processes"), out.String())
	require.Contains(t, out.String(), "its replica took over")
}

func TestNoServer(t *testing.T) {
	t.Setenv("PATH", "")
	var out, errs strings.Builder
	require.Equal(t, 1, run(t.Context(), nil, &out, &errs))
	require.Contains(t, errs.String(), "apt-get install redis-server")
}

// TestCount: nothing that goes wrong is silent.
func TestCount(t *testing.T) {
	s := &site{addr: "a", fetched: make([]atomic.Int32, 5)}
	for i, times := range []int32{1, 2, 0, 2, 0} {
		s.fetched[i].Store(times)
	}
	once, reported, silent := s.count(map[string]bool{s.url(0): true, s.url(1): true, s.url(2): true})
	require.Equal(t, []int{1, 2, 2}, []int{once, reported, silent})
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-pages", "0"}, {"-processes", "-1"}, {"-nonsense"}} {
		var out, errs strings.Builder
		require.Equal(t, 2, run(t.Context(), args, &out, &errs))
		require.NotEmpty(t, errs.String())
	}
}
