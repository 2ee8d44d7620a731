package redisfilter

import (
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// RepeatFor sets how long an add without a reply is repeated.
func RepeatFor(d time.Duration) (reset func()) {
	before := repeatFor
	repeatFor = d
	return func() { repeatFor = before }
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
