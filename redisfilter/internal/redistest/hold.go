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

// FirstAddsKeepTheirContext tries a set that no add has taken a slot for: while one goroutine takes
// it, another one waits for that, but no longer than its context allows.
func FirstAddsKeepTheirContext(t *testing.T, client *redis.Client, set Set) {
	var scripts atomic.Int32
	held, release := make(chan struct{}), make(chan struct{}) // of the first script
	client.AddHook(Hook(func(cmds []redis.Cmder, send func() error) error {
		if cmds[0].Name() == "evalsha" && scripts.Add(1) == 1 {
			close(held)
			<-release
		}
		return send()
	}))
	add := func(ctx context.Context, key string) (int, error) {
		return set.AddMany(ctx, [][]byte{[]byte(key)}, nil)
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := add(context.Background(), "a"); first <- err }()
	<-held
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
	close(release)
	require.NoError(t, <-first)
	added, err := add(context.Background(), "b")
	require.NoError(t, err)
	require.Equal(t, 1, added)
}
