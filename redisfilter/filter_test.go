package redisfilter_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestModel adds and looks up through several handles and compares each answer with a set. Where the rate is small, no
// key is taken for another.
func TestModel(t *testing.T) {
	each(t, len(kinds), func(t *testing.T, s *redistest.Server, k kind) {
		random := rand.New(rand.NewPCG(1, 2))
		handles := []*filter{k.open(t, s.Client), k.open(t, s.Client, noCache), k.open(t, s.Client)}
		have := map[string]bool{}
		wrong := 0
		for range 120 {
			f := handles[random.IntN(len(handles))]
			keys := make([][]byte, 1+random.IntN(60))
			for i := range keys {
				keys[i] = keyOf(random.IntN(3000))
			}
			adding := random.IntN(3) > 0
			do := f.ContainsMany
			if adding {
				do = f.AddMany
			}
			answers, err := redistest.Each(bg, do, keys)
			require.NoError(t, err)
			for i, key := range keys {
				if coarse := k.p > 1e-6; coarse && !have[string(key)] && answers[i] != adding {
					have[string(key)] = true // taken for another
					wrong++
				}
				require.Equal(t, have[string(key)] != adding, answers[i], "key %s, adding %v", key, adding)
				have[string(key)] = have[string(key)] || adding
			}
		}
		for _, f := range handles {
			found, err := redistest.Each(bg, f.ContainsMany, keysOf(0, 3000))
			require.NoError(t, err)
			for i, yes := range found {
				if yes && !have[string(keyOf(i))] && k.p > 1e-6 {
					have[string(keyOf(i))] = true
					wrong++
				}
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
		}
		require.LessOrEqual(t, float64(wrong), 3000*k.p+4*math.Sqrt(3000*k.p))
	})
}

// TestOneWinner adds the same keys by single calls of goroutines that share a handle and in batches of other handles,
// each in an order of its own. Every key has one winner, and the single calls go together in fewer commands than there
// are calls.
func TestOneWinner(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		const keys, singles, batches = 800, 24, 8
		shared := k.open(t, s.Client, noCache)
		var won [keys]atomic.Int32
		var all redistest.Group
		for g := range singles + batches {
			f, most := shared, 1
			if g >= singles {
				f, most = k.open(t, s.Client), 60
			}
			all.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(g)))
				for order := random.Perm(keys); len(order) > 0; {
					now := order[:min(1+random.IntN(most), len(order))]
					batch, added := make([][]byte, len(now)), make([]bool, len(now))
					for i, k := range now {
						batch[i] = keyOf(k)
					}
					var err error
					if most > 1 {
						_, err = f.AddMany(bg, batch, added)
					} else {
						added[0], err = f.Add(bg, batch[0])
						clear(batch[0]) // changed after the call: nothing may keep it
					}
					if err != nil {
						t.Error(err)
						return
					}
					for i, k := range now {
						if added[i] {
							won[k].Add(1)
						}
					}
					order = order[len(now):]
				}
			})
		}
		all.Wait()
		for i := range won {
			require.EqualValues(t, 1, won[i].Load(), i)
		}
		require.Less(t, shared.Metrics()["redis_round_trips"], float64(singles*keys/2))
	})
}

// TestCache: a stream of which nine in ten keys were there before needs few round trips, and known keys no
// allocation.
func TestCache(t *testing.T) {
	s := redistest.Start(t)
	defer stopClock(s)()
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
	require.LessOrEqual(t, f.Metrics()["redis_round_trips"], float64(adds/10+20))
	// A batch needs a round trip for each 500 keys that the cache does not know.
	var batch [][]byte
	for i := range 1000 {
		batch = append(append(batch, keysOf(0, 9)...), keyOf(adds+i))
	}
	before := f.Metrics()["redis_round_trips"]
	n, err := f.AddMany(bg, batch, nil)
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	require.EqualValues(t, before+2, f.Metrics()["redis_round_trips"])
	// Another handle learns from its adds, not from lookups.
	g := open(t, s.Client, 10_000, 1e-6)
	_, err = g.ContainsMany(bg, keysOf(0, adds/10), nil)
	require.NoError(t, err)
	for known := range 2 {
		before := g.Metrics()["redis_round_trips"]
		n, err := g.AddMany(bg, keysOf(0, adds/10), nil)
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, known == 1, before == g.Metrics()["redis_round_trips"])
	}
}

