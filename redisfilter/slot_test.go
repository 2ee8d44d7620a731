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

// TestSlots: any number of processes add a key and die. No claim is refused, and no handle that adds again before a quarter of
// the slots is claimed is displaced.
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

// TestDisplaced: a handle whose slot was given to another notices nothing, whatever it calls, and is protected as before. If
// the slot was given away twice, or an add is missing, the handle gets ErrLost.
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
