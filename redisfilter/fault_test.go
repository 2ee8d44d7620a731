package redisfilter_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/rediscluster"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// isAdd reports whether a command adds; the scripts that add are recognised by their number of
// arguments.
func isAdd(cmd redis.Cmder) bool {
	return strings.HasPrefix(cmd.Name(), "eval") && len(cmd.Args()) >= 12
}

// client returns a client of a server with a hook.
func client(t testing.TB, addr string, hook redistest.Hook) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, ReadTimeout: 30 * time.Second})
	if hook != nil {
		c.AddHook(hook)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// save returns the value of key f, and restore puts it back as a rollback does.
func save(t testing.TB, s *redistest.Server) string {
	v, err := s.Client.Get(bg, "f").Result()
	require.NoError(t, err)
	return v
}

func restore(t testing.TB, s *redistest.Server, value string) {
	require.NoError(t, s.Client.Set(bg, "f", value, 0).Err())
}

// TestRollback: the server goes back by some confirmed adds of a handle; others add, and adds of
// the handle are executed whose replies are lost. The handle gets ErrLost, from each kind of call.
func TestRollback(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for back := 1; back <= 3; back++ {
			for lost := 0; lost <= 3; lost++ {
				for _, call := range []string{"Add", "Contains", "AddMany", "ContainsMany", "Close", "Stats"} {
					var cut atomic.Bool
					c := client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
						err := send()
						if cut.Load() && isAdd(cmds[0]) {
							cmds[0].SetErr(io.EOF)
							return io.EOF
						}
						return err
					})
					s.Client.FlushAll(bg)
					f, other := k.open(t, c, noFront), k.open(t, s.Client, noFront)
					_, err := f.AddMany(bg, keysOf(0, 10), nil)
					require.NoError(t, err)
					old := save(t, s)
					for i := range back {
						_, err := f.Add(bg, keyOf(100+i))
						require.NoError(t, err)
					}
					restore(t, s, old)
					_, err = other.AddMany(bg, keysOf(500, 520), nil)
					require.NoError(t, err)
					cut.Store(true)
					for i := range lost {
						_, err := f.Add(bg, keyOf(200+i))
						require.Error(t, err)
					}
					cut.Store(false)
					switch call {
					case "Add":
						_, err = f.Add(bg, keyOf(300))
					case "Contains":
						_, err = f.Contains(bg, keyOf(0))
					case "AddMany":
						_, err = f.AddMany(bg, keysOf(0, 5), nil)
					case "ContainsMany":
						_, err = f.ContainsMany(bg, keysOf(0, 5), nil)
					case "Close":
						err = f.Close(bg)
					case "Stats":
						_, err = f.Stats(bg)
					}
					require.ErrorIs(t, err, redisfilter.ErrLost, "back %d, lost %d, %s", back, lost, call)
					if call != "Close" {
						require.NoError(t, f.Reopen(bg))
						_, err = f.Add(bg, keyOf(300))
						require.NoError(t, err)
					}
				}
			}
		}
	})
}

// TestMergeRollback: a merge that the server forgets is noticed.
func TestMergeRollback(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 0.01, noFront)
	_, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
	old := save(t, s)
	local, err := redisfilter.NewLocal(1000, 0.01)
	require.NoError(t, err)
	local.Add(keyOf(1))
	require.NoError(t, f.Merge(bg, local.Filters()...))
	found, err := f.Contains(bg, keyOf(1))
	require.NoError(t, err)
	require.True(t, found)
	restore(t, s, old)
	_, err = f.Contains(bg, keyOf(1))
	require.ErrorIs(t, err, redisfilter.ErrLost)
}

// TestFrontWaitsForReplicas: a key that a lookup has seen is not added without the replicas.
func TestFrontWaitsForReplicas(t *testing.T) {
	s := redistest.Start(t)
	wait := redisfilter.WithWait(1, 10*time.Millisecond)
	x, y := open(t, s.Client, 1000, 0.01, wait), open(t, s.Client, 1000, 0.01, wait)
	added, err := x.Add(bg, keyOf(0))
	require.ErrorIs(t, err, redisfilter.ErrReplicas)
	require.True(t, added, "the answer is valid")
	for range 2 {
		found, err := y.Contains(bg, keyOf(0))
		require.NoError(t, err)
		require.True(t, found)
		added, err = y.Add(bg, keyOf(0))
		require.ErrorIs(t, err, redisfilter.ErrReplicas)
		require.False(t, added)
	}
}

