package bitmap

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestDeleteWhileOthersAdd: some adds in between do not keep the bitmap, and very many are told of.
func TestDeleteWhileOthersAdd(t *testing.T) {
	s := startServer(t)
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	left := 0 // of the transactions before which another client adds
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		if left > 0 && cmds[0].Name() == "multi" {
			left--
			require.NoError(t, s.Client.SetBit(bg, "b", int64(left), 1).Err())
		}
		return send()
	}))
	f, err := Open(client, "b", javaArticle(t))
	require.NoError(t, err)
	for _, c := range []struct {
		adds    int
		deleted bool
	}{{0, true}, {1, true}, {9, true}, {10, false}} {
		_, err := f.AddMany(bg, keysOf(0, 10), nil)
		require.NoError(t, err)
		left = c.adds
		err = f.Delete(bg)
		require.Zero(t, left)
		if c.deleted {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, redis.TxFailedErr)
			require.ErrorContains(t, err, "nothing was deleted")
		}
		require.Equal(t, !c.deleted, s.Client.Exists(bg, "b").Val() == 1)
	}
}
