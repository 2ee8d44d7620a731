package redisfilter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestGroupOfNobody: calls that wait behind others leave with their context. When the last one has left, nothing of the group
// is sent: it learns that its key was not added, and the server never sees the keys.
func TestGroupOfNobody(t *testing.T) {
	ctx, s := context.Background(), redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, ReadTimeout: -1})
	t.Cleanup(func() { client.Close() })
	f, err := Open(ctx, client, "f", 1000, 1e-9, WithCache(0))
	require.NoError(t, err)
	_, err = f.Add(ctx, redistest.KeyOf(0)) // takes the slot
	require.NoError(t, err)
	for _, c := range []struct {
		group *group
		call  func(context.Context, []byte) (bool, error)
	}{{&f.adds[0], f.Add}, {&f.lookups[0], f.Contains}} {
		await := func(want string) {
			redistest.Eventually(t, want, func() error {
				c.group.mu.Lock()
				defer c.group.mu.Unlock()
				waiting := 0
				if c.group.pending != nil {
					waiting = c.group.pending.waiting
				}
				if is := fmt.Sprintf("%d under way, %d waiting", c.group.underWay, waiting); is != want {
					return errors.New(is)
				}
				return nil
			})
		}
		before := f.sender.Counts.RoundTrips.Load()
		p.Silent.Lock()
		var held, left sync.WaitGroup
		for i := range lanesPerSlot {
			held.Go(func() {
				if _, err := c.call(ctx, redistest.KeyOf(1+i)); err != nil {
					t.Error(err)
				}
			})
		}
		await("4 under way, 0 waiting")
		leaving, cancel := context.WithCancel(ctx)
		var notAdded atomic.Int64
		for i := range 3 {
			left.Go(func() {
				_, err := c.call(leaving, redistest.KeyOf(100+i))
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if failed, ok := errors.AsType[*AddError](err); ok {
					notAdded.Add(int64(len(failed.NotAdded)))
				}
			})
		}
		await("4 under way, 3 waiting")
		cancel()
		left.Wait()
		p.Silent.Unlock()
		held.Wait()
		await("0 under way, 0 waiting")
		require.Equal(t, before+lanesPerSlot, f.sender.Counts.RoundTrips.Load(), "the group was sent")
		require.Equal(t, c.group.add, notAdded.Load() == 1)
	}
	n, err := f.ContainsMany(ctx, redistest.KeysOf(100, 103), nil)
	require.NoError(t, err)
	require.Zero(t, n)
}
