package redisfilter_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// isAdd reports whether a command adds; the scripts that add are recognised by their number of
// arguments.
func isAdd(cmd redis.Cmder) bool {
	return strings.HasPrefix(cmd.Name(), "eval") && len(cmd.Args()) >= 14
}

// client returns a client of a server with a hook.
func client(t testing.TB, addr string, hook redistest.Hook) *redis.Client {
	c := redistest.Connect(t, &redis.Options{Addr: addr, ReadTimeout: 30 * time.Second})
	if hook != nil {
		c.AddHook(hook)
	}
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

// TestCacheWaitsForReplicas: a key that a lookup has seen is not added without the replicas.
func TestCacheWaitsForReplicas(t *testing.T) {
	s := redistest.Start(t)
	wait := redisfilter.WithWait(1, 10*time.Millisecond)
	x, y := open(t, s.Client, 1000, 0.01, wait), open(t, s.Client, 1000, 0.01, wait)
	added, err := x.Add(bg, keyOf(0))
	require.ErrorIs(t, err, redisfilter.ErrReplicas)
	require.True(t, added, "the answer is valid")
	require.Equal(t, []int{0}, redisfilter.UnsureOf(err), "a failover may forget the key, and then another one wins it")
	n, err := x.AddMany(bg, [][]byte{keyOf(0), keyOf(1)}, nil)
	require.ErrorIs(t, err, redisfilter.ErrReplicas)
	require.Equal(t, 1, n)
	require.Equal(t, []int{1}, redisfilter.UnsureOf(err))
	for range 2 {
		found, err := y.Contains(bg, keyOf(0))
		require.NoError(t, err)
		require.True(t, found)
		added, err = y.Add(bg, keyOf(0))
		require.ErrorIs(t, err, redisfilter.ErrReplicas)
		require.False(t, added)
		require.Empty(t, redisfilter.UnsureOf(err))
	}
}

// TestWaitWrites: an add WithWait of a known key writes, too. Otherwise WAIT of Redis 7.4 and later, which covers only
// the connection's own writes, would confirm it at once.
func TestWaitWrites(t *testing.T) {
	changes := regexp.MustCompile(`rdb_changes_since_last_save:(\d+)`)
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		f := k.open(t, s.Client, redisfilter.WithWait(1, 2*time.Millisecond), noCache)
		_, err := f.AddMany(bg, keysOf(0, 10), nil)
		require.ErrorIs(t, err, redisfilter.ErrReplicas)
		written := func() string { return changes.FindStringSubmatch(s.Client.Info(bg, "persistence").Val())[1] }
		for name, call := range map[string]func() error{
			"Add":     func() error { _, err := f.Add(bg, keyOf(0)); return err },
			"AddMany": func() error { _, err := f.AddMany(bg, keysOf(0, 10), nil); return err },
		} {
			before := written()
			require.ErrorIs(t, call(), redisfilter.ErrReplicas, name)
			require.NotEqual(t, before, written(), name)
		}
	})
}

// TestHungShard: a shard whose server does not answer takes neither the answers of the other shards
// in a batch nor the single adds to them.
func TestHungShard(t *testing.T) {
	hung := make(chan struct{})
	var silent atomic.Pointer[string] // the name of a shard
	var replies atomic.Int32          // to adds, since then
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	c := redistest.StartCluster(t, 3, false).Client()
	c.OnNewNode(func(node *redis.Client) {
		node.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
			err := send()
			if name := silent.Load(); name != nil {
				if isAdd(cmds[0]) && replies.Add(1) == 3 { // of all shards
					time.AfterFunc(500*time.Millisecond, cancel)
				}
				for _, cmd := range cmds {
					if args := cmd.Args(); len(args) > 3 && args[3] == *name {
						<-hung
					}
				}
			}
			return err
		}))
	})
	defer close(hung)
	f := open(t, c, 3000, 0.001, noCache, redisfilter.WithShards(3))
	_, err := f.AddMany(bg, keysOf(0, 300), nil) // takes the slots
	require.NoError(t, err)
	silent.Store(&f.Keys()[1])
	added := make([]bool, 300)
	_, err = f.AddMany(ctx, keysOf(1000, 1300), added)
	var failed *redisfilter.AddError
	require.ErrorAs(t, err, &failed)
	require.InDelta(t, 100, len(failed.Unsure), 50)
	require.Empty(t, failed.NotAdded)
	require.Equal(t, 300, count(added), "the other shards have answered, and the keys of this one may be new")

	// More single adds to the shard than go side by side, then one of each key of the other shards.
	stuck, cancel := context.WithCancel(bg)
	defer cancel()
	for _, i := range failed.Unsure {
		go f.Add(stuck, keyOf(1000+i))
	}
	for i := range added {
		if !slices.Contains(failed.Unsure, i) {
			_, err := f.Add(bg, keyOf(1000+i))
			require.NoError(t, err)
		}
	}
}

