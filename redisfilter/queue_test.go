package redisfilter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestQueueOfNobody: calls that wait behind others leave with their context. When the last one has left, nothing of the
// queue is sent: it learns that its key was not added, and the server never sees the keys.
func TestQueueOfNobody(t *testing.T) {
	ctx, s := context.Background(), redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	client := redistest.Connect(t, &redis.Options{Addr: p.Addr, ReadTimeout: -1})
	f, err := Open(ctx, client, "f", 1000, 1e-9, WithCache(0))
	require.NoError(t, err)
	_, err = f.Add(ctx, redistest.KeyOf(0)) // takes the slot
	require.NoError(t, err)
	for _, c := range []struct {
		queue *queue
		call  func(context.Context, []byte) (bool, error)
	}{{&f.adds[0], f.Add}, {&f.lookups[0], f.Contains}} {
		await := func(want string) {
			redistest.Eventually(t, want, func() error {
				c.queue.mu.Lock()
				defer c.queue.mu.Unlock()
				waiting := 0
				for _, w := range c.queue.waiting {
					if w.ctx.Err() == nil {
						waiting++
					}
				}
				if is := fmt.Sprintf("%d under way, %d waiting", c.queue.underWay, waiting); is != want {
					return errors.New(is)
				}
				return nil
			})
		}
		before := f.handle().sender.Counts.RoundTrips.Load()
		p.Silent.Lock()
		var held, left redistest.Group
		for i := range sideBySide {
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
				if failed := (*AddError)(nil); errors.As(err, &failed) {
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
		require.Equal(t, before+sideBySide, f.handle().sender.Counts.RoundTrips.Load(), "the queue was sent")
		require.Equal(t, c.queue.add, notAdded.Load() == 3)
	}
	n, err := f.ContainsMany(ctx, redistest.KeysOf(100, 103), nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestWaits: a call whose deadline ends says what it has waited for.
func TestWaits(t *testing.T) {
	bg, s := context.Background(), redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	opened := func(pool int) (*Filter, *redis.Client) {
		c := redistest.Connect(t, &redis.Options{Addr: p.Addr, PoolSize: pool, PoolTimeout: 10 * time.Millisecond, ReadTimeout: -1,
			ContextTimeoutEnabled: true})
		f, err := Open(bg, c, "f", 1000, 0.01, WithCache(0))
		require.NoError(t, err)
		return f, c
	}
	f, _ := opened(20)
	one, other := opened(1)
	key := []byte("key")
	lookUp := func(ctx context.Context) error { _, err := f.Contains(ctx, key); return err }
	sentinel := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "crawl", SentinelAddrs: []string{p.Addr}})
	defer sentinel.Close()
	p.Silent.Lock()
	defer p.Silent.Unlock()
	for _, c := range []struct {
		want   string
		others int                         // calls that have no deadline
		hold   func(context.Context) error // what they do
		held   func() int
		call   func(context.Context) error
	}{
		{"for " + p.Addr, 0, nil, nil, lookUp},
		{"for the primary that Sentinel knows", 0, nil, nil, func(ctx context.Context) error {
			_, err := Open(ctx, sentinel, "f", 1000, 0.01)
			return err
		}},
		{"behind 4 other calls", 4, lookUp, func() int {
			f.lookups[0].mu.Lock()
			defer f.lookups[0].mu.Unlock()
			return f.lookups[0].underWay
		}, lookUp},
	} {
		var all redistest.Group
		for range c.others {
			all.Go(func() {
				if err := c.hold(bg); err != nil {
					t.Error(err)
				}
			})
		}
		redistest.Eventually(t, c.want, func() error {
			if c.held != nil && c.held() < c.others {
				return errors.New("still free")
			}
			return nil
		})
		// On a busy machine, a deadline may end before there is anything to wait for.
		redistest.Eventually(t, c.want, func() error {
			ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
			defer cancel()
			err := c.call(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			if !strings.Contains(err.Error(), "stopped waiting "+c.want+": ") {
				return err
			}
			return nil
		})
		if c.others > 0 {
			p.Silent.Unlock()
			all.Wait()
			p.Silent.Lock()
		}
	}
	go one.Contains(bg, key)
	redistest.Eventually(t, "the connection is taken", func() error {
		if s := other.PoolStats(); s.TotalConns-s.IdleConns != 1 {
			return errors.New("it is free")
		}
		return nil
	})
	_, err := one.Contains(bg, key)
	require.ErrorIs(t, err, redis.ErrPoolTimeout)
	require.ErrorContains(t, err, p.Addr)
}
