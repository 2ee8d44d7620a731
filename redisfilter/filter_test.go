package redisfilter_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// TestModel adds and looks up through several handles and compares each answer with a set. With these
// seeds and rates, no key is taken for another.
func TestModel(t *testing.T) {
	each(t, len(kinds), func(t *testing.T, s *redistest.Server, k kind) {
		random := rand.New(rand.NewPCG(1, 2))
		handles := []*filter{k.open(t, s.Client), k.open(t, s.Client, noFront), k.open(t, s.Client)}
		have := map[string]bool{}
		for range 120 {
			f := handles[random.IntN(len(handles))]
			keys := make([][]byte, 1+random.IntN(60))
			for i := range keys {
				keys[i] = keyOf(random.IntN(3000))
			}
			adding := random.IntN(3) > 0
			do := ask
			if adding {
				do = add
			}
			answers, err := do(bg, f, keys)
			require.NoError(t, err)
			for i, key := range keys {
				require.Equal(t, have[string(key)] != adding, answers[i], "key %s, adding %v", key, adding)
				have[string(key)] = have[string(key)] || adding
			}
		}
		for _, f := range handles {
			found, err := ask(bg, f, keysOf(0, 3000))
			require.NoError(t, err)
			for i, yes := range found {
				require.Equal(t, have[string(keyOf(i))], yes, i)
			}
			for i := range 50 {
				yes, err := f.Contains(bg, keyOf(i))
				require.NoError(t, err)
				require.Equal(t, have[string(keyOf(i))], yes)
				added, err := f.Add(bg, keyOf(i))
				require.NoError(t, err)
				require.Equal(t, !have[string(keyOf(i))], added)
				have[string(keyOf(i))] = true
			}
			require.NoError(t, f.Close(bg))
		}
	})
}

// TestOneWinner lets handles add the same keys, each in an order of its own.
func TestOneWinner(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		var handles []*filter
		for range 8 {
			handles = append(handles, k.open(t, s.Client))
		}
		oneWinner(t, 1, 4000, handles)
	})
}

// TestGoroutines: single calls of many goroutines on one handle have one winner per key, and go
// together in fewer commands than there are calls.
func TestGoroutines(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		f := k.open(t, s.Client, noFront)
		const goroutines, keys = 32, 200
		var won [keys]atomic.Int32
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for i := range keys {
					key := keyOf(i) // changed after the call: nothing may keep it
					added, err := f.Add(bg, key)
					if err != nil {
						t.Error(err)
					}
					clear(key)
					if added {
						won[i].Add(1)
					}
				}
			})
		}
		all.Wait()
		for i := range won {
			require.EqualValues(t, 1, won[i].Load(), i)
		}
		require.Less(t, f.Counts().RoundTrips, uint64(goroutines*keys/2))
	})
}

// TestFront: a stream of which nine in ten keys were there before needs few round trips, and known keys no
// allocation.
func TestFront(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 10_000, 1e-6)
	const adds = 10_000
	wins := 0
	for i := range adds {
		n := i / 10
		if i%10 != 0 {
			n = i * 7919 % (i/10 + 1)
		}
		added, err := f.Add(bg, keyOf(n))
		require.NoError(t, err)
		if added {
			wins++
		}
	}
	require.Equal(t, adds/10, wins)
	require.LessOrEqual(t, f.Counts().RoundTrips, uint64(adds/10+20))
	// Another handle learns from looking up.
	g := open(t, s.Client, 10_000, 1e-6)
	_, err := ask(bg, g, keysOf(0, adds/10))
	require.NoError(t, err)
	before := g.Counts().RoundTrips
	n, err := g.AddMany(bg, keysOf(0, adds/10), nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, before, g.Counts().RoundTrips)
	if !raceEnabled { // the race detector makes sync.Pool forget
		key := keyOf(1)
		require.Zero(t, testing.AllocsPerRun(100, func() { f.Add(bg, key); f.Contains(bg, key) }))
	}
	require.NoError(t, f.Close(bg))
	_, err = f.Contains(bg, keyOf(1))
	require.ErrorContains(t, err, "closed")
}

