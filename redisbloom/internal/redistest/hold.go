package redistest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// holdFirst holds back the first script that is called, until release is closed.
type holdFirst struct {
	scripts       atomic.Int32
	held, release chan struct{}
}

func (*holdFirst) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *holdFirst) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" && h.scripts.Add(1) == 1 {
			close(h.held)
			<-h.release
		}
		return next(ctx, cmd)
	}
}
func (*holdFirst) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// FirstAddsKeepTheirContext tries a set that no add has taken a slot for: while one goroutine takes
// it, another one waits for that, but no longer than its context allows.
func FirstAddsKeepTheirContext(t *testing.T, client *redis.Client, set Set) {
	hold := &holdFirst{held: make(chan struct{}), release: make(chan struct{})}
	client.AddHook(hold)
	add := func(ctx context.Context, key string) (int, error) {
		return set.AddMany(ctx, [][]byte{[]byte(key)}, nil)
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := add(context.Background(), "a"); first <- err }()
	<-hold.held
	ctx, cancel := context.WithCancel(context.Background())
	go func() { _, err := add(ctx, "b"); second <- err }()
	time.Sleep(20 * time.Millisecond) // enough for it to wait, mostly
	cancel()
	Eventually(t, "an add ends with its context", func() error {
		select {
		case err := <-second:
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%v", err)
			}
			return nil
		default:
			return errors.New("it waits")
		}
	})
	close(hold.release)
	require.NoError(t, <-first)
	added, err := add(context.Background(), "b")
	require.NoError(t, err)
	require.Equal(t, 1, added)
}