// TestTransfer: a local filter goes to Redis and back byte for byte; Merge keeps what is there; the expiry stays.
func TestTransfer(t *testing.T) {
	s := redistest.Start(t)
	for _, k := range kinds {
		if !strings.HasPrefix(k.name, "plain") {
			f := k.open(t, s.Client)
			local, err := f.Local(bg)
			require.ErrorIs(t, err, bloom.ErrIncompatible)
			require.ErrorIs(t, f.Merge(bg, local), bloom.ErrIncompatible)
			s.Client.FlushAll(bg)
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			s.Client.FlushAll(bg)
			f, other := k.open(t, s.Client, redisfilter.WithTTL(time.Hour)), k.open(t, s.Client, noCache)
			local, err := redisfilter.NewLocal(k.n, k.p, k.opts...)
			require.NoError(t, err)
			for i := range 1000 {
				local.Add(keyOf(i))
			}
			_, err = other.AddMany(bg, keysOf(5000, 5010), nil)
			require.NoError(t, err)
			require.NoError(t, f.Merge(bg, local))
			n, err := other.ContainsMany(bg, append(keysOf(0, 1000), keysOf(5000, 5010)...), nil)
			require.NoError(t, err)
			require.Equal(t, 1010, n)
			copied, err := f.Local(bg)
			require.NoError(t, err)
			for i := range 10 {
				local.Add(keyOf(5000 + i))
			}
			for i, l := range copied.Filters() {
				require.True(t, l.Equal(local.Filters()[i]))
				v := s.Client.Get(bg, f.Keys()[i]).Val()
				b := make([]byte, 0, len(v))
				for j := range l.Words() {
					b = binary.LittleEndian.AppendUint64(b, l.Words()[j].Load())
				}
				require.Equal(t, string(b), v[192:192+len(b)])
			}
			require.True(t, copied.Contains(keyOf(999)))
			require.InDelta(t, time.Hour, s.Client.PTTL(bg, "f").Val(), float64(time.Minute))
			stats, err := f.Stats(bg)
			require.NoError(t, err)
			require.InEpsilon(t, 1010, stats.EstimatedCount, 0.05)
			require.EqualValues(t, stats.SizeBytes, sizeOf(s, f))
			for _, name := range s.Client.Keys(bg, "*merge*").Val() {
				t.Errorf("%s is left", name)
			}
			wrong, err := redisfilter.NewLocal(k.n*2, k.p, k.opts...)
			require.NoError(t, err)
			require.ErrorIs(t, f.Merge(bg, wrong), bloom.ErrIncompatible)
			require.ErrorIs(t, f.Merge(bg, nil), bloom.ErrIncompatible)
			s.Client.Del(bg, f.Keys()[0])
			require.ErrorIs(t, f.Merge(bg, local), redisfilter.ErrLost)
			_, err = f.Local(bg)
			require.ErrorIs(t, err, redisfilter.ErrLost)
		})
	}
}