// TestTransfer: a local filter goes to Redis and back byte for byte, with every strategy; Merge keeps
// what is there, Push replaces it and is a loss for others; the expiry stays.
func TestTransfer(t *testing.T) {
	s := redistest.Start(t)
	for _, k := range kinds {
		if !strings.HasPrefix(k.name, "plain") {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			s.Client.FlushAll(bg)
			f, other := k.open(t, s.Client, redisfilter.WithTTL(time.Hour)), k.open(t, s.Client, noFront)
			pushed, err := redisfilter.NewLocal(k.n, k.p, k.opts...)
			require.NoError(t, err)
			for i := range 1000 {
				pushed.Add(keyOf(i))
			}
			_, err = other.AddMany(bg, keysOf(5000, 5010), nil)
			require.NoError(t, err)
			require.NoError(t, f.Merge(bg, pushed.Filters()...))
			n, err := other.ContainsMany(bg, append(keysOf(0, 1000), keysOf(5000, 5010)...), nil)
			require.NoError(t, err)
			require.Equal(t, 1010, n)
			require.NoError(t, f.Push(bg, pushed.Filters()...))
			_, err = other.Contains(bg, keyOf(5000))
			require.ErrorIs(t, err, redisfilter.ErrLost)
			pulled, err := redisfilter.NewLocal(k.n, k.p, k.opts...)
			require.NoError(t, err)
			require.NoError(t, f.Pull(bg, pulled.Filters()...))
			for i, l := range pulled.Filters() {
				require.True(t, l.Equal(pushed.Filters()[i]))
				v := s.Client.Get(bg, f.Keys()[i]).Val()
				b := make([]byte, 0, len(v))
				for j := range l.Words() {
					b = binary.LittleEndian.AppendUint64(b, l.Words()[j].Load())
				}
				require.Equal(t, string(b), v[192:192+len(b)])
			}
			require.True(t, pulled.Contains(keyOf(999)))
			require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
			stats, err := f.Stats(bg)
			require.NoError(t, err)
			require.InEpsilon(t, 1000, stats.EstimatedCount, 0.05)
			require.Equal(t, stats.SizeBytes, f.SizeBytes())
			for _, name := range s.Client.Keys(bg, "*upload*").Val() {
				t.Errorf("%s is left", name)
			}
			wrong, err := redisfilter.NewLocal(k.n*2, k.p, k.opts...)
			require.NoError(t, err)
			require.ErrorIs(t, f.Push(bg, wrong.Filters()...), bloom.ErrIncompatible)
			require.ErrorIs(t, f.Pull(bg), bloom.ErrIncompatible)
			s.Client.Del(bg, f.Keys()[0])
			require.ErrorIs(t, f.Push(bg, pushed.Filters()...), redisfilter.ErrLost)
			require.ErrorIs(t, f.Pull(bg, pushed.Filters()...), redisfilter.ErrLost)
		})
	}
}

// TestRate: the false-positive rate is at most p, for each kind, at full load; for a growing filter
// beyond it.
func TestRate(t *testing.T) {
	s := redistest.Start(t)
	for name, opts := range map[string][]option{
		"plain": nil, "shards": {redisfilter.WithShards(7)}, "DoubleHashing": {strategy(bloom.DoubleHashing)},
		"growth": {growth}, "growth/shards": {growth, redisfilter.WithShards(3)},
	} {
		s.Client.FlushAll(bg)
		f := open(t, s.Client, 3000, 0.01, append(opts, noFront)...)
		n := 3000
		if strings.HasPrefix(name, "growth") {
			n = 20_000
		}
		_, err := f.AddMany(bg, keysOf(0, n), nil)
		require.NoError(t, err)
		const asked = 100_000
		found, err := f.ContainsMany(bg, keysOf(1_000_000, 1_000_000+asked), nil)
		require.NoError(t, err)
		require.Less(t, float64(found), 0.01*asked+4*math.Sqrt(0.01*asked), name) // 4 standard deviations
		stats, err := f.Stats(bg)
		require.NoError(t, err)
		require.InEpsilon(t, n, stats.EstimatedCount, 0.1, name)
		require.InDelta(t, float64(found)/asked, stats.EstimatedFalsePositiveRate, 0.002, name)
	}
}

