package redisfilter

import (
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// RepeatFor sets how long a command without a reply is repeated.
func RepeatFor(d time.Duration) (reset func()) {
	before := send.RepeatFor
	send.RepeatFor = d
	return func() { send.RepeatFor = before }
}

// SetClock makes the server read the time from the key clock, in milliseconds, and handles from a function.
func SetClock(now func() time.Duration) (reset func()) {
	add, open, before := *addScript, *openScript, elapsed
	for _, s := range []*script{addScript, openScript} {
		s.source = strings.Replace(s.source, "call('TIME')", "{0, call('GET', 'clock') * 1000}", 1)
		s.sha = redis.NewScript(s.source).Hash()
	}
	elapsed = now
	return func() { *addScript, *openScript, elapsed = add, open, before }
}

// WordsPerKey is wordsPerKey.
var WordsPerKey = wordsPerKey

// Keys returns the names of the filter's keys in Redis, one per shard.
func (f *Filter) Keys() (names []string) {
	for _, s := range f.handle().shards {
		names = append(names, s.name)
	}
	return names
}

// ErrReplicas is the cause of an error of WithWait.
var ErrReplicas = send.ErrReplicas

// UnsureOf returns the keys that may or may not be new, by an error of an add.
func UnsureOf(err error) []int {
	failed := &AddError{}
	errors.As(err, &failed)
	return failed.Unsure
}
