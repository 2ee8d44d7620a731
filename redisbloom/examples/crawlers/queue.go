package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// A queue of URLs in Redis that all processes take from, with the number of those
// that are waiting or being worked on: at zero, everything is done.
type queue struct{ client redis.UniversalClient }

const (
	urlsKey    = "crawl:urls"
	pendingKey = "crawl:pending"
)

func (q queue) clear(ctx context.Context) error {
	return errors.Join(q.client.Del(ctx, urlsKey).Err(), q.client.Del(ctx, pendingKey).Err())
}

func (q queue) push(ctx context.Context, urls ...string) error {
	if len(urls) == 0 {
		return nil
	}
	// First the number: at no time may it be too low.
	if err := q.client.IncrBy(ctx, pendingKey, int64(len(urls))).Err(); err != nil {
		return err
	}
	return q.client.RPush(ctx, urlsKey, urls).Err()
}

// done says that a URL that was popped has been dealt with.
func (q queue) done(ctx context.Context) error { return q.client.Decr(ctx, pendingKey).Err() }

// pop waits a moment for a URL; more is false when there will never be one again.
func (q queue) pop(ctx context.Context) (url string, more bool, err error) {
	got, err := q.client.BLPop(ctx, time.Second, urlsKey).Result()
	switch {
	case err == nil:
		return got[1], true, nil
	case !errors.Is(err, redis.Nil):
		return "", false, err
	}
	pending, err := q.client.Get(ctx, pendingKey).Int()
	return "", pending > 0, err
}