// TestJoin opens filters of all kinds by their header alone.
func TestJoin(t *testing.T) {
	each(t, len(kinds), func(t *testing.T, s *redistest.Server, k kind) {
		_, err := redisfilter.Join(bg, s.Client, "f")
		require.ErrorIs(t, err, redisfilter.ErrLost)
		f := k.open(t, s.Client, redisfilter.WithTTL(time.Hour))
		_, err = f.AddMany(bg, keysOf(0, 3000), nil)
		require.NoError(t, err)
		var opts []option
		if k.name == "plain/key" {
			_, err := redisfilter.Join(bg, s.Client, "f")
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
			opts = k.opts[:1]
		}
		g, err := redisfilter.Join(bg, s.Client, "f", opts...)
		require.NoError(t, err)
		n, err := g.ContainsMany(bg, keysOf(0, 3000), nil)
		require.NoError(t, err)
		require.Equal(t, 3000, n)
		require.Equal(t, f.Params(), g.Params())
		require.Equal(t, f.Keys(), g.Keys())
		require.Equal(t, f.SizeBytes(), g.SizeBytes())
		for _, o := range []struct {
			n    uint64
			p    float64
			opts []option
		}{{k.n * 3, k.p, k.opts}, {k.n, 0.3, k.opts[len(k.opts):]}, {k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], redisfilter.WithBloom(bloom.WithSeed(9)))}} {
			if k.name == "plain/key" && len(o.opts) > 2 || k.name == "plain/SeededHashing" && len(o.opts) > 1 || k.name == "growth/SeededHashing" && len(o.opts) > 2 {
				continue
			}
			_, err := redisfilter.Open(bg, s.Client, "f", o.n, o.p, o.opts...)
			require.ErrorIs(t, err, redisfilter.ErrMismatch, "%v", o)
		}
		if last := f.Keys()[len(f.Keys())-1]; len(f.Keys()) > 1 {
			s.Client.Del(bg, last)
			_, err := redisfilter.Join(bg, s.Client, "f", opts...)
			require.ErrorIs(t, err, redisfilter.ErrLost)
			require.Zero(t, s.Client.Exists(bg, last).Val(), "it makes nothing")
			k.open(t, s.Client)
			require.InDelta(t, time.Hour, s.Client.PTTL(bg, last).Val(), float64(time.Minute), "it expires with the other shards")
		}
	})
}

// TestLimit: a growing filter takes no new keys beyond WithMaxBytes, and answers for the others.
func TestLimit(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1024, 0.01, growth, redisfilter.WithBloom(bloom.WithMaxBytes(20_000)))
	added := make([]bool, 50_000)
	n, err := f.AddMany(bg, keysOf(0, len(added)), added)
	require.ErrorIs(t, err, redisfilter.ErrFull)
	require.NotErrorIs(t, err, redisfilter.ErrUnknown)
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok)
	require.Equal(t, len(added), failed.NotAdded[0]+len(failed.NotAdded))
	require.Greater(t, n, 3000)
	require.LessOrEqual(t, f.SizeBytes(), uint64(20_000))
	again, err := f.AddMany(bg, keysOf(0, failed.NotAdded[0]), nil)
	require.NoError(t, err)
	require.Zero(t, again)
	larger := open(t, s.Client, 1024, 0.01, growth)
	more, err := larger.AddMany(bg, keysOf(100_000, 103_000), nil)
	require.NoError(t, err)
	require.Greater(t, more, 2900)
	found, err := f.Contains(bg, keyOf(100_001))
	require.NoError(t, err, "layers that others have made are read")
	require.True(t, found)
}

// TestHandleHearsOfLayers: a handle that has seen one layer adds and looks up in all that others have made.
func TestHandleHearsOfLayers(t *testing.T) {
	s := redistest.Start(t)
	handles := []*filter{open(t, s.Client, 1024, 1e-9, growth), open(t, s.Client, 1024, 1e-9, growth), open(t, s.Client, 1024, 1e-9, growth)}
	_, err := handles[0].AddMany(bg, keysOf(0, 10_000), nil)
	require.NoError(t, err)
	n, err := handles[1].AddMany(bg, keysOf(9_000, 10_000), nil)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = handles[2].ContainsMany(bg, keysOf(9_000, 11_000), nil)
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	require.Equal(t, handles[0].SizeBytes(), handles[1].SizeBytes())
	require.Equal(t, handles[0].SizeBytes(), handles[2].SizeBytes())
}