// TestHungShard: a shard whose server does not answer takes neither the answers of the other shards
// in a batch nor the single adds to them.
func TestHungShard(t *testing.T) {
	redistest.Program(t, "redis-server")
	cluster, err := rediscluster.Start(bg, 3, false)
	require.NoError(t, err)
	t.Cleanup(cluster.Stop)
	hung := make(chan struct{})
	var silent atomic.Pointer[string] // the name of a shard
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	t.Cleanup(func() { c.Close() })
	c.OnNewNode(func(node *redis.Client) {
		node.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
			if name := silent.Load(); name != nil {
				for _, cmd := range cmds {
					if args := cmd.Args(); len(args) > 3 && args[3] == *name {
						<-hung
					}
				}
			}
			return send()
		}))
	})
	defer close(hung)
	f := open(t, c, 3000, 0.001, noFront, redisfilter.WithShards(3))
	_, err = f.AddMany(bg, keysOf(0, 300), nil) // takes the slots
	require.NoError(t, err)
	silent.Store(&f.Keys()[1])
	ctx, cancel := context.WithTimeout(bg, 500*time.Millisecond)
	defer cancel()
	added := make([]bool, 300)
	_, err = f.AddMany(ctx, keysOf(1000, 1300), added)
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok, err)
	require.InDelta(t, 100, len(failed.Unknown), 50)
	require.Empty(t, failed.NotAdded)
	require.Equal(t, 300-len(failed.Unknown), count(added), "the other shards have answered")

	// More single adds to the shard than go side by side, then one to each other shard.
	stuck, cancel := context.WithCancel(bg)
	defer cancel()
	for _, i := range failed.Unknown {
		go f.Add(stuck, keyOf(2000+i))
	}
	answered := 0
	for i := range 60 {
		ctx, cancel := context.WithTimeout(bg, 200*time.Millisecond)
		if _, err := f.Add(ctx, keyOf(3000+i)); err == nil {
			answered++
		}
		cancel()
		if answered == 20 {
			break
		}
	}
	require.Equal(t, 20, answered)
}

// TestClaimWithoutReply: a handle whose claims are executed without a reply takes one slot, and adds
// with it as soon as a reply comes.
func TestClaimWithoutReply(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		living := k.open(t, s.Client, noFront)
		_, err := living.Add(bg, keyOf(0))
		require.NoError(t, err)
		var cut atomic.Bool
		cut.Store(true)
		c := client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
			err := send()
			if cut.Load() && strings.HasPrefix(cmds[0].Name(), "eval") && len(cmds[0].Args()) == 6 { // a claim
				cmds[0].SetErr(context.DeadlineExceeded)
				return context.DeadlineExceeded
			}
			return err
		})
		f := k.open(t, c, noFront)
		for i := range 200 {
			_, err := f.Add(bg, keyOf(i))
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, redisfilter.ErrUnknown)
		}
		cut.Store(false)
		_, err = f.Add(bg, keyOf(1))
		require.NoError(t, err)
		_, err = living.Add(bg, keyOf(2))
		require.NoError(t, err)
	})
}

// TestManyHandles: 64 handles add side by side, the next one gets an error that says why, and
// takes the slot that another gives back. Lookups need no slot.
func TestManyHandles(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		var handles []*filter
		var err error
		for err == nil {
			f := k.open(t, s.Client, noFront)
			if _, err = f.Add(bg, keyOf(len(handles))); err == nil {
				handles = append(handles, f)
			}
			require.Less(t, len(handles), 1000)
		}
		require.ErrorIs(t, err, redisfilter.ErrHandles)
		require.ErrorContains(t, err, "too many handles")
		require.NotErrorIs(t, err, redisfilter.ErrUnknown)
		require.GreaterOrEqual(t, len(handles), 64)
		for i, f := range handles {
			_, err := f.Add(bg, keyOf(100_000+i))
			require.NoError(t, err)
		}
		late := k.open(t, s.Client, noFront)
		found, err := late.Contains(bg, keyOf(1))
		require.NoError(t, err)
		require.True(t, found)
		require.NoError(t, handles[7].Close(bg))
		_, err = handles[7].Add(bg, keyOf(1))
		require.ErrorContains(t, err, "closed")
		_, err = late.Add(bg, keyOf(900_000))
		require.NoError(t, err)
	})
}

