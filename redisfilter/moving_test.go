package redisfilter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// TestSlotHeldInMigration does everything with a filter whose slot is being moved, before its
// key has been moved and after. What cannot be done then says so and has done nothing;
// nothing is said to be done that is not, and an intact filter is never called lost.
func TestSlotHeldInMigration(t *testing.T) {
	nodes, client := startCluster(t)
	for _, moved := range []bool{false, true} {
		for name, op := range map[string]struct {
			do   func(f *Filter) error
			done func(f *Filter) bool
		}{
			"delete": {
				func(f *Filter) error { return f.Delete(bg) },
				func(f *Filter) bool { return client.Exists(bg, f.key).Val() == 0 },
			},
			"merge": {
				func(f *Filter) error { return f.Merge(bg, localWith(t, f, 100, 150).Filters()...) },
				func(f *Filter) bool { n, _ := f.ContainsMany(bg, keysOf(100, 150), nil); return n == 50 },
			},
			"push": {
				func(f *Filter) error { return f.Push(bg, localWith(t, f, 100, 150).Filters()...) },
				func(f *Filter) bool { n, _ := f.ContainsMany(bg, keysOf(100, 150), nil); return n == 50 },
			},
			"reopen": {
				func(f *Filter) error { return f.Reopen(bg) },
				func(f *Filter) bool { n, _ := f.ContainsMany(bg, keysOf(0, 50), nil); return n == 50 },
			},
			"open another": {
				func(f *Filter) error { _, err := Open(bg, client, "{"+f.key+"}other", 500, 1e-6); return err },
				func(f *Filter) bool { return client.Exists(bg, "{"+f.key+"}other").Val() == 1 },
			},
		} {
			key := fmt.Sprintf("%s %v", name, moved)
			f := open(t, client, key, 500, 1e-6, noFront)
			_, err := f.AddMany(bg, keysOf(0, 50), nil)
			require.NoError(t, err)
			end := hold(t, nodes, key, moved)

			// Adds and lookups follow the slot.
			added, err := f.Add(bg, keyOf(60))
			require.NoError(t, err, key)
			require.True(t, added)
			n, err := f.AddMany(bg, keysOf(61, 70), nil)
			require.NoError(t, err, key)
			require.Equal(t, 9, n)
			n, err = f.ContainsMany(bg, append(keysOf(0, 50), keysOf(60, 70)...), nil)
			require.NoError(t, err, key)
			require.Equal(t, 60, n)
			require.NoError(t, f.Pull(bg, localWith(t, f, 0, 0).Filters()...), key)
			_, err = f.Info(bg)
			require.NoError(t, err, key)

			err = op.do(f)
			require.NotErrorIs(t, err, ErrLost, key)
			require.NotErrorIs(t, err, ErrMismatch, key)
			require.Equal(t, err == nil, op.done(f), "%s: %v", key, err)
			t.Logf("%s: %v", key, err)
			if err != nil {
				require.ErrorContains(t, err, "slot is being moved", key)
				if name != "open another" {
					n, err = f.ContainsMany(bg, append(keysOf(0, 50), keysOf(60, 70)...), nil)
					require.NoError(t, err, key)
					require.Equal(t, 60, n, "nothing was changed")
				}
			}
			end()
			eventually(t, "the cluster has moved the slot", func() error {
				client.ReloadState(bg)
				if err := op.do(f); err != nil {
					return err
				}
				if !op.done(f) {
					return fmt.Errorf("said to be done, and is not")
				}
				return nil
			})
		}
	}
}

func localWith(t *testing.T, f *Filter, from, to int) *Local {
	t.Helper()
	l, err := f.NewLocal()
	require.NoError(t, err)
	l.AddMany(bg, keysOf(from, to), nil)
	return l
}

// TestWaitFollowsMoved: a client that goes on being told where the slots were, as by a node that has
// not heard of the move, does not keep an add from the node that a refusal names.
func TestWaitFollowsMoved(t *testing.T) {
	nodes, _ := startCluster(t)
	var before []redis.ClusterSlot
	for i, n := range nodes {
		before = append(before, redis.ClusterSlot{Start: i * 16384 / 3, End: (i+1)*16384/3 - 1, Nodes: []redis.ClusterNode{{Addr: n.Addr}}})
	}
	stale := redis.NewClusterClient(&redis.ClusterOptions{
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) { return before, nil },
		NewClient: func(o *redis.Options) *redis.Client {
			o.Addr = "127.0.0.1" + strings.TrimPrefix(o.Addr, "127.0.0.1") // the client leaves out the host
			return redis.NewClient(o)
		},
	})
	defer stale.Close()
	f := open(t, stale, "seen", 500, 1e-6, noFront, WithWait(1, 10*time.Millisecond))
	end := hold(t, nodes, "seen", true)
	end()
	n, err := f.AddMany(bg, keysOf(0, 10), nil)
	require.ErrorIs(t, err, ErrReplicas, "there are none")
	require.Equal(t, 10, n)
	n, err = f.ContainsMany(bg, keysOf(0, 10), nil)
	require.NoError(t, err)
	require.Equal(t, 10, n)
}

// TestWaitFollowsAsk: with WithWait, adds go to the nodes themselves, and must follow a slot
// that is being moved; also when the client has not heard of it.
func TestWaitFollowsAsk(t *testing.T) {
	nodes, client := startCluster(t)
	f := open(t, client, "seen", 500, 1e-6, noFront, WithWait(1, 10*time.Millisecond))
	add := func(from, to int) {
		t.Helper()
		added := make([]bool, to-from)
		n, err := f.AddMany(bg, keysOf(from, to), added)
		require.ErrorIs(t, err, ErrReplicas, "there are none")
		failed, ok := errors.AsType[*AddError](err)
		require.True(t, ok)
		require.Len(t, failed.Unconfirmed, to-from)
		require.Equal(t, to-from, n, "each was added, and its answer is known")
	}
	add(0, 10)
	end := hold(t, nodes, "seen", true)
	add(10, 20)
	add(20, 21)
	end()
	add(21, 30)
	n, err := f.ContainsMany(bg, keysOf(0, 30), nil)
	require.NoError(t, err)
	require.Equal(t, 30, n)
}
