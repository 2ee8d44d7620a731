package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/window"
)

// races compares what the windows answer when several clients use one at the same time: how many
// winners a key has, and whether it is remembered for the window. And it removes keys from
// rueidisprob's counting filter that were never in, as a program does that cannot know.
func races(ctx context.Context, w io.Writer, s *server) error {
	if err := s.client.FlushAll(ctx).Err(); err != nil {
		return err
	}
	const n, length = 20_000, time.Second
	scheme, err := bloom.NewScheme(n, 1e-6)
	if err != nil {
		return err
	}
	e := &env{ctx: ctx, client: redis.NewClient(&redis.Options{Addr: s.addr}), addr: s.addr, n: n, p: 1e-6, scheme: scheme}
	defer e.client.Close()

	ours, err := window.Open(ctx, e.client, "race", n, 1e-6, time.Hour, 4)
	if err != nil {
		return err
	}
	ourWinners, err := winners(ctx, n, func(keys [][]byte) ([]bool, error) {
		added := make([]bool, len(keys))
		_, err := ours.AddMany(ctx, keys, added)
		return added, err
	})
	if err != nil {
		return err
	}
	sliding, err := openSliding(e, time.Hour)
	if err != nil {
		return err
	}
	theirWinners, err := winners(ctx, n, func(keys [][]byte) ([]bool, error) {
		seen, err := sliding.answers(ctx, keys)
		if err != nil {
			return nil, err
		}
		added := make([]bool, len(keys))
		for i := range seen {
			added[i] = seen[i] == 0
		}
		return added, sliding.add(ctx, keys)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "8 clients add the same %d keys, in batches of 10: keys with more than one winner: window %d, rueidisprob sliding (ask, then add) %d\n", n, ourWinners, theirWinners)

	short, err := window.Open(ctx, e.client, "short", n, 1e-6, length, 4)
	if err != nil {
		return err
	}
	ourForgotten, ourAsked, err := forgotten(length, func(keys [][]byte) error {
		_, err := short.AddMany(ctx, keys, nil)
		return err
	}, func(keys [][]byte) (int, error) { return short.ContainsMany(ctx, keys, nil) })
	if err != nil {
		return err
	}
	if sliding, err = openSliding(e, length); err != nil {
		return err
	}
	theirForgotten, theirAsked, err := forgotten(length, func(keys [][]byte) error { return sliding.add(ctx, keys) }, func(keys [][]byte) (int, error) {
		seen, err := sliding.answers(ctx, keys)
		count := 0
		for _, yes := range seen {
			count += int(yes)
		}
		return count, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "asked for before a window of %v was over, and forgotten: window %d of %d, rueidisprob sliding %d of %d\n", length, ourForgotten, ourAsked, theirForgotten, theirAsked)

	if e.scheme, err = bloom.NewScheme(n, 0.01); err != nil {
		return err
	}
	c, err := openCounting(e)
	if err != nil {
		return err
	}
	missed, err := removed(ctx, c, n)
	fmt.Fprintf(w, "rueidisprob counting, %d keys at 1 %%, and as many others removed that were never added: %d keys missed\n", n, missed)
	return err
}

// winners lets 8 clients add the same keys, and returns how many of these had more than one
// winner.
func winners(ctx context.Context, n int, add func(keys [][]byte) ([]bool, error)) (several int, err error) {
	wins := make([]int, n)
	errs := make([]error, 8)
	var mu sync.Mutex
	var all sync.WaitGroup
	for c := range errs {
		all.Go(func() {
			for i := 0; i < n && errs[c] == nil; i += 10 {
				added, err := add(keysFrom(i, 10))
				errs[c] = err
				mu.Lock()
				for j, yes := range added {
					if yes {
						wins[i+j]++
					}
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, times := range wins {
		if times > 1 {
			several++
		}
	}
	return several, errors.Join(errs...)
}

// forgotten adds a few keys again and again for a window, and asks for each of them nine tenths of
// a window later. An answer that came after the window is not counted.
func forgotten(length time.Duration, add func(keys [][]byte) error, ask func(keys [][]byte) (int, error)) (lost, asked int, err error) {
	const size, batches = 10, 100
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range batches {
		all.Go(func() {
			time.Sleep(length / batches * time.Duration(i))
			keys := keysFrom(i*size, size)
			began := time.Now()
			wrong := add(keys)
			time.Sleep(length*9/10 - time.Since(began))
			found, err2 := ask(keys)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, wrong, err2)
			if time.Since(began) < length {
				asked += size
				lost += size - found
			}
		})
	}
	all.Wait()
	return lost, asked, err
}

// removed adds n keys, removes n others, and returns how many of the first are missed.
func removed(ctx context.Context, c counting, n int) (missed int, err error) {
	for i := 0; i < n; i += 100 {
		if err := c.add(ctx, keysFrom(i, 100)); err != nil {
			return 0, err
		}
	}
	for i := n; i < 2*n; i += 100 {
		if err := c.remove(ctx, keysFrom(i, 100)); err != nil {
			return 0, err
		}
	}
	for i := 0; i < n; i += 100 {
		seen, err := c.answers(ctx, keysFrom(i, 100))
		if err != nil {
			return 0, err
		}
		for _, yes := range seen {
			missed += 1 - int(yes)
		}
	}
	return missed, nil
}