// TestWindow compares each answer with a model that keeps the time of every key, while the clock goes on,
// stands still and goes back.
func TestWindow(t *testing.T) {
	s := redistest.Start(t)
	defer redisfilter.SetClock()()
	for _, c := range []struct {
		generations int
		strategy    bloom.Strategy
	}{{1, bloom.Blocked1}, {4, bloom.Blocked2}, {3, bloom.Blocked4}, {7, bloom.Blocked8}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			const length, start = 1000, int64(1_800_000_000_000)
			p := 1e-6
			if c.strategy == bloom.Blocked1 {
				p = 1e-4 // one word for all bits of a key
			}
			s.Client.FlushAll(bg)
			now := start
			s.Client.Set(bg, "clock", now, 0)
			var handles []*filter
			for range 3 {
				handles = append(handles, open(t, s.Client, 40_000, p, strategy(c.strategy), redisfilter.WithShards(1+c.generations%2),
					redisfilter.WithWindow(time.Duration(c.generations)*length*time.Millisecond, c.generations)))
			}
			random := rand.New(rand.NewPCG(1, uint64(c.generations)))
			born := make(map[string]int64) // generation of a key's last winner
			latest, again := int64(0), 0
			for range 400 {
				switch random.IntN(4) {
				case 0:
					now += random.Int64N(length)
				case 1:
					now -= random.Int64N(length / 4)
				}
				s.Client.Set(bg, "clock", now, 0)
				keys := make([][]byte, 40) // in both shards, so that both know the time
				for i, k := range random.Perm(400)[:len(keys)] {
					keys[i] = keyOf(k)
				}
				adding := random.IntN(2) == 0
				gen := max(latest, now/length)
				do := ask
				if adding {
					do, latest = add, gen
				}
				answers, err := do(bg, handles[random.IntN(len(handles))], keys)
				require.NoError(t, err)
				for i, key := range keys {
					b, ever := born[string(key)]
					have := ever && gen-b <= int64(c.generations)
					require.Equal(t, have != adding, answers[i])
					if adding && !have {
						born[string(key)] = gen
						if ever {
							again++
						}
					}
				}
			}
			require.Greater(t, again, 300)
			stats, err := handles[0].Stats(bg)
			require.NoError(t, err)
			remembered := 0
			for _, b := range born {
				if max(latest, now/length)-b <= int64(c.generations) {
					remembered++
				}
			}
			require.InDelta(t, remembered, stats.EstimatedCount, 40)
			// A clock that was far ahead holds nothing up for longer than a window.
			s.Client.Set(bg, "clock", now+1_000_000_000, 0)
			_, err = handles[0].AddMany(bg, keysOf(0, 400), nil)
			require.NoError(t, err)
			for i := range 2*c.generations + 4 {
				s.Client.Set(bg, "clock", now+int64(i*length), 0)
				_, err = handles[0].AddMany(bg, keysOf(1000, 1400), nil)
				require.NoError(t, err)
			}
			n, err := handles[1].ContainsMany(bg, keysOf(0, 400), nil)
			require.NoError(t, err)
			require.Zero(t, n)
		})
	}
}

// TestContexts: a call ends with its context, and says what it knows.
func TestContexts(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noFront)
		_, err := f.AddMany(bg, keysOf(0, 10), nil)
		require.NoError(t, err)
		ended, cancel := context.WithCancel(bg)
		cancel()
		_, err = f.Add(ended, keyOf(1))
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, redisfilter.ErrUnknown, "nothing was sent")
		p.Silent.Lock()
		for _, n := range []int{1, 700} {
			ctx, cancel := context.WithCancel(bg)
			time.AfterFunc(50*time.Millisecond, cancel)
			_, err = f.AddMany(ctx, keysOf(100, 100+n), nil)
			require.ErrorIs(t, err, context.Canceled)
			failed, ok := errors.AsType[*redisfilter.AddError](err)
			require.True(t, ok)
			require.Equal(t, batch.Indices(0, min(n, 500*min(len(f.Keys()), 8))), failed.Unknown)
			require.Len(t, failed.NotAdded, n-len(failed.Unknown))
			require.Contains(t, err.Error(), "may or may not")
			require.NotContains(t, err.Error(), ": 0 keys")
			ctx, cancel = context.WithCancel(bg)
			time.AfterFunc(50*time.Millisecond, cancel)
			_, err = f.Contains(ctx, keyOf(1))
			require.ErrorIs(t, err, context.Canceled)
		}
		p.Silent.Unlock()
		_, err = f.Add(bg, keyOf(5000))
		require.NoError(t, err)
	})
}