// TestLookupsWriteNothing: a handle looks up on a server that takes no writes, and a handle that has not added does so,
// too.
func TestLookupsWriteNothing(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		f, g := k.open(t, s.Client, noCache), k.open(t, s.Client, noCache)
		_, err := f.Add(bg, keyOf(0))
		require.NoError(t, err)
		for setting, hint := range map[string]string{
			"min-replicas-to-write": "bring the replicas up", "maxmemory": "the server is at maxmemory",
		} {
			require.NoError(t, s.Client.ConfigSet(bg, setting, "1").Err())
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
			require.Empty(t, redisfilter.UnsureOf(err))
			require.NotErrorIs(t, err, redisfilter.ErrLost)
			require.ErrorContains(t, err, hint)
			require.NoError(t, s.Client.ConfigSet(bg, setting, "0").Err())
		}
	})
}

// TestTTL: a filter that a joined handle makes anew after its expiry expires again.
func TestTTL(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		k.open(t, s.Client)
		_, err := redisfilter.Open(bg, s.Client, "f", k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], redisfilter.WithTTL(time.Hour))...)
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
		require.ErrorContains(t, err, "no time to live")
		s.Client.FlushAll(bg)
		k.open(t, s.Client, redisfilter.WithTTL(time.Hour))
		require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
		joined, err := redisfilter.Join(bg, s.Client, "f")
		require.NoError(t, err)
		_, err = joined.Add(bg, keyOf(0))
		require.NoError(t, err)
		require.NoError(t, s.Client.Del(bg, "f").Err()) // as its expiry does
		_, err = joined.Contains(bg, keyOf(1))
		require.ErrorIs(t, err, redisfilter.ErrLost)
		_, err = joined.Add(bg, keyOf(1))
		require.NoError(t, err)
		require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
	})
}

// TestExpired: a filter that has expired by the server's clock was not lost. Lookups answer false, the next add makes
// it anew, and all shards get one expiry, so that no part expires before the others.
func TestExpired(t *testing.T) {
	s := redistest.Start(t)
	slow := client(t, s.Addr, func(_ []redis.Cmder, send func() error) error {
		time.Sleep(5 * time.Millisecond) // otherwise the shards may be made in one millisecond
		return send()
	})
	for _, k := range kinds[:3] {
		t.Run(k.name, func(t *testing.T) {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			opts := []option{redisfilter.WithShards(5), redisfilter.WithTTL(time.Second)}
			f, asks := k.open(t, slow, opts...), k.open(t, s.Client, opts...)
			_, err := f.AddMany(bg, keysOf(0, 50), nil)
			require.NoError(t, err)
			redistest.Eventually(t, "it expires", func() error {
				if n := s.Client.Exists(bg, f.Keys()...).Val(); n > 0 {
					return fmt.Errorf("%d shards", n)
				}
				return nil
			})
			for _, h := range []*filter{f, asks} {
				n, err := h.ContainsMany(bg, keysOf(0, 50), nil)
				require.NoError(t, err)
				require.Zero(t, n)
				found, err := h.Contains(bg, keyOf(0))
				require.NoError(t, err)
				require.False(t, found)
				require.Zero(t, s.Client.Exists(bg, f.Keys()...).Val(), "lookups make nothing")
			}
			n, err := f.AddMany(bg, keysOf(0, 50), nil)
			require.NoError(t, err)
			require.Equal(t, 50, n)
			expiries := map[string]bool{}
			// On a busy machine, the shards may expire before they are read.
			redistest.Eventually(t, "the shards are there", func() error {
				_, err := f.AddMany(bg, keysOf(0, 50), nil)
				require.NoError(t, err)
				clear(expiries)
				for _, value := range s.Client.MGet(bg, f.Keys()...).Val() {
					text, ok := value.(string)
					if !ok {
						return errors.New("expired")
					}
					expiries[text[96:104]] = true
				}
				return nil
			})
			require.Len(t, expiries, 1)
			require.Zero(t, f.Metrics()["redis_lost"]+asks.Metrics()["redis_lost"])
		})
	}
}