// TestSlotIsRenewed: an add renews the time of an old slot, so that another handle does not get it.
func TestSlotIsRenewed(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		f := k.open(t, s.Client, noFront)
		_, err := f.Add(bg, keyOf(0))
		require.NoError(t, err)
		value := save(t, s)
		at := 192 + strings.Index(value[192:], value[16:24]) - 24*int(binary.LittleEndian.Uint16([]byte(value[14:]))) + 16
		require.NoError(t, s.Client.SetRange(bg, "f", int64(at), strings.Repeat("\x00", 8)).Err())
		f.Age()
		_, err = f.Add(bg, keyOf(1))
		require.NoError(t, err)
		used := math.Float64frombits(binary.LittleEndian.Uint64([]byte(save(t, s)[at:])))
		require.InDelta(t, time.Now().Unix(), used, 60)
	})
}

// TestErrorReplies: the replies that a server gives before it executes a command say that the key was not
// added; any other may be a proxy's.
func TestErrorReplies(t *testing.T) {
	s := redistest.Start(t)
	for text, notAdded := range map[string]bool{
		"OOM command not allowed": true, "READONLY You can't write": true, "MISCONF Redis is": true, "NOREPLICAS Not enough": true,
		"LOADING Redis is": true, "CLUSTERDOWN The cluster is down": true, "MASTERDOWN Link": true, "NOAUTH Authentication required.": true,
		"ERR max number of clients reached":                                                         true,
		"ERR Error running script (call to f_1): @user_script:3: -OOM command not allowed":          true,
		"ERR Error running script (call to f_1): @user_script: 12: @user_script: 12: -READONLY You": true,
		"ERR Connection timed out":                                                                  false, "upstream failure": false, "ERR no such host": false, "ERR Error running script: x": false,
	} {
		var fail atomic.Bool
		c := client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
			err := send()
			if fail.Load() {
				err = proto(text)
				cmds[0].SetErr(err)
			}
			return err
		})
		s.Client.FlushAll(bg)
		f := open(t, c, 1000, 0.01, noFront)
		_, err := f.Add(bg, keyOf(0))
		require.NoError(t, err)
		fail.Store(true)
		_, err = f.Add(bg, keyOf(1))
		failed, ok := errors.AsType[*redisfilter.AddError](err)
		require.True(t, ok, text)
		require.Equal(t, notAdded, len(failed.NotAdded) == 1, text)
		require.Equal(t, !notAdded, errors.Is(err, redisfilter.ErrUnknown), text)
		require.NotErrorIs(t, err, redisfilter.ErrLost)
	}
}

// A proto is an error reply.
type proto string

func (p proto) Error() string { return string(p) }
func (proto) RedisError()     {}

// TestLookupsWriteNothing: a handle looks up on a server that takes no writes, also when its slot's time is to be
// renewed, and a handle that has not added does so, too.
func TestLookupsWriteNothing(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		f, g := k.open(t, s.Client, noFront), k.open(t, s.Client, noFront)
		_, err := f.Add(bg, keyOf(0))
		require.NoError(t, err)
		for setting, hint := range map[string][2]string{"min-replicas-to-write": {"1", "bring the replicas up"}, "maxmemory": {"1", "the server is at maxmemory"}} {
			require.NoError(t, s.Client.ConfigSet(bg, setting, hint[0]).Err())
			f.Age()
			for _, h := range []*filter{f, g} {
				found, err := h.Contains(bg, keyOf(0))
				require.NoError(t, err, setting)
				require.True(t, found)
				_, err = h.ContainsMany(bg, keysOf(0, 20), nil)
				require.NoError(t, err, setting)
				_, err = h.Stats(bg)
				require.NoError(t, err, setting)
			}
			_, err := f.Add(bg, keyOf(1))
			require.NotErrorIs(t, err, redisfilter.ErrUnknown)
			require.NotErrorIs(t, err, redisfilter.ErrLost)
			require.ErrorContains(t, err, hint[1])
			require.NoError(t, s.Client.ConfigSet(bg, setting, "0").Err())
		}
	})
}