// TestRate: the false-positive rate is at most p, for each kind, at full load; for a growing filter
// beyond it.
func TestRate(t *testing.T) {
	s := redistest.Start(t)
	for name, opts := range map[string][]option{
		"plain": nil, "shards": {redisfilter.WithShards(7)}, "window": {window},
		"growth": {growth}, "growth/shards": {growth, redisfilter.WithShards(3)},
	} {
		s.Client.FlushAll(bg)
		f := open(t, s.Client, 3000, 0.01, append(opts, noCache)...)
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
		if k.name == "plain/secret" {
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
		seeded := append(k.opts[:len(k.opts):len(k.opts)], redisfilter.WithBloom(bloom.WithSeed(9)))
		for _, o := range []kind{{n: k.n + 1, p: k.p, opts: k.opts}, {n: k.n, p: 0.3}, {n: k.n, p: k.p, opts: seeded}} {
			if k.name == "plain/secret" && len(o.opts) > 2 {
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
	f := open(t, s.Client, 1024, 0.01, growth, redisfilter.WithBloom(bloom.WithMaxBytes(28_000)))
	added := make([]bool, 50_000)
	n, err := f.AddMany(bg, keysOf(0, len(added)), added)
	require.ErrorIs(t, err, bloom.ErrFull)
	require.Empty(t, redisfilter.UnsureOf(err))
	var failed *redisfilter.AddError
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, redisfilter.ErrRefused)
	require.Greater(t, len(failed.NotAdded), 40_000)
	require.Greater(t, n, 3000)
	require.LessOrEqual(t, sizeOf(s, f), int64(28_000))
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

// TestWindow compares each answer with a model that keeps the time of every key, while the clock goes on, stands still
// and goes back.
func TestWindow(t *testing.T) {
	s := redistest.Start(t)
	now := int64(1_800_000_000_000)
	defer redisfilter.SetClock(func() time.Duration { return time.Duration(now) * time.Millisecond })()
	for _, c := range []struct {
		generations int
		p           float64
	}{{1, 0.01}, {4, 0.01}, {2, 1e-4}, {7, 1e-9}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			const length = 1000
			s.Client.FlushAll(bg)
			s.Client.Set(bg, "clock", now, 0)
			var handles []*filter
			for range 3 {
				handles = append(handles, open(t, s.Client, 400_000, c.p, redisfilter.WithShards(1+c.generations%2),
					redisfilter.WithGenerations(length*time.Millisecond, c.generations)))
			}
			random := rand.New(rand.NewPCG(1, uint64(c.generations)))
			born := make(map[string]int64)                // generation of a key's last winner
			latest, shown, again := int64(0), int64(0), 0 // shown: by the clock since the last add
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
				shown = max(shown, gen)
				f := handles[random.IntN(len(handles))]
				do := f.ContainsMany
				if adding {
					do, latest, shown = f.AddMany, gen, gen
				}
				answers, err := redistest.Each(bg, do, keys)
				require.NoError(t, err)
				for i, key := range keys {
					b, ever := born[string(key)]
					have := ever && gen-b <= int64(c.generations)
					if adding || have == (ever && shown-b <= int64(c.generations)) {
						require.Equal(t, have != adding, answers[i])
					} // else a lookup may know that the clock was ahead before it went back
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
			now += 1_000_000_000
			s.Client.Set(bg, "clock", now, 0)
			_, err = handles[0].AddMany(bg, keysOf(0, 400), nil)
			require.NoError(t, err)
			now -= 1_000_000_000
			for range 2*c.generations + 4 {
				now += length
				s.Client.Set(bg, "clock", now, 0)
				_, err = handles[0].AddMany(bg, keysOf(1000, 1400), nil)
				require.NoError(t, err)
			}
			n, err := handles[1].ContainsMany(bg, keysOf(0, 400), nil)
			require.NoError(t, err)
			require.Less(t, n, 20)
		})
	}
}

// TestBurst: a generation takes exactly n keys, whatever comes at once, and the rate stays at most p. The next
// generation takes keys again, when the error has said.
func TestBurst(t *testing.T) {
	s := redistest.Start(t)
	now := int64(1_800_000_000_000)
	defer redisfilter.SetClock(func() time.Duration { return time.Duration(now) * time.Millisecond })()
	s.Client.Set(bg, "clock", now, 0)
	const n = 5000
	f := open(t, s.Client, n, 0.01, redisfilter.WithGenerations(time.Second, 4))
	for generation := range 6 {
		added := make([]bool, 2*n)
		count, err := f.AddMany(bg, keysOf(generation*100_000, generation*100_000+2*n), added)
		require.ErrorIs(t, err, bloom.ErrFull)
		require.ErrorContains(t, err, "the next one begins at 2027-01-15T08:00:0"+fmt.Sprint(generation+1)+"Z, in 1s")
		require.Equal(t, n, count)
		found, err := f.ContainsMany(bg, keysOf(5_000_000, 5_100_000), nil)
		require.NoError(t, err)
		require.Less(t, float64(found), 0.01*100_000+4*math.Sqrt(0.01*100_000))
		now += 1000
		s.Client.Set(bg, "clock", now, 0)
	}
}

// TestContexts: a call ends with its context, and says what it knows.
func TestContexts(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noCache)
		_, err := f.AddMany(bg, keysOf(0, 10), nil)
		require.NoError(t, err)
		ended, cancel := context.WithCancel(bg)
		cancel()
		_, err = f.Add(ended, keyOf(1))
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, redisfilter.UnsureOf(err), "nothing was sent")
		p.Silent.Lock()
		for _, n := range []int{1, 700} { // on the connection that is ready, and on a new one, which does not become so
			ctx, cancel := context.WithCancel(bg)
			time.AfterFunc(500*time.Millisecond, cancel) // the machine may be busy
			_, err = f.AddMany(ctx, keysOf(100, 100+n), nil)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, p.Addr)
			var failed *redisfilter.AddError
			require.ErrorAs(t, err, &failed)
			if n == 1 {
				require.Equal(t, []int{0}, failed.Unsure)
				require.Contains(t, err.Error(), "perhaps added")
			}
			require.Len(t, failed.NotAdded, n-len(failed.Unsure))
			require.Equal(t, n == 1, len(failed.Unsure) > 0, "the other keys were not sent")
			require.NotContains(t, err.Error(), ": 0 keys")
			ctx, cancel = context.WithCancel(bg)
			time.AfterFunc(500*time.Millisecond, cancel) // the machine may be busy
			_, err = f.Contains(ctx, keyOf(1))
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, "stopped waiting for "+p.Addr)
		}
		p.Silent.Unlock()
		_, err = f.Add(bg, keyOf(5000))
		require.NoError(t, err)
	})
}

