package redisfilter_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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

// Two are two primaries. A handle whose client has the hook sends to either, with delays.
type two struct {
	servers [2]*redis.Client
	choose  func() (server int, request, reply func())
}

func (w *two) hook(cmds []redis.Cmder, _ func() error) (err error) {
	server, request, reply := w.choose()
	request()
	for _, cmd := range cmds {
		if e := w.servers[server].Process(bg, cmd); e != nil && err == nil {
			err = e
		}
	}
	reply()
	return err
}

// to chooses a server, without delays.
func (w *two) to(server int) {
	w.choose = func() (int, func(), func()) { return server, func() {}, func() {} }
}

// silent asks both servers for keys whose adds were confirmed. It returns how many are missing without an error.
func (w *two) silent(t testing.TB, f *filter, keys []string) (missing int) {
	for server, c := range w.servers {
		if c.Exists(bg, "f").Val() == 0 {
			continue
		}
		w.to(server)
		for _, key := range keys {
			found, err := f.Contains(bg, []byte(key))
			if err != nil {
				require.ErrorIs(t, err, redisfilter.ErrLost)
			} else if !found {
				missing++
			}
		}
	}
	return missing
}

// TestTwoPrimaries: handles add while the value is copied to a second primary, which then takes most commands, or while
// the first goes back to the copy. Requests and replies are late at random, and calls are given up. No confirmed key is
// missing without ErrLost. Without fork and restore, there is no error.
func TestTwoPrimaries(t *testing.T) {
	a, b := redistest.Start(t), redistest.Start(t)
	told := 0
	for round := range 120 {
		k := kinds[round%3]
		fork, restore := round%4 > 1, round%2 == 1
		require.NoError(t, a.Client.FlushAll(bg).Err())
		require.NoError(t, b.Client.FlushAll(bg).Err())
		random := rand.New(rand.NewPCG(7, uint64(round)))
		var mu sync.Mutex
		ms := func(n int) time.Duration {
			return time.Duration(random.IntN(n*1000)) * time.Microsecond
		}
		var forked atomic.Bool
		handles, worlds := make([]*filter, 3), make([]*two, 3)
		confirmed := make([][]string, len(handles))
		var all redistest.Group
		var stop atomic.Bool
		for h := range handles {
			w := &two{servers: [2]*redis.Client{a.Client, b.Client}}
			w.choose = func() (server int, request, reply func()) {
				mu.Lock()
				defer mu.Unlock()
				if forked.Load() && random.IntN(4) > 0 {
					server = 1
				}
				before, after := ms(4), ms(4)
				return server, func() { time.Sleep(before) }, func() { time.Sleep(after) }
			}
			f := k.open(t, client(t, a.Addr, w.hook), noCache)
			handles[h], worlds[h] = f, w
			for g := range 5 {
				all.Go(func() {
					for i := 0; !stop.Load(); i++ {
						key := fmt.Sprint(round, "/", h, "/", g, "/", i)
						mu.Lock()
						patience := time.Second
						if random.IntN(3) == 0 {
							patience = ms(8)
						}
						mu.Unlock()
						ctx, cancel := context.WithTimeout(bg, patience)
						_, err := f.Add(ctx, []byte(key))
						cancel()
						mu.Lock()
						switch {
						case err == nil:
							confirmed[h] = append(confirmed[h], key)
						case errors.Is(err, redisfilter.ErrLost):
							told++
							if !fork && !restore {
								t.Error(err)
							}
							stop.Store(true)
						case !errors.Is(err, context.DeadlineExceeded):
							t.Error(err)
						}
						mu.Unlock()
					}
				})
			}
		}
		time.Sleep(15 * time.Millisecond)
		dump := a.Client.Dump(bg, "f").Val()
		time.Sleep(time.Duration(round%5) * time.Millisecond)
		if fork {
			require.NoError(t, b.Client.RestoreReplace(bg, "f", 0, dump).Err())
			forked.Store(true)
		}
		time.Sleep(time.Duration(round%7) * time.Millisecond)
		if restore {
			require.NoError(t, a.Client.RestoreReplace(bg, "f", 0, dump).Err())
		}
		time.Sleep(time.Duration(round%11) * time.Millisecond)
		stop.Store(true)
		all.Wait()
		time.Sleep(10 * time.Millisecond) // for commands that were given up
		for h, f := range handles {
			require.Zero(t, worlds[h].silent(t, f, confirmed[h]), "round %d, handle %d of %s", round, h, k.name)
		}
	}
	require.Positive(t, told)
}

