package redisfilter

import "github.com/seed3447c163/bloom/redisfilter/internal/send"

// A handle is what every call needs: what the filter is like, the way to the server, and what is known of each shard.
type handle struct {
	plan   *plan
	sender *send.Sender
	shards []*shard
}
