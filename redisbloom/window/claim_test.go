package window

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisbloom/internal/redistest"
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

// TestFirstAddsKeepTheirContext: while one goroutine takes the handle's slot, another one waits for
// it, but no longer than its context allows.
func TestFirstAddsKeepTheirContext(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 0.01, time.Hour, 4)
	hold := &holdFirst{held: make(chan struct{}), release: make(chan struct{})}
	s.Client.AddHook(hold)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := f.AddString(bg, "a"); first <- err }()
	<-hold.held
	ctx, cancel := context.WithCancel(bg)
	go func() { _, err := f.AddString(ctx, "b"); second <- err }()
	time.Sleep(20 * time.Millisecond) // enough for it to wait, mostly
	cancel()
	redistest.Eventually(t, "an add ends with its context", func() error {
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
	added, err := f.AddString(bg, "b")
	require.NoError(t, err)
	require.True(t, added)
}
