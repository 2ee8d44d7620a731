package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestLostReplies cuts each fifth reply: the command is sent again, and each key has its winner.
func TestLostReplies(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, MinRetryBackoff: -1})
	defer client.Close()
	f := open(t, client, 10_000, 1e-9, time.Hour, 4)
	p.CutEvery.Store(5)
	won := 0
	for i := 0; i < 3000; i += 10 {
		n, err := f.AddMany(bg, redistest.KeysOf(i, i+10), nil)
		require.NoError(t, err)
		won += n
	}
	t.Logf("%d replies cut, %d winners of 3000 keys", p.Cuts.Load(), won)
	require.Equal(t, 3000, won)
	require.Greater(t, p.Cuts.Load(), int64(50))

	// No reply comes at all: unknown, and the rest of the batch was not sent.
	p.CutEvery.Store(1)
	_, err := f.AddMany(bg, redistest.KeysOf(5000, 5600), nil)
	require.ErrorIs(t, err, redisfilter.ErrUnknown)
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok)
	require.Len(t, failed.NotAdded, 100+500-len(failed.Unknown))
	p.CutEvery.Store(0)
	n, err := f.AddMany(bg, redistest.KeysOf(6000, 6010), nil)
	require.NoError(t, err, "the handle goes on")
	require.Equal(t, 10, n)
}

// TestLateCommand executes an add once more, long after others of its lane.
func TestLateCommand(t *testing.T) {
	s := redistest.Start(t)
	setClock(t, s, start)
	f := open(t, s.Client, 1000, 1e-9, time.Second, 1, testClock)
	var sent []any // the last script that was called
	s.Client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		if name := cmds[0].Name(); name == "evalsha" || name == "eval" {
			sent = slices.Clone(cmds[0].Args())
		}
		return send()
	}))
	_, err := f.AddString(bg, "a")
	require.NoError(t, err)
	late := slices.Clone(sent)
	for i := range 2 * lanes {
		_, err := f.Add(bg, redistest.KeyOf(i))
		require.NoError(t, err)
	}
	setClock(t, s, start+10_000)
	require.ErrorContains(t, s.Client.Do(bg, late...).Err(), saysPast)
	added, err := f.AddString(bg, "a")
	require.NoError(t, err)
	require.True(t, added, "no other call was told")
}

// TestLost: whatever happens to the key, the next call of each handle is told, those which
// have added and those which have only asked.
func TestLost(t *testing.T) {
	s := redistest.Start(t)
	value := func() string { return s.Client.Get(bg, "w").Val() }
	for name, lose := range map[string]func(f *Filter){
		"deleted":    func(*Filter) { s.Client.Del(bg, "w") },
		"by us":      func(f *Filter) { require.NoError(t, f.Delete(bg)) },
		"else":       func(*Filter) { s.Client.Set(bg, "w", "something else", 0) },
		"made anew":  func(f *Filter) { s.Client.Del(bg, "w"); open(t, s.Client, 1000, 1e-6, time.Hour, 4) },
		"cut by 1":   func(f *Filter) { s.Client.Set(bg, "w", value()[:f.layout.length-1], 0) },
		"cut by 100": func(f *Filter) { s.Client.Set(bg, "w", value()[:f.layout.length-100], 0) },
		"cut in two": func(f *Filter) { s.Client.Set(bg, "w", value()[:f.layout.length/2], 0) },
	} {
		for call, do := range map[string]func(f *Filter) error{
			"Add":      func(f *Filter) error { _, err := f.AddString(bg, "b"); return err },
			"Contains": func(f *Filter) error { _, err := f.ContainsString(bg, "b"); return err },
			"Stats":    func(f *Filter) error { _, err := f.Stats(bg); return err },
		} {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			adder, asker := open(t, s.Client, 1000, 1e-6, time.Hour, 4), open(t, s.Client, 1000, 1e-6, time.Hour, 4)
			_, err := adder.AddString(bg, "a")
			require.NoError(t, err)
			lose(adder)
			after := value()
			for _, f := range []*Filter{adder, asker} {
				err := do(f)
				require.ErrorIs(t, err, redisfilter.ErrLost, "%s, %s", name, call)
				require.NotErrorIs(t, err, redisfilter.ErrUnknown)
				require.ErrorIs(t, do(f), redisfilter.ErrLost, "and until Reopen")
			}
			require.Equal(t, after, value(), "%s, %s: nothing is changed", name, call)
			s.Client.Del(bg, "w")
			require.NoError(t, adder.Reopen(bg))
			require.NoError(t, asker.Reopen(bg))
			for _, f := range []*Filter{adder, asker} {
				_, err := f.AddString(bg, fmt.Sprint(f == adder))
				require.NoError(t, err)
			}
		}
	}
}