// TestSlots: any number of processes add a key and die. No claim is refused, and no handle that adds again before a
// quarter of the slots is claimed is displaced.
func TestSlots(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		var active []*filter
		for range 20 {
			active = append(active, k.open(t, s.Client, noCache))
		}
		processes := 3000
		if k.name != "plain" {
			processes = 300 // more than half of the slots
		}
		for i := range processes {
			if i%32 == 0 {
				time.Sleep(10 * time.Millisecond) // the next add renews the stamp of its slot
				for h, f := range active {
					_, err := f.Add(bg, fmt.Append(nil, "active ", h, i))
					require.NoError(t, err)
				}
			}
			_, err := k.open(t, s.Client, noCache).Add(bg, keyOf(i))
			require.NoError(t, err)
		}
	})
}

// TestDisplaced: a handle whose slot was given to another notices nothing, whatever it calls, and is protected as
// before. If the slot was given away twice, or an add is missing, the handle gets ErrLost.
func TestDisplaced(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for name, call := range calls {
			k.open(t, s.Client)
			slots := int(binary.LittleEndian.Uint16([]byte(s.Client.GetRange(bg, "f", 14, 15).Val())))
			for claims := 0; claims <= 2*slots; claims += slots {
				for _, back := range []bool{false, true} {
					s.Client.FlushAll(bg)
					f := k.open(t, s.Client, noCache)
					_, err := f.Add(bg, keyOf(0))
					require.NoError(t, err)
					old := s.Client.Get(bg, "f").Val()
					_, err = f.Add(bg, keyOf(1))
					require.NoError(t, err)
					if back {
						s.Client.Set(bg, "f", old, 0)
					}
					for i := range claims {
						_, err := k.open(t, s.Client, noCache).Add(bg, keyOf(2+i))
						require.NoError(t, err)
					}
					if err = call(f, 0); back || claims > slots {
						require.ErrorIs(t, err, redisfilter.ErrLost, "%s, %d claims", name, claims)
						continue
					}
					require.NoError(t, err, "%s, %d claims", name, claims)
					added, err := f.Add(bg, []byte("another"))
					require.NoError(t, err)
					require.True(t, added)
					s.Client.Set(bg, "f", old, 0)
					require.ErrorIs(t, call(f, 0), redisfilter.ErrLost)
				}
			}
		}
	})
}

// TestHandles: the number of handles that a filter was made with counts for all that open it, also when they make it
// anew, and all find what the others have added.
func TestHandles(t *testing.T) {
	each(t, len(kinds), func(t *testing.T, s *redistest.Server, k kind) {
		require.GreaterOrEqual(t, k.open(t, s.Client).Handles(), 256)
		s.Client.FlushAll(bg)
		many := k.open(t, s.Client, noCache, redisfilter.WithHandles(1000))
		few := k.open(t, s.Client, noCache)
		joined, err := redisfilter.Join(bg, s.Client, "f", append(k.opts[:len(k.opts):len(k.opts)], noCache)...)
		require.NoError(t, err)
		next := 0
		for _, again := range []bool{false, true} {
			if again {
				s.Client.FlushAll(bg)
				require.NoError(t, few.Reopen(bg))
				require.NoError(t, many.Reopen(bg))
				require.NoError(t, joined.Reopen(bg))
			}
			for _, f := range []*filter{many, few, joined} {
				require.Equal(t, 1000, f.Handles())
				_, err := f.AddMany(bg, keysOf(next, next+700), nil) // a growing filter gets layers
				require.NoError(t, err)
				next += 700
				for _, f := range []*filter{many, few, joined} {
					n, err := f.ContainsMany(bg, keysOf(next-700, next), nil)
					require.NoError(t, err)
					require.Equal(t, 700, n)
				}
			}
		}
		for _, n := range []int{-1, 4097} {
			_, err := redisfilter.Open(bg, s.Client, "g", k.n, k.p, redisfilter.WithHandles(n))
			require.ErrorIs(t, err, bloom.ErrInvalid)
		}
	})
}

