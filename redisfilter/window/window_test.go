package window

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var bg = context.Background()

// testClock has the scripts read their time from a key.
func testClock(o *options) { o.clock = `local ms = tonumber(call('GET', 'clock'))` }

func setClock(t testing.TB, s *redistest.Server, ms int64) {
	t.Helper()
	require.NoError(t, s.Client.Set(bg, "clock", ms, 0).Err())
}

func open(t testing.TB, client redis.UniversalClient, n uint64, p float64, window time.Duration, generations int, opts ...Option) *Filter {
	t.Helper()
	f, err := Open(bg, client, "w", n, p, window, generations, opts...)
	require.NoError(t, err)
	return f
}

const start = 1_800_000_000_000

// TestDefaultStrategy: the strategy is chosen for the rate of a generation, p/5 here.
func TestDefaultStrategy(t *testing.T) {
	for _, c := range []struct {
		p    float64
		want bloom.Strategy
	}{
		{0.5, bloom.Blocked2}, {5.01e-4, bloom.Blocked2}, {4.99e-4, bloom.Blocked4},
		{5.01e-6, bloom.Blocked4}, {4.99e-6, bloom.Blocked8}, {1e-10, bloom.Blocked8},
	} {
		s, err := plan{n: 1_000_000, p: c.p, generations: 4}.scheme(nil)
		require.NoError(t, err)
		require.Equal(t, c.want, s.Strategy(), "p = %v", c.p)
	}
}

// TestExactModel adds and asks by several handles, while the clock goes on, stands still and
// goes back, and compares each answer with a model that keeps the time of every key.
func TestExactModel(t *testing.T) {
	s := redistest.Start(t)
	for _, c := range []struct {
		generations int
		strategy    bloom.Strategy
	}{{1, bloom.Blocked1}, {1, bloom.Blocked2}, {4, bloom.Blocked2}, {3, bloom.Blocked4}, {7, bloom.Blocked8}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			const length = 1000
			p := 1e-6
			if c.strategy == bloom.Blocked1 {
				p = 1e-4 // one word for all bits of a key
			}
			now, clock := int64(start), int64(start)
			setClock(t, s, clock)
			var handles []*Filter
			for range 3 {
				handles = append(handles, open(t, s.Client, 40_000, p, time.Duration(c.generations)*length*time.Millisecond, c.generations,
					testClock, WithBloom(bloom.WithStrategy(c.strategy))))
			}
			random := rand.New(rand.NewPCG(1, uint64(c.generations)))
			born := make(map[string]int64) // generation of a key's last winner
			latest, shift := int64(0), int64(0)
			wins, again, wrong := 0, 0, 0
			for range 400 {
				switch random.IntN(4) {
				case 0:
					clock += random.Int64N(length)
				case 1:
					clock -= random.Int64N(length / 2)
				}
				now = clock
				setClock(t, s, now)
				f := handles[random.IntN(len(handles))]
				keys := make([][]byte, 1+random.IntN(30))
				for i := range keys {
					keys[i] = redistest.KeyOf(random.IntN(400))
				}
				answers := make([]bool, len(keys))
				add := random.IntN(2) == 0
				gen := now/length + shift
				if add && gen < latest-int64(c.generations) { // several steps back
					shift += latest - gen
				}
				gen = max(latest, gen)
				if add {
					latest = gen
					_, err := f.AddMany(bg, keys, answers)
					require.NoError(t, err)
				} else {
					_, err := f.ContainsMany(bg, keys, answers)
					require.NoError(t, err)
				}
				for i, key := range keys {
					b, ever := born[string(key)]
					have := ever && gen-b <= int64(c.generations)
					if add && !have {
						born[string(key)] = gen
						wins++
						if ever {
							again++
						}
					}
					if answers[i] == (have == add) { // Add answers true for a key that is not there
						wrong++
					}
				}
			}
			t.Logf("%d winners, %d of them of keys that had been forgotten", wins, again)
			require.Zero(t, wrong)
			require.Greater(t, again, 300)
		})
	}
}

