package module

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestDeleteWhileOthersAdd: some adds in between do not keep the filter, and very many are told of.
func TestDeleteWhileOthersAdd(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	left := 0 // of the transactions that are refused, as if a key had been changed
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		if left == 0 || cmds[0].Name() != "multi" {
			return send()
		}
		left--
		for _, cmd := range cmds {
			cmd.SetErr(redis.TxFailedErr)
		}
		return redis.TxFailedErr
	}))
	f, err := Open(bg, client, "f", 1000, 0.001)
	require.NoError(t, err)
	left = 10
	err = f.Delete(bg)
	require.ErrorIs(t, err, redis.TxFailedErr)
	require.ErrorContains(t, err, "nothing was deleted")
	require.NotNil(t, fake.filters["f"])
	left = 9
	require.NoError(t, f.Delete(bg))
	require.Nil(t, fake.filters["f"])
}
