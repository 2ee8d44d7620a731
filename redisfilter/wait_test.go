package redisfilter

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// TestLookupsDoNotWait: there is no replica, but nothing to confirm either.
func TestLookupsDoNotWait(t *testing.T) {
	s := startServer(t)
	open(t, s.Client, "f", 1000, 0.01)
	f := open(t, s.Client, "f", 1000, 0.01, WithWait(1, time.Millisecond))
	found, err := f.Contains(bg, keyOf(0))
	require.NoError(t, err)
	require.False(t, found)
	answers, err := askEach(bg, f, keysOf(0, 1200))
	require.NoError(t, err)
	require.Zero(t, count(answers))
	_, err = f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, ErrReplicas)
	found, err = f.Contains(bg, keyOf(0))
	require.NoError(t, err)
	require.True(t, found)
}

// laterFirst holds back the command that is longer than the others, until another one
// has been executed or half a second has passed.
type laterFirst struct {
	words int
	done  chan struct{}
	once  *sync.Once
}

func (laterFirst) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (laterFirst) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (l laterFirst) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds[0].Args()) >= l.words {
			select {
			case <-l.done:
			case <-time.After(500 * time.Millisecond):
			}
			return next(ctx, cmds)
		}
		err := next(ctx, cmds)
		l.once.Do(func() { close(l.done) })
		return err
	}
}

// TestFirstOfEqualKeys: two commands to one shard, each with the same key. That of the
// first key comes first, however slow it is.
func TestFirstOfEqualKeys(t *testing.T) {
	s := startServer(t, "--repl-diskless-sync-delay", "0")
	startServer(t, "--replicaof", fmt.Sprintf("127.0.0.1 %d", s.Port))
	awaitReplica(t, s)
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	f := open(t, client, "f", 1000, 0.01, WithShards(2), noFront, WithWait(1, 2*time.Second))
	client.AddHook(laterFirst{words: batchKeys * f.k * 4, done: make(chan struct{}), once: new(sync.Once)})
	keys := make([][]byte, 2*batchKeys-1)
	for i := range keys {
		keys[i] = keyOf(0)
	}
	added, err := addEach(bg, f, keys)
	require.NoError(t, err)
	require.Equal(t, 1, count(added))
	require.True(t, added[0])
}