// TestLivingHandles: while no more handles live than the filter is for, none gets ErrLost. Handles add every 100 ms,
// and others have ended before. Half of the handles live long; the others end after ten adds, and new ones begin. What
// counts is the order of the adds and the age of stamps, so the time is not the machine's. With three times as many
// handles some get ErrLost, which says that nothing is known to be lost.
func TestLivingHandles(t *testing.T) {
	adds := 100_000
	if testing.Short() {
		adds = 3000
	}
	s := redistest.Start(t)
	for _, k := range kinds[:3] {
		for _, handles := range []int{256, 4096} {
			for _, times := range []int{1, 3} {
				if times > 1 && handles > 256 || testing.Short() && handles > 256 {
					continue
				}
				var now time.Duration
				var random = rand.New(rand.NewPCG(5, uint64(handles)))
				s.Client.FlushAll(bg)
				reset := redisfilter.SetClock(func() time.Duration { return now })
				lost := 0
				living, ages := make([]*filter, handles*times), make([]int, handles*times)
				begin := func() *filter { return k.open(t, s.Client, noCache, redisfilter.WithHandles(handles)) }
				tick := func() {
					now += 100 * time.Millisecond / time.Duration(len(living))
					s.Client.Set(bg, "clock", (time.Hour + now).Milliseconds(), 0)
				}
				tick()
				for i := range 2 * handles { // they have ended
					_, err := begin().Add(bg, fmt.Append(nil, "before ", i))
					require.NoError(t, err)
				}
				for i := range living {
					living[i], ages[i] = begin(), random.IntN(10)
				}
				for done := 0; done < adds; {
					for _, i := range random.Perm(len(living)) {
						tick()
						_, err := living[i].Add(bg, fmt.Append(nil, k.name, done))
						if err != nil && !errors.Is(err, bloom.ErrFull) {
							lost++
							require.ErrorIs(t, err, redisfilter.ErrLost)
							require.ErrorContains(t, err, "nothing is known to be lost")
							living[i] = begin()
						}
						if ages[i]++; i%2 == 0 && ages[i]%10 == 0 {
							living[i] = begin()
						}
						done++
					}
				}
				reset()
				t.Logf("%s, for %d handles: %d live, %d of %d adds ErrLost", k.name, handles, len(living), lost, adds)
				require.Equal(t, times > 1, lost > 0)
			}
		}
	}
}

// TestServiceBesideJobs: a handle that has added once and then only looks up is displaced by jobs that add and end. It
// claims again when it finds its record in the second half of the slot. A handle that never added writes nothing.
func TestServiceBesideJobs(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		service, reader := k.open(t, s.Client, noCache), k.open(t, s.Client, noCache)
		_, err := service.Add(bg, keyOf(0))
		require.NoError(t, err)
		jobs := 2000
		if testing.Short() {
			jobs = 700
		}
		for i := range jobs {
			_, err := k.open(t, s.Client, noCache).Add(bg, keyOf(i%100))
			require.NoError(t, err)
			if i%100 != 0 {
				continue
			}
			found, err := service.Contains(bg, keyOf(0))
			require.NoError(t, err, i)
			require.True(t, found)
			before := save(t, s)
			_, err = reader.Contains(bg, keyOf(0))
			require.NoError(t, err)
			require.Equal(t, before, save(t, s))
		}
	})
}