// TestMemory: a value takes in Redis what SizeBytes says, to within a quarter: the allocator has four
// sizes per doubling.
func TestMemory(t *testing.T) {
	s := redistest.Start(t)
	for _, n := range []uint64{1000, 10_000, 100_000, 1_000_000} {
		for name, opts := range map[string][]option{"plain": nil, "growth": {growth}, "window": {window}} {
			s.Client.FlushAll(bg)
			f := open(t, s.Client, n, 0.01, append(opts, noFront, redisfilter.WithShards(1))...)
			if name == "plain" {
				local, err := redisfilter.NewLocal(n, 0.01, redisfilter.WithShards(1))
				require.NoError(t, err)
				require.NoError(t, f.Push(bg, local.Filters()...))
			}
			used := s.Client.MemoryUsage(bg, "f").Val()
			require.InDelta(t, float64(f.SizeBytes()), float64(used), float64(f.SizeBytes())/4+512, "%s %d", name, n)
		}
	}
}

// TestTTL: a filter that a joined handle makes anew after its expiry expires again.
func TestTTL(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		maker := k.open(t, s.Client, redisfilter.WithTTL(time.Hour))
		require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
		joined, err := redisfilter.Join(bg, s.Client, "f")
		require.NoError(t, err)
		_, err = joined.Add(bg, keyOf(0))
		require.NoError(t, err)
		require.NoError(t, s.Client.Del(bg, "f").Err()) // as its expiry does
		_, err = joined.Contains(bg, keyOf(1))
		require.ErrorIs(t, err, redisfilter.ErrLost)
		require.NoError(t, joined.Reopen(bg))
		require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
		require.NoError(t, s.Client.PExpire(bg, "f", time.Millisecond).Err())
		redistest.Eventually(t, "it expires", func() error {
			if s.Client.Exists(bg, "f").Val() != 0 {
				return errors.New("it is there")
			}
			return nil
		})
		_, err = maker.Contains(bg, keyOf(1))
		require.ErrorIs(t, err, redisfilter.ErrLost)
		require.NoError(t, maker.Reopen(bg))
		require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
	})
}

// TestOtherHeaders: a header of another version says so, and forged numbers are refused at the cost of
// a few looks.
func TestOtherHeaders(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		k.open(t, s.Client)
		value := save(t, s)
		for at, want := range map[int]string{8: "layout version 99", 0: "no filter of this package", 24: "was made for"} {
			forged := []byte(value)
			forged[at] = 99
			restore(t, s, string(forged))
			_, err := redisfilter.Open(bg, s.Client, "f", k.n, k.p, k.opts...)
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
			require.ErrorContains(t, err, want)
			_, err = redisfilter.Join(bg, s.Client, "f")
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
			require.Equal(t, string(forged), save(t, s), "it is left alone")
		}
		forged := []byte(value)
		forged[10], forged[11] = 0, 0x10 // 4096 shards
		restore(t, s, string(forged))
		var commands atomic.Int64
		c := client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
			commands.Add(int64(len(cmds)))
			return send()
		})
		_, err := redisfilter.Join(bg, c, "f")
		require.Error(t, err)
		require.Less(t, commands.Load(), int64(200))
		forged[11] = 0xff
		restore(t, s, string(forged))
		_, err = redisfilter.Join(bg, c, "f")
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
	})
}

// TestUnreachable: without a server, the error says so, also after the client's retries of a pipeline.
func TestUnreachable(t *testing.T) {
	s := redistest.Start(t)
	s.Client = redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetryBackoff: -1})
	f, err := redisfilter.Open(bg, s.Client, "f", 10_000, 1e-3, redisfilter.WithShards(4))
	require.NoError(t, err)
	s.Kill()
	_, err = f.ContainsMany(bg, redistest.KeysOf(0, 100), make([]bool, 100))
	require.ErrorContains(t, err, "connect")
	_, err = redisfilter.Open(bg, s.Client, "g", 10_000, 1e-3)
	require.ErrorContains(t, err, "connect")
}