// TestClock: time never goes back, a clock that was far ahead holds nothing up for longer than
// a window, and nothing is remembered forever.
func TestClock(t *testing.T) {
	s := redistest.Start(t)
	const window = 4000
	setClock(t, s, start)
	f := open(t, s.Client, 1000, 1e-6, window*time.Millisecond, 4, testClock)
	add := func(at int64, key string) bool {
		setClock(t, s, at)
		added, err := f.AddString(bg, key)
		require.NoError(t, err)
		return added
	}
	require.True(t, add(start, "a"))
	require.False(t, add(start+window, "a"), "for at least the window")
	require.False(t, add(start+window+999, "a"))
	require.True(t, add(start+window+1000, "a"), "and at most a generation more")

	require.False(t, add(start+1000, "a"), "back by a window")
	require.True(t, add(start+1000, "b"))
	require.False(t, add(start+1000, "b"))

	// Ten years ahead: all is forgotten. Back again: what was added there is remembered for
	// a window, not for ten years.
	ahead := int64(start + 10*365*86400*1000)
	require.True(t, add(ahead, "a"))
	require.False(t, add(start+6000, "a"))
	require.True(t, add(start+6000, "c"))
	require.False(t, add(start+6000+window, "a"))
	require.False(t, add(start+6000+window, "c"))
	setClock(t, s, start+6000+window+1000)
	found, err := f.ContainsString(bg, "a")
	require.NoError(t, err)
	require.False(t, found)
	require.True(t, add(start+6000+window+1000, "a"))
	require.True(t, add(start+6000+window+1000, "c"))
}

// TestOneWinner lets goroutines with handles of their own add the same keys, in three windows.
func TestOneWinner(t *testing.T) {
	s := redistest.Start(t)
	for round := range int64(3) {
		setClock(t, s, start+round*10_000)
		var handles []*Filter
		for range 8 {
			handles = append(handles, open(t, s.Client, 8000, 1e-9, 4*time.Second, 4, testClock))
		}
		redistest.OneWinner(t, uint64(round), 2000, handles)
	}
}

