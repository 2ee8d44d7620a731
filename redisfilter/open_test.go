package redisfilter_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestReplica: a filter is not opened at a replica.
func TestReplica(t *testing.T) {
	s := redistest.Start(t)
	for i, k := range kinds[:3] {
		_, err := redisfilter.Open(bg, s.Client, names[i], k.n, k.p, k.opts...)
		require.NoError(t, err)
	}
	r := redistest.Start(t, "--replicaof", "127.0.0.1", fmt.Sprint(s.Port), "--repl-diskless-sync-delay", "0")
	r.Follows(t)
	for i, k := range kinds[:3] {
		_, err := redisfilter.Join(bg, r.Client, names[i])
		require.ErrorContains(t, err, "the server is a replica")
		_, err = redisfilter.Open(bg, r.Client, names[i], k.n, k.p, k.opts...)
		require.ErrorContains(t, err, "the server is a replica")
	}
}
