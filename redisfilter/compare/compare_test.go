package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	gozero "github.com/zeromicro/go-zero/core/bloom"
	"github.com/zeromicro/go-zero/core/logx"
	gozeroredis "github.com/zeromicro/go-zero/core/stores/redis"

	"github.com/seed3447c163/bloom/redisfilter/bitmap"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

func needServer(t *testing.T) *server {
	t.Helper()
	logx.Disable()
	redistest.Program(t, "redis-server")
	s, err := startServer(t.Context())
	require.NoError(t, err)
	t.Cleanup(s.stop)
	return s
}

// TestGoZeroShares has go-zero's own filter and ours work on one bitmap.
func TestGoZeroShares(t *testing.T) {
	s, ctx := needServer(t), context.Background()
	const bits = 20 * 2000
	store, err := gozeroredis.NewRedis(gozeroredis.RedisConf{Host: s.addr, Type: gozeroredis.NodeType})
	require.NoError(t, err)
	theirs := gozero.New(store, "shared", bits)
	layout, err := bitmap.GoZero(bits)
	require.NoError(t, err)
	ours, err := bitmap.Open(s.client, "shared", layout)
	require.NoError(t, err)

	key := func(i int) []byte { return fmt.Append(nil, "key ", i) }
	wrong := 0
	for i := range 1000 {
		require.NoError(t, theirs.AddCtx(ctx, key(i)))
		found, err := ours.Contains(ctx, key(i))
		require.NoError(t, err)
		require.True(t, found, "what go-zero has added, we find")
		_, err = ours.Add(ctx, key(i+1000))
		require.NoError(t, err)
		there, err := theirs.ExistsCtx(ctx, key(i+1000))
		require.NoError(t, err)
		require.True(t, there, "what we have added, go-zero finds")
		for _, other := range []int{i + 5000, i + 6000} {
			found, err := ours.Contains(ctx, key(other))
			require.NoError(t, err)
			there, err := theirs.ExistsCtx(ctx, key(other))
			require.NoError(t, err)
			require.Equal(t, there, found)
			if found {
				wrong++
			}
		}
	}
	require.LessOrEqual(t, wrong, 3, "2000 false positives at less than 1e-4")
}

// TestRuns measures everything for a moment.
func TestRuns(t *testing.T) {
	needServer(t)
	require.NoError(t, run(t.Context(), 1, time.Millisecond))
	require.NoError(t, runWindows(t.Context(), 3000, 1, time.Millisecond))
}