// TestOtherHeaders: a header of another version says so, and forged numbers are refused at the cost of
// a few looks.
func TestOtherHeaders(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		k.open(t, s.Client)
		value := save(t, s)
		for at, want := range map[int]string{
			8: "layout version 99", 0: "does not hold a filter of this package", 24: "with another seed, secret or hash of this name",
		} {
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

// TestDamagedClock: lookups and adds to a window whose header has an impossible generation or shift end with an error.
func TestDamagedClock(t *testing.T) {
	s := redistest.Start(t)
	for _, at := range []int{80, 104} { // the latest generation and the shift
		for _, damage := range []float64{math.Inf(1), 1 << 53, 1 << 60, math.MaxFloat64} {
			s.Client.FlushAll(bg)
			f, err := redisfilter.Open(bg, s.Client, "f", 100, 0.01, redisfilter.WithGenerations(time.Hour, 2))
			require.NoError(t, err)
			_, err = f.Add(bg, keyOf(1))
			require.NoError(t, err)
			value := []byte(save(t, s))
			binary.LittleEndian.PutUint64(value[at:], math.Float64bits(damage))
			restore(t, s, string(value))
			_, err = f.Contains(bg, keyOf(2))
			require.ErrorIs(t, err, redisfilter.ErrLost, "%v at %d", damage, at)
			ctx, cancel := context.WithTimeout(bg, 10*time.Second)
			_, err = f.Add(ctx, keyOf(2))
			cancel()
			require.ErrorIs(t, err, redisfilter.ErrMismatch, "%v at %d", damage, at)
		}
	}
}

// TestLost: whatever happens to the value, the next call of each kind says so, and the next add goes on.
func TestLost(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for what, do := range map[string]func(f *filter){
			"deleted":   func(*filter) { s.Client.Del(bg, "f") },
			"flushed":   func(*filter) { s.Client.FlushAll(bg) },
			"expired":   func(*filter) { s.Client.PExpireAt(bg, "f", time.Unix(1, 0)) },
			"cut":       func(f *filter) { restore(t, s, save(t, s)[:sizeOf(s, f)/2]) },
			"cut short": func(f *filter) { restore(t, s, save(t, s)[:200]) },
			"list":      func(*filter) { s.Client.Del(bg, "f"); s.Client.LPush(bg, "f", 1) },
			"made anew": func(*filter) {
				s.Client.Del(bg, "f")
				other := k.open(t, s.Client, noCache)
				_, err := other.AddMany(bg, keysOf(0, 30), nil)
				require.NoError(t, err)
			},
			"Delete": func(*filter) { require.NoError(t, k.open(t, s.Client).Delete(bg)) },
		} {
			for _, hasAdded := range []bool{true, false} {
				for name, call := range calls {
					s.Client.FlushAll(bg)
					f := k.open(t, s.Client)
					if hasAdded {
						_, err := f.AddMany(bg, keysOf(0, 10), nil)
						require.NoError(t, err)
					}
					do(f)
					err := call(f, 100)
					where := fmt.Sprint(what, hasAdded, name)
					if what == "list" {
						require.ErrorIs(t, err, redisfilter.ErrMismatch, where)
						continue
					}
					require.ErrorIs(t, err, redisfilter.ErrLost, where)
					require.Empty(t, redisfilter.UnsureOf(err), where)
					require.EqualValues(t, 1, f.Metrics()["redis_lost"], where)
					if what != "made anew" && name != "AddMany" { // which has made it
						_, err = f.Contains(bg, keyOf(0))
						require.ErrorIs(t, err, redisfilter.ErrLost, "%s: lookups make nothing", where)
					}
					_, err = f.Add(bg, keyOf(1000))
					require.NoError(t, err, where)
				}
			}
		}
	})
}

// TestBadArguments: what Open refuses, before anything is sent.
func TestBadArguments(t *testing.T) {
	c := redistest.Connect(t, &redis.Options{Addr: "127.0.0.1:1", ReadTimeout: 3 * time.Second})
	for want, err := range map[string]error{
		"empty name":              second(redisfilter.Open(bg, c, "", 10, 0.1)),
		"no braces":               second(redisfilter.Open(bg, c, "a{", 10, 0.1)),
		"p = 1":                   second(redisfilter.Open(bg, c, "f", 10, 1)),
		"option 1 of 1 is nil":    second(redisfilter.Open(bg, c, "f", 10, 0.1, nil)),
		"TTL 1ms":                 second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithTTL(time.Millisecond))),
		"-1 shards":               second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithShards(-1))),
		"WithGrowth and":          second(redisfilter.Open(bg, c, "f", 10, 0.1, growth, window)),
		"0 generations":           second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithGenerations(time.Hour, 0))),
		"generations of 99ms":     second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithGenerations(99*time.Millisecond, 2))),
		"n = 0":                   second(redisfilter.Open(bg, c, "f", 0, 0.1)),
		"in layer 0":              second(redisfilter.Open(bg, c, "f", 10, 1e-12, growth)),
		"in each of 3":            second(redisfilter.Open(bg, c, "f", 10, 1e-12, window)),
		"17 generations":          second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithGenerations(time.Hour, 17))),
		"want Blocked":            second(redisfilter.Open(bg, c, "f", 10, 0.1, redisfilter.WithBloom(bloom.WithStrategy(bloom.DoubleHashing)))),
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
		require.True(t, strings.HasPrefix(err.Error(), "redisfilter: "), err)
		require.Equal(t, 1, strings.Count(err.Error(), "filter: ")+strings.Count(err.Error(), "bloom: "), err)
	}
	for _, client := range []redis.UniversalClient{(*redis.Client)(nil), (*redis.ClusterClient)(nil), (*redis.Ring)(nil)} {
		_, err := redisfilter.Join(bg, client, "f")
		require.ErrorIs(t, err, bloom.ErrInvalid)
		require.ErrorContains(t, err, "no client")
	}
	_, err := redisfilter.Open(bg, c, "f", 1e13, 0.001)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = redisfilter.Open(bg, c, "f", 1e6, 0.001, redisfilter.WithBloom(bloom.WithMaxBytes(1000)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

func second(_ *filter, err error) error { return err }