// TestLost: whatever happens to the value, the next call of each kind says so, and Reopen goes on.
func TestLost(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for what, do := range map[string]func(f *filter){
			"deleted":   func(*filter) { s.Client.Del(bg, "f") },
			"flushed":   func(*filter) { s.Client.FlushAll(bg) },
			"expired":   func(*filter) { s.Client.PExpireAt(bg, "f", time.Unix(1, 0)) },
			"cut":       func(f *filter) { restore(t, s, save(t, s)[:f.SizeBytes()/2]) },
			"cut short": func(f *filter) { restore(t, s, save(t, s)[:200]) },
			"list":      func(*filter) { s.Client.Del(bg, "f"); s.Client.LPush(bg, "f", 1) },
			"made anew": func(*filter) {
				s.Client.Del(bg, "f")
				other := k.open2(t, s.Client)
				_, err := other.AddMany(bg, keysOf(0, 30), nil)
				require.NoError(t, err)
			},
			"Delete": func(*filter) { require.NoError(t, k.open2(t, s.Client).Delete(bg)) },
		} {
			for _, hasAdded := range []bool{true, false} {
				for call := range 4 {
					s.Client.FlushAll(bg)
					f := k.open(t, s.Client)
					if hasAdded {
						_, err := f.AddMany(bg, keysOf(0, 10), nil)
						require.NoError(t, err)
					}
					do(f)
					var err error
					switch call {
					case 0:
						_, err = f.Add(bg, keyOf(100))
					case 1:
						_, err = f.Contains(bg, keyOf(100))
					case 2:
						_, err = f.AddMany(bg, keysOf(100, 120), nil)
					case 3:
						_, err = f.ContainsMany(bg, keysOf(100, 120), nil)
					}
					where := fmt.Sprint(what, hasAdded, call)
					if what == "list" {
						require.ErrorIs(t, err, redisfilter.ErrMismatch, where)
						require.ErrorIs(t, f.Reopen(bg), redisfilter.ErrMismatch)
						continue
					}
					if what == "cut" && !hasAdded && call%2 == 0 && err == nil {
						continue
					}
					require.ErrorIs(t, err, redisfilter.ErrLost, where)
					require.NotErrorIs(t, err, redisfilter.ErrUnknown, where)
					require.EqualValues(t, 1, f.Counts().Lost, where)
					_, err = f.Contains(bg, keyOf(0))
					require.ErrorIs(t, err, redisfilter.ErrLost, where)
					require.NoError(t, f.Reopen(bg), where)
					require.NoError(t, f.Reopen(bg), where)
					_, err = f.Add(bg, keyOf(1000))
					require.NoError(t, err, where)
				}
			}
		}
	})
}

// TestBadArguments: what Open refuses, before anything is sent.
func TestBadArguments(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer c.Close()
	for want, err := range map[string]error{
		"empty name":              second(redisfilter.Open(bg, c, "", 10, 0.1)),
		"no braces":               second(redisfilter.Open(bg, c, "a{", 10, 0.1)),
		"p = 1":                   second(redisfilter.Open(bg, c, "f", 10, 1)),
		"option 1 of 1 is nil":    second(redisfilter.Open(bg, c, "f", 10, 0.1, nil)),
		"TTL 1ms":                 second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithTTL(time.Millisecond))),
		"-1 shards":               second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithShards(-1))),
		"WithGrowth and":          second(redisfilter.Open(bg, c, "f", 10, 0.1, growth, window)),
		"0 generations":           second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithWindow(time.Hour, 0))),
		"window 1ms":              second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithWindow(time.Millisecond, 2))),
		"with a window":           second(redisfilter.Open(bg, c, "f", 10, 0.1, window, strategy(bloom.DoubleHashing))),
		"no client":               second(redisfilter.Open(bg, nil, "f", 10, 0.1)),
		"client *redis.Ring":      second(redisfilter.Open(bg, redis.NewRing(&redis.RingOptions{}), "f", 10, 0.1)),
		"wait for 0 replicas":     nil,
		"hash is maphash":         second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithBloom(bloom.WithHash(bloom.MapHash)))),
		"reads from replicas":     second(redisfilter.Open(bg, redis.NewClusterClient(&redis.ClusterOptions{ReadOnly: true}), "f", 10, 0.1)),
		"whose ReadTimeout is 3s": second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithWait(1, time.Minute))),
	} {
		if err == nil {
			continue
		}
		require.ErrorIs(t, err, bloom.ErrInvalid, want)
		require.ErrorContains(t, err, want)
	}
	_, err := redisfilter.Open(bg, c, "f", 1e13, 0.001)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = redisfilter.Open(bg, c, "f", 1e6, 0.001, redisfilter.WithBloom(bloom.WithMaxBytes(1000)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

func second(_ *filter, err error) error { return err }