// TestGoroutines share one handle: more of them than it has lanes.
func TestGoroutines(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 10_000, 1e-9, time.Hour, 2)
	var won atomic.Int64
	var all sync.WaitGroup
	for range 3 * lanes {
		all.Go(func() {
			for i := range 200 {
				added, err := f.Add(bg, redistest.KeyOf(i))
				if err != nil {
					t.Error(err)
				}
				if added {
					won.Add(1)
				}
				if found, err := f.Contains(bg, redistest.KeyOf(i)); err != nil || !found {
					t.Error(found, err)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 200, won.Load())
}

// TestBatches: those of more than one command, and of keys that are equal.
func TestBatches(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 10_000, 1e-9, time.Hour, 2)
	keys := append(redistest.KeysOf(0, 1234), redistest.KeysOf(0, 1234)...)
	added := make([]bool, len(keys))
	n, err := f.AddMany(bg, keys, added)
	require.NoError(t, err)
	require.Equal(t, 1234, n)
	for i, yes := range added {
		require.Equal(t, i < 1234, yes)
	}
	n, err = f.ContainsMany(bg, append(keys, redistest.KeysOf(5000, 5777)...), nil)
	require.NoError(t, err)
	require.Equal(t, 2*1234, n)
	n, err = f.AddMany(bg, nil, nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Panics(t, func() { f.AddMany(bg, keys, make([]bool, 1)) })

	stats, err := f.Stats(bg)
	require.NoError(t, err)
	require.InEpsilon(t, 1234, stats.EstimatedCount, 0.05)
	require.Equal(t, f.SizeBytes(), stats.SizeBytes)
	require.EqualValues(t, s.Client.StrLen(bg, "w").Val(), f.SizeBytes())
}

// TestRate fills each generation with its share, and asks for other keys.
func TestRate(t *testing.T) {
	s := redistest.Start(t)
	const n, p, asked = 20_000, 0.01, 50_000
	setClock(t, s, start)
	f := open(t, s.Client, n, p, 4*time.Second, 4, testClock)
	for g := range 5 {
		setClock(t, s, start+int64(g)*1000)
		_, err := f.AddMany(bg, redistest.KeysOf(g*n/4, (g+1)*n/4), nil)
		require.NoError(t, err)
	}
	found, err := f.ContainsMany(bg, redistest.KeysOf(1_000_000, 1_000_000+asked), nil)
	require.NoError(t, err)
	t.Logf("%d of %d keys wrongly remembered, at most %v expected", found, asked, asked*p)
	require.Less(t, float64(found), asked*p+5*22.3, "5 sigmas of a binomial") // sqrt(50000*0.01*0.99) = 22.2
	require.Greater(t, float64(found), asked*p/4)
	stats, err := f.Stats(bg)
	require.NoError(t, err)
	require.InEpsilon(t, float64(found)/asked, stats.EstimatedFalsePositiveRate, 0.25)
	require.InEpsilon(t, n*5/4, stats.EstimatedCount, 0.05)
}

// TestRefused: what cannot be opened.
func TestRefused(t *testing.T) {
	s := redistest.Start(t)
	try := func(n uint64, p float64, window time.Duration, generations int, opts ...Option) error {
		_, err := Open(bg, s.Client, "w", n, p, window, generations, opts...)
		return err
	}
	require.ErrorIs(t, try(1000, 0, time.Hour, 4), bloom.ErrInvalid)
	require.ErrorContains(t, try(1000, 1e-13, time.Hour, 4), "in each of 4 generations of a filter for n = 1000 keys at p = 1e-13")
	require.ErrorIs(t, try(1000, 0.01, time.Hour, 0), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, time.Hour, 1001), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, 3*time.Millisecond, 4), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, math.MaxInt64, 1), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, time.Hour, 4, nil), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, time.Hour, 4, WithBloom(bloom.WithStrategy(bloom.DoubleHashing))), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, time.Hour, 4, WithBloom(bloom.WithHash(bloom.MapHash))), bloom.ErrInvalid)
	require.ErrorIs(t, try(1_000_000_000, 0.01, time.Hour, 4), bloom.ErrTooLarge)
	require.ErrorIs(t, try(100_000, 0.01, time.Hour, 4, WithBloom(bloom.WithMaxBytes(100_000))), bloom.ErrTooLarge)
	_, err := Open(bg, s.Client, "", 1000, 0.01, time.Hour, 4)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.Zero(t, s.Client.DBSize(bg).Val())
	require.NoError(t, try(0, 0.01, time.Millisecond, 1))
	require.NoError(t, s.Client.FlushAll(bg).Err())
	require.NoError(t, try(1000, 0.01, math.MaxInt64/time.Millisecond*time.Millisecond, 1))
	require.NoError(t, s.Client.FlushAll(bg).Err())
	open(t, s.Client, 1000, 0.01, time.Hour, 4)
	before := s.Client.Get(bg, "w").Val()
	open(t, s.Client, 1000, 0.01, time.Hour, 4)
	for _, err := range []error{
		try(2000, 0.01, time.Hour, 4), try(1000, 0.001, time.Hour, 4), try(1000, 0.01, 2*time.Hour, 4), try(1000, 0.01, time.Hour, 3),
		try(1000, 0.01, time.Hour, 4, WithBloom(bloom.WithSeed(7))),
	} {
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
	}
	require.Equal(t, before, s.Client.Get(bg, "w").Val())
	_, err = redisfilter.Open(bg, s.Client, "w", 1000, 0.01)
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	require.NoError(t, s.Client.Set(bg, "w", "something else", 0).Err())
	none, err := Open(bg, s.Client, "w", 1000, 0.01, time.Hour, 4)
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	require.Nil(t, none)
	require.NoError(t, s.Client.Del(bg, "w").Err())
	require.NoError(t, s.Client.LPush(bg, "w", "a list").Err())
	require.ErrorIs(t, try(1000, 0.01, time.Hour, 4), redisfilter.ErrMismatch)
}