// TestScriptsForgotten: a server that has forgotten the scripts gets them again.
func TestScriptsForgotten(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		f := k.open(t, s.Client, noFront)
		for i := range 3 {
			require.NoError(t, s.Client.ScriptFlush(bg).Err())
			added, err := f.Add(bg, keyOf(i))
			require.NoError(t, err)
			require.True(t, added)
			require.NoError(t, s.Client.ScriptFlush(bg).Err())
			found, err := f.Contains(bg, keyOf(i))
			require.NoError(t, err)
			require.True(t, found)
		}
		require.NoError(t, s.Client.ScriptFlush(bg).Err())
		require.NoError(t, f.Close(bg))
	})
}

// TestCutReplies: each fifth reply is cut. Every key has one winner, or is reported.
func TestCutReplies(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noFront)
		p.CutEvery.Store(5)
		won, unsure := 0, 0
		for i := range 600 {
			for {
				added, err := f.Add(bg, keyOf(i))
				if errors.Is(err, redisfilter.ErrUnknown) {
					unsure++
				} else if err != nil {
					continue // not added
				}
				if added {
					won++
				}
				break
			}
		}
		require.Equal(t, 600, won+unsure)
		require.Positive(t, unsure)
		p.CutEvery.Store(0)
		n, err := f.ContainsMany(bg, keysOf(0, 600), nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, won)
	})
}

// TestCommandsOfAUser: a user that may execute what the hint of NOPERM names, and nothing else, can do
// everything.
func TestCommandsOfAUser(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		names := strings.Split(strings.ReplaceAll(send.Commands, " and ", ", "), ", ")
		everything := func(without string) error {
			s.Client.FlushAll(bg)
			args := []any{"ACL", "SETUSER", "limited", "reset", "on", ">secret", "~f", "~f:*", "~{f}:*"}
			for _, name := range names {
				if name != without {
					args = append(args, "+"+strings.ToLower(name))
				}
			}
			require.NoError(t, s.Client.Do(bg, args...).Err())
			c := redis.NewClient(&redis.Options{Addr: s.Addr, Username: "limited", Password: "secret"})
			defer c.Close()
			f, err := redisfilter.Open(bg, c, "f", k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], redisfilter.WithTTL(time.Hour), redisfilter.WithWait(1, time.Millisecond))...)
			if err != nil {
				return err
			}
			_, err = f.AddMany(bg, keysOf(0, 10), nil)
			if errors.Is(err, redisfilter.ErrReplicas) && !strings.Contains(err.Error(), "NOPERM") {
				err = nil
			}
			_, asked := f.ContainsMany(bg, keysOf(0, 10), nil)
			_, counted := f.Stats(bg)
			err = errors.Join(err, asked, counted)
			if k.name == "plain" {
				local, _ := redisfilter.NewLocal(k.n, k.p, k.opts...)
				for _, do := range []func(context.Context, ...*bloom.BloomFilter) error{f.Push, f.Merge, f.Pull} {
					if e := do(bg, local.Filters()...); !errors.Is(e, redisfilter.ErrReplicas) {
						err = errors.Join(err, e)
					}
				}
				s.Client.Persist(bg, "f")
				if e := f.Push(bg, local.Filters()...); !errors.Is(e, redisfilter.ErrReplicas) {
					err = errors.Join(err, e)
				}
			}
			return errors.Join(err, f.Delete(bg))
		}
		require.NoError(t, everything(""))
		if k.name == "plain" {
			for _, name := range names {
				if name != "EVAL" && name != "BITFIELD" { // the scripts are loaded; this strategy reads words
					require.Error(t, everything(name), name)
				}
			}
		}
	})
}
