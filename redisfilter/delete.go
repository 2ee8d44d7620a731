package redisfilter

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Delete removes the filter from Redis, for everybody: the next call of others
// returns [ErrLost], and so does the next of this one. What another process
// has put in its place is left alone, except in the case that [Filter.Push] describes, of
// a filter to which others add all the time. After an error, some shards may have been
// removed; to delete the filter again does no harm.
func (f *Filter) Delete(ctx context.Context) error {
	for _, s := range f.shards {
		l := s.life.Load()
		err := f.commit(ctx, s, l, newUpload(s.name), func(pipe redis.Pipeliner, _ time.Time) { pipe.Unlink(ctx, s.name) })
		if err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrMismatch) {
			return err
		}
		l.lost.Store(true) // the front must not go on answering
	}
	f.log.InfoContext(ctx, "deleted", "filter", f.name)
	return nil
}