// TestRollback has the server go back to an older value, and others add more than was lost.
func TestRollback(t *testing.T) {
	s := redistest.Start(t)
	for _, ask := range []bool{false, true} {
		for _, before := range []int{0, 1, 20} { // adds of the handle that the older value has
			require.NoError(t, s.Client.FlushAll(bg).Err())
			f, other := open(t, s.Client, 1000, 1e-6, time.Hour, 4), open(t, s.Client, 1000, 1e-6, time.Hour, 4)
			for i := range before {
				_, err := f.Add(bg, redistest.KeyOf(i))
				require.NoError(t, err)
			}
			older := s.Client.Get(bg, "w").Val()
			_, err := f.AddString(bg, "lost")
			require.NoError(t, err)
			require.NoError(t, s.Client.Set(bg, "w", older, 0).Err())
			for i := range 50 {
				_, err := other.Add(bg, redistest.KeyOf(100+i))
				require.NoError(t, err, "it has lost nothing")
			}
			if ask {
				_, err = f.ContainsString(bg, "lost")
			} else {
				_, err = f.AddString(bg, "new")
			}
			require.ErrorIs(t, err, redisfilter.ErrLost)
			require.NoError(t, f.Reopen(bg))
			added, err := f.AddString(bg, "lost")
			require.NoError(t, err)
			require.True(t, added)
		}
	}
}

// TestSlots: more handles than slots. One that has lost its slot is told.
func TestSlots(t *testing.T) {
	s := redistest.Start(t)
	setClock(t, s, start)
	first := open(t, s.Client, 1000, 1e-6, time.Hour, 4, testClock)
	require.Equal(t, 16, first.layout.slots)
	_, err := first.AddString(bg, "first")
	require.NoError(t, err)
	for i := range 16 {
		setClock(t, s, start+int64(i+1)*1000)
		f := open(t, s.Client, 1000, 1e-6, time.Hour, 4, testClock)
		added, err := f.AddString(bg, fmt.Sprint(i))
		require.NoError(t, err)
		require.True(t, added)
		found, err := f.ContainsString(bg, "first")
		require.NoError(t, err)
		require.True(t, found)
	}
	_, err = first.ContainsString(bg, "first")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.NoError(t, first.Reopen(bg))
	added, err := first.AddString(bg, "first")
	require.NoError(t, err)
	require.False(t, added)

	// One that only asks keeps its slot.
	others := func(n int, at int64) {
		setClock(t, s, at)
		for i := range n {
			f := open(t, s.Client, 1000, 1e-6, time.Hour, 4, testClock)
			_, err := f.AddString(bg, fmt.Sprint(at, i))
			require.NoError(t, err)
		}
	}
	others(15, start+50_000)
	setClock(t, s, start+100_000)
	_, err = first.ContainsString(bg, "first")
	require.NoError(t, err)
	others(1, start+110_000)
	_, err = first.ContainsString(bg, "first")
	require.NoError(t, err)
}

// TestServerForgetsScripts, and refuses them.
func TestServerForgetsScripts(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 1e-6, time.Hour, 4)
	for i := range 3 {
		require.NoError(t, s.Client.ScriptFlush(bg).Err())
		added, err := f.Add(bg, redistest.KeyOf(i))
		require.NoError(t, err)
		require.True(t, added)
		require.NoError(t, s.Client.ScriptFlush(bg).Err())
		found, err := f.Contains(bg, redistest.KeyOf(i))
		require.NoError(t, err)
		require.True(t, found)
	}
	require.NoError(t, s.Client.ConfigSet(bg, "maxmemory", "100kb").Err())
	_, err := f.AddString(bg, "a")
	require.ErrorContains(t, err, "maxmemory")
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	found, err := f.Contains(bg, redistest.KeyOf(0))
	require.NoError(t, err, "asking needs no memory")
	require.True(t, found)
	require.NoError(t, s.Client.ConfigSet(bg, "maxmemory", "0").Err())
	require.NoError(t, s.Client.Do(bg, "ACL", "SETUSER", "default", "-@scripting").Err())
	_, err = f.AddString(bg, "a")
	require.ErrorContains(t, err, "ACL must allow EVAL")
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
}

