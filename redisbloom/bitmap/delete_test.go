package bitmap

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// addBefore has another client add to the bitmap before each of so many transactions.
type addBefore struct {
	other *redis.Client
	left  int
}

func (*addBefore) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*addBefore) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (a *addBefore) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if a.left > 0 && cmds[0].Name() == "multi" {
			a.left--
			if err := a.other.SetBit(ctx, "b", int64(a.left), 1).Err(); err != nil {
				return err
			}
		}
		return next(ctx, cmds)
	}
}

// TestDeleteWhileOthersAdd: some adds in between do not keep the bitmap, and very many are told of.
func TestDeleteWhileOthersAdd(t *testing.T) {
	s := startServer(t)
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	adds := &addBefore{other: s.Client}
	client.AddHook(adds)
	f, err := Open(client, "b", javaArticle(t))
	require.NoError(t, err)
	for _, c := range []struct {
		adds    int
		deleted bool
	}{{0, true}, {1, true}, {9, true}, {10, false}} {
		_, err := f.AddMany(bg, keysOf(0, 10), nil)
		require.NoError(t, err)
		adds.left = c.adds
		err = f.Delete(bg)
		require.Zero(t, adds.left)
		if c.deleted {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, redis.TxFailedErr)
			require.ErrorContains(t, err, "nothing was deleted")
		}
		require.Equal(t, !c.deleted, s.Client.Exists(bg, "b").Val() == 1)
	}
}
