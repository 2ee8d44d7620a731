package redisfilter_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// TestReplica: a filter is not opened at a replica, and one that has become a replica takes no adds.
func TestReplica(t *testing.T) {
	s := redistest.Start(t)
	var handles []*filter
	for i, k := range kinds[:3] {
		f, err := redisfilter.Open(bg, s.Client, names[i], k.n, k.p, k.opts...)
		require.NoError(t, err)
		handles = append(handles, f)
	}
	r := redistest.Start(t, "--replicaof", "127.0.0.1", fmt.Sprint(s.Port), "--repl-diskless-sync-delay", "0")
	r.Follows(t)
	for i, k := range kinds[:3] {
		_, err := redisfilter.Join(bg, r.Client, names[i])
		require.ErrorContains(t, err, "the server is a replica")
		_, err = redisfilter.Open(bg, r.Client, names[i], k.n, k.p, k.opts...)
		require.ErrorContains(t, err, "the server is a replica")
	}
	require.NoError(t, r.Client.Do(bg, "REPLICAOF", "NO", "ONE").Err())
	require.NoError(t, s.Client.Do(bg, "REPLICAOF", "127.0.0.1", r.Port).Err())
	s.Follows(t)
	for _, f := range handles {
		_, err := f.Add(bg, keyOf(1))
		require.ErrorContains(t, err, "the server is a replica")
	}
}

// TestCommandsOfAUser: a user that may execute what the hint of NOPERM names, and nothing else, can do everything, on
// one server and in a cluster in which a slot is being moved. If one of the commands is missing, the error names all.
func TestCommandsOfAUser(t *testing.T) {
	list := func(text string) []string {
		return strings.Split(strings.ToLower(strings.ReplaceAll(text, " and ", ", ")), ", ")
	}
	single, cluster := redistest.Start(t), redistest.StartCluster(t, 3, false)
	for _, c := range []struct {
		name   string
		nodes  []*redistest.Server
		names  []string
		client func() redis.UniversalClient
	}{
		{"single", []*redistest.Server{single}, list(send.Commands), func() redis.UniversalClient {
			return redis.NewClient(&redis.Options{Addr: single.Addr, Username: "limited", Password: "secret"})
		}},
		{"cluster", cluster.Nodes, append(list(send.Commands), list(send.ClusterCommands)...), func() redis.UniversalClient {
			return redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), Username: "limited", Password: "secret"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "cluster" { // "{3}" is a slot of the second node; its keys are made at the third one
				halfMoved(t, cluster, "{3}")
			}
			for _, k := range kinds[:3] {
				for _, without := range append([]string{""}, c.names...) {
					if k.name != "plain" && without != "" {
						continue
					}
					args := []any{"ACL", "SETUSER", "limited", "reset", "on", ">secret", "~{3}f", "~{3}f:*", "~g", "~g:*", "~{g}:*"}
					for _, name := range c.names {
						if name != without {
							args = append(args, "+"+name)
						}
					}
					for _, node := range c.nodes {
						require.NoError(t, node.Client.FlushAll(bg).Err())
						require.NoError(t, node.Client.ScriptFlush(bg).Err())
						require.NoError(t, node.Client.Do(bg, args...).Err())
					}
					client := c.client()
					// Merge waits until a slot has moved.
					err := errors.Join(everything(client, k, "g"), everything(client, kinds[1], "{3}f"))
					require.NoError(t, client.Close())
					switch without {
					case "":
						require.NoError(t, err, k.name)
					case "asking":
						require.ErrorContains(t, err, "MOVED", "the node that gets the slot does not execute the command")
					default:
						require.ErrorContains(t, err, "the ACL of the user must allow "+send.Commands+", in a cluster also "+send.ClusterCommands, without)
					}
				}
			}
		})
	}
}