// TestContexts: a call ends with its context, and does not add before it began.
func TestContexts(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 1e-6, time.Hour, 4)
	ended, cancel := context.WithCancel(bg)
	cancel()
	_, err := f.AddString(ended, "a")
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	_, err = f.ContainsString(ended, "a")
	require.ErrorIs(t, err, context.Canceled)
	added, err := f.AddString(bg, "a")
	require.NoError(t, err)
	require.True(t, added)
}

// TestCanceled: no reply while anybody waits is unknown. What was on its way arrives late, and does no harm.
func TestCanceled(t *testing.T) {
	s := redistest.Start(t)
	p := redistest.StartProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr})
	defer client.Close()
	f := open(t, client, 1000, 1e-6, time.Hour, 4)
	_, err := f.AddString(bg, "before")
	require.NoError(t, err)
	var sending atomic.Pointer[context.CancelFunc]
	client.AddHook(redistest.Hook(func(_ []redis.Cmder, send func() error) error {
		if cancel := sending.Load(); cancel != nil {
			(*cancel)()
		}
		return send()
	}))
	for i := range 2 * lanes {
		p.Silent.Lock()
		ctx, cancel := context.WithCancel(bg)
		sending.Store(&cancel)
		_, err := f.Add(ctx, redistest.KeyOf(i))
		sending.Store(nil)
		p.Silent.Unlock()
		cancel()
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, redisfilter.ErrUnknown)
	}
	n, err := f.AddMany(bg, redistest.KeysOf(100, 200), nil)
	require.NoError(t, err, "the handle goes on")
	require.Equal(t, 100, n)
	added, err := f.AddString(bg, "before")
	require.NoError(t, err)
	require.False(t, added)
}

// TestEviction lets other keys push the filter out.
func TestEviction(t *testing.T) {
	s := redistest.Start(t, "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-random")
	f := open(t, s.Client, 10_000, 0.01, time.Hour, 4)
	_, err := f.AddMany(bg, redistest.KeysOf(0, 1000), nil)
	require.NoError(t, err)
	redistest.Evict(t, s.Client, "w")
	_, err = f.ContainsMany(bg, redistest.KeysOf(0, 1000), nil)
	require.ErrorIs(t, err, redisfilter.ErrLost)
	_, err = f.AddString(bg, "a")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	require.Zero(t, s.Client.Exists(bg, "w").Val(), "no orphan")
}

// TestReplica: WithWait, and the value of the primary on a replica that takes over.
func TestReplica(t *testing.T) {
	primary := redistest.Start(t, "--repl-diskless-sync-delay", "0")
	replica := redistest.Start(t, "--replicaof", "127.0.0.1 "+fmt.Sprint(primary.Port))
	redistest.AwaitReplica(t, primary)
	f := open(t, primary.Client, 1000, 1e-6, time.Hour, 4, WithWait(1, 2*time.Second))
	n, err := f.AddMany(bg, redistest.KeysOf(0, 100), nil)
	require.NoError(t, err)
	require.Equal(t, 100, n)
	require.NoError(t, replica.Client.ReplicaOf(bg, "NO", "ONE").Err())
	added := make([]bool, 1)
	n, err = f.AddMany(bg, redistest.KeysOf(100, 101), added)
	require.ErrorIs(t, err, redisfilter.ErrReplicas)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	require.Equal(t, 1, n)
	require.True(t, added[0])
	primary.Kill()
	f.key.Sender.Client = replica.Client
	f.key.Sender.Replicas = 0
	_, err = f.ContainsMany(bg, redistest.KeysOf(0, 100), nil)
	require.ErrorIs(t, err, redisfilter.ErrLost, "the last add is not there")
	require.NoError(t, f.Reopen(bg))
	n, err = f.ContainsMany(bg, redistest.KeysOf(0, 100), nil)
	require.NoError(t, err)
	require.Equal(t, 100, n)
}