// TestRing lets handles add and look up a few keys while short generations end, by the server's real clock: one winner
// within a window, no key forgotten within it, none remembered for longer than a window, a generation and the way of a
// reply, by which the handle's estimate of the server's clock is late.
func TestRing(t *testing.T) {
	s := redistest.Start(t)
	const generation, keys = 100 * time.Millisecond, 40
	for _, generations := range []time.Duration{1, 3} {
		s.Client.FlushAll(bg)
		type event struct {
			key          int
			add, yes     bool
			begin, ended time.Duration
		}
		var mu sync.Mutex
		var events []event
		var won atomic.Int64
		var all redistest.Group
		began := time.Now()
		for h := range 3 {
			f := open(t, s.Client, 20_000, 1e-9, redisfilter.WithGenerations(generation, int(generations)))
			for g := range 3 {
				all.Go(func() {
					random := rand.New(rand.NewPCG(uint64(h), uint64(g)))
					for time.Since(began) < 3*time.Second || won.Load() < keys+200 {
						e := event{key: random.IntN(keys), add: random.IntN(2) == 0, begin: time.Since(began)}
						do := f.Contains
						if e.add {
							do = f.Add
						}
						var err error
						if e.yes, err = do(bg, keyOf(e.key)); err != nil {
							t.Error(err)
							return
						}
						e.ended = time.Since(began)
						if e.add && e.yes {
							won.Add(1)
						}
						mu.Lock()
						events = append(events, e)
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		var wins [keys][]event
		longest := time.Duration(0)
		for _, e := range events {
			longest = max(longest, e.ended-e.begin)
			if e.add && e.yes {
				wins[e.key] = append(wins[e.key], e)
			}
		}
		window, turned := generations*generation, 0
		for _, e := range events {
			remembered, could := false, false
			for _, w := range wins[e.key] {
				if e.add && e.yes && w != e && w.begin < e.begin {
					require.Greater(t, e.ended, w.begin+window, "a second winner of key %d", e.key)
					turned++
				}
				remembered = remembered || w.ended < e.begin && e.ended < w.begin+window
				could = could || w.begin <= e.ended && e.begin < w.ended+window+generation+2*longest
			}
			present := e.yes != e.add
			require.True(t, present || !remembered, "key %d is forgotten early: %+v", e.key, e)
			require.True(t, could || !present || e.add, "key %d is remembered too long: %+v", e.key, e)
		}
		require.Greater(t, turned, 100)
	}
}
