package redisbloom

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
)

// send executes the commands of a round. An error means that ctx ended before the
// replies came; what went wrong with one command stands in that command.
func (s *store) send(ctx context.Context, parts []*part, add bool) error {
	if len(parts) == 0 {
		return nil
	}
	return await(ctx, func() {
		switch {
		case add && s.replicas > 0:
			s.addAndWait(ctx, parts)
		case len(parts) == 1:
			s.client.Process(ctx, parts[0].cmd)
		default:
			pipe := s.client.Pipeline()
			for _, p := range parts {
				pipe.Process(ctx, p.cmd)
			}
			pipe.Exec(ctx)
		}
	})
}

// addAndWait executes the adds and has replicas confirm each: shards side by side, but
// what one of them gets in the order of the keys, so that of equal keys the first
// is the new one.
func (s *store) addAndWait(ctx context.Context, parts []*part) {
	perShard := make(map[*shard][]*part)
	for _, p := range parts {
		perShard[p.shard] = append(perShard[p.shard], p)
	}
	var all sync.WaitGroup
	for _, parts := range perShard {
		all.Go(func() {
			for _, p := range parts {
				s.addPartAndWait(ctx, p)
			}
		})
	}
	all.Wait()
}

// addPartAndWait executes one command and has replicas confirm it. WAIT speaks of what
// came over its own connection, so that the two must go to one node in one pipeline.
func (s *store) addPartAndWait(ctx context.Context, p *part) {
	p.wait = redis.NewIntCmd(ctx, "WAIT", s.replicas, s.wait.Milliseconds())
	// A node that is not, or no longer, the right one refuses the command and has
	// not executed it: this is no retry of an add.
	const tries = 5
	for i := range tries {
		if i > 0 {
			time.Sleep(10 * time.Millisecond << i)
		}
		node, err := s.primary(ctx, p.shard.name)
		if err != nil {
			p.replies.SetErr(err)
			return
		}
		pipe := node.Pipeline()
		pipe.Process(ctx, p.cmd)
		pipe.Process(ctx, p.wait)
		pipe.Exec(ctx)
		if !s.moved(ctx, p.replies.Err()) {
			return
		}
	}
}

// primary returns a client of the one node that holds a key.
func (s *store) primary(ctx context.Context, key string) (*redis.Client, error) {
	switch c := s.client.(type) {
	case *redis.Client:
		return c, nil
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, key)
	}
	return nil, fmt.Errorf("%w: client %T with WithWait, want *redis.Client or *redis.ClusterClient", bloom.ErrInvalid, s.client)
}

// moved reports whether err says that the key is at another node, and has the
// cluster client look where.
func (s *store) moved(ctx context.Context, err error) bool {
	c, ok := s.client.(*redis.ClusterClient)
	if !ok || err == nil || !isReply(err) {
		return false
	}
	text := err.Error()
	if !strings.HasPrefix(text, "MOVED ") && !strings.HasPrefix(text, "ASK ") {
		return false
	}
	c.ReloadState(ctx)
	return true
}

// checkClient refuses clients that cannot keep the promises.
func checkClient(client redis.UniversalClient, o options) error {
	var readTimeout time.Duration
	switch c := client.(type) {
	case nil:
		return fmt.Errorf("%w: no client", bloom.ErrInvalid)
	case *redis.Client:
		readTimeout = c.Options().ReadTimeout
	case *redis.ClusterClient:
		readTimeout = c.Options().ReadTimeout
		if c.Options().ReadOnly {
			return fmt.Errorf("%w: a cluster client that reads from replicas, want one that does not: a replica lags behind, and a key that was added would be missed", bloom.ErrInvalid)
		}
	default:
		if o.replicas > 0 {
			return fmt.Errorf("%w: client %T with WithWait, want *redis.Client or *redis.ClusterClient", bloom.ErrInvalid, client)
		}
	}
	if o.replicas > 0 && readTimeout > 0 && o.wait >= readTimeout {
		return fmt.Errorf("%w: wait for %v with a client whose ReadTimeout is %v, want less", bloom.ErrInvalid, o.wait, readTimeout)
	}
	return nil
}