// TestHalfOfAScript: a user without a permission that a script needs only at its end leaves nothing: no value that
// never expires, no temporary keys.
func TestHalfOfAScript(t *testing.T) {
	s := redistest.Start(t)
	c := redistest.Connect(t, &redis.Options{Addr: s.Addr, Username: "limited", Password: "secret"})
	for _, without := range []string{"-pexpireat", "-bitop", "-unlink", "-pexpireat -unlink"} {
		require.NoError(t, s.Client.FlushAll(bg).Err())
		rules := []any{"ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "+@all"}
		for rule := range strings.FieldsSeq(without) {
			rules = append(rules, rule)
		}
		require.NoError(t, s.Client.Do(bg, rules...).Err())
		if strings.Contains(without, "pexpireat") {
			_, err := redisfilter.Open(bg, c, "f", 1000, 0.01, redisfilter.WithTTL(time.Hour))
			require.ErrorIs(t, err, redisfilter.ErrRefused, without)
			require.Empty(t, s.Client.Keys(bg, "*").Val(), without)
			continue
		}
		f := open(t, c, 1000, 0.01)
		local, err := redisfilter.NewLocal(1000, 0.01)
		require.NoError(t, err)
		require.ErrorIs(t, f.Merge(bg, local), redisfilter.ErrRefused, without)
		require.Equal(t, []string{"f"}, s.Client.Keys(bg, "*").Val(), without)
	}
}

// halfMoved begins to move the slot of a key from its node to another, where its keys are made from then on.
func halfMoved(t *testing.T, cluster *redistest.Cluster, key string) {
	from, err := cluster.Master(key)
	require.NoError(t, err)
	slot := from.Client.ClusterKeySlot(bg, key).Val()
	for _, to := range cluster.Nodes {
		if to != from {
			require.NoError(t, to.Client.Do(bg, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Client.ClusterMyID(bg).Val()).Err())
			require.NoError(t, from.Client.Do(bg, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Client.ClusterMyID(bg).Val()).Err())
			return
		}
	}
}

// everything makes all calls.
func everything(client redis.UniversalClient, k kind, name string) error {
	opts := append(k.opts[:len(k.opts):len(k.opts)], redisfilter.WithTTL(time.Hour), redisfilter.WithWait(1, time.Millisecond), redisfilter.WithShards(2))
	f, err := redisfilter.Open(bg, client, name, k.n, k.p, opts...)
	if err != nil {
		return err
	}
	// There is no replica, so WAIT confirms nothing.
	enough := func(err error) error {
		if errors.Is(err, redisfilter.ErrReplicas) && !strings.Contains(err.Error(), "ACL") {
			return nil
		}
		return err
	}
	_, joined := redisfilter.Join(bg, client, name)
	_, added := f.AddMany(bg, keysOf(0, 50), nil)
	_, asked := f.ContainsMany(bg, keysOf(0, 50), nil)
	_, counted := f.Stats(bg)
	err = errors.Join(joined, enough(added), asked, counted)
	if k.name == "plain" {
		local, _ := redisfilter.NewLocal(k.n, k.p, opts...)
		merged := f.Merge(bg, local)
		_, copied := f.Local(bg)
		err = errors.Join(err, enough(merged), copied)
	}
	return errors.Join(err, f.Delete(bg))
}

// TestOpenOneAtATime: a node gets the command that makes a shard when it has made the one before, and commands that
// only look in one pipeline for 64 shards.
func TestOpenOneAtATime(t *testing.T) {
	s := redistest.Start(t)
	var making, looking, pipelines atomic.Int64
	c := client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
		makes := 0
		for _, cmd := range cmds {
			if args := cmd.Args(); strings.HasPrefix(cmd.Name(), "eval") && len(args) == 10 {
				if args[4] == true {
					makes++
				} else {
					looking.Add(1)
				}
			}
		}
		making.Add(int64(makes))
		if makes > 0 {
			assert.Len(t, cmds, 1)
		} else {
			pipelines.Add(1)
		}
		return send()
	})
	open(t, c, 1000, 0.01, redisfilter.WithShards(100))
	require.EqualValues(t, 100, making.Load())
	require.LessOrEqual(t, looking.Load(), int64(200))
	require.LessOrEqual(t, pipelines.Load(), int64(10))
}

// TestJoinWithSecret: Join says what is missing.
func TestJoinWithSecret(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		secret := redisfilter.WithBloom(bloom.WithSecret([16]byte{7}))
		k.open(t, s.Client, secret)
		_, err := redisfilter.Join(bg, s.Client, "f")
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
		require.ErrorContains(t, err, "pass WithSecret")
		_, err = redisfilter.Open(bg, s.Client, "f", k.n, k.p, k.opts...)
		require.ErrorContains(t, err, "pass WithSecret")
		_, err = redisfilter.Join(bg, s.Client, "f", redisfilter.WithBloom(bloom.WithSecret([16]byte{8})))
		require.ErrorContains(t, err, "another seed, secret or hash")
		_, err = redisfilter.Join(bg, s.Client, "f", secret)
		require.NoError(t, err)
	})
}
