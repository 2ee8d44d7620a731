package module

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// refuseFirst has so many transactions refused, as a server does if a key has been changed.
type refuseFirst struct{ left int }

func (*refuseFirst) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*refuseFirst) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (r *refuseFirst) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if r.left > 0 && cmds[0].Name() == "multi" {
			r.left--
			for _, cmd := range cmds {
				cmd.SetErr(redis.TxFailedErr)
			}
			return redis.TxFailedErr
		}
		return next(ctx, cmds)
	}
}

// TestDeleteWhileOthersAdd: some adds in between do not keep the filter, and very many are told of.
func TestDeleteWhileOthersAdd(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	refuse := new(refuseFirst)
	client.AddHook(refuse)
	f, err := Open(bg, client, "f", 1000, 0.001)
	require.NoError(t, err)
	refuse.left = 10
	err = f.Delete(bg)
	require.ErrorIs(t, err, redis.TxFailedErr)
	require.ErrorContains(t, err, "nothing was deleted")
	require.NotNil(t, fake.filters["f"])
	refuse.left = 9
	require.NoError(t, f.Delete(bg))
	require.Nil(t, fake.filters["f"])
}
