package redisfilter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestEveryCut lets a process die after each command of each operation, and has the next one
// go on: what was there is there or was given up as a whole, nothing half done is left, and
// the operation can be done again.
func TestEveryCut(t *testing.T) {
	s := startServer(t)
	const n, p = 500, 1e-6
	before, during := keysOf(0, 50), keysOf(100, 150) // what the filter had, and what the operation brings
	for _, shards := range []int{1, 3} {
		opts := []Option{WithShards(shards), noFront}
		sets := func(f *Filter) (old, new int) {
			t.Helper()
			old, err := f.ContainsMany(bg, before, nil)
			require.NoError(t, err)
			new, err = f.ContainsMany(bg, during, nil)
			require.NoError(t, err)
			return old, new
		}
		local := func(f *Filter) *Local {
			l, err := f.NewLocal()
			require.NoError(t, err)
			l.AddMany(bg, during, nil)
			return l
		}
		for name, op := range map[string]struct {
			arrange func(f *Filter)
			do      func(f *Filter) error
			// check is called by the next process, with what a whole shard has: all of a set's
			// keys are in whole shards.
			check func(f *Filter, done bool, old, new int)
		}{
			"open": {
				arrange: func(f *Filter) { require.NoError(t, f.Delete(bg)) },
				do: func(f *Filter) error {
					_, err := Open(bg, f.sender.Client, "f", n, p, append(opts, WithTTL(time.Hour))...)
					return err
				},
				check: func(f *Filter, done bool, old, new int) { require.Zero(t, old+new) },
			},
			"open over an orphan": {
				arrange: func(f *Filter) {
					require.NoError(t, f.Delete(bg))
					require.NoError(t, s.Client.Set(bg, "f", string(orphan)+strings.Repeat("\xff", 100), 0).Err())
				},
				do:    func(f *Filter) error { _, err := Open(bg, f.sender.Client, "f", n, p, opts...); return err },
				check: func(f *Filter, done bool, old, new int) { require.Zero(t, old+new) },
			},
			"open over a cut value": {
				arrange: func(f *Filter) {
					value := s.Client.Get(bg, "f").Val()
					require.NoError(t, s.Client.Set(bg, "f", value[:len(value)-1], 0).Err())
				},
				do: func(f *Filter) error { _, err := Open(bg, f.sender.Client, "f", n, p, opts...); return err },
				check: func(f *Filter, done bool, old, new int) {
					require.Less(t, old, len(before))
					require.Zero(t, new)
				},
			},
			"reopen": {
				arrange: func(f *Filter) { require.NoError(t, s.Client.Del(bg, "f").Err()) },
				do: func(f *Filter) error {
					_, err := f.ContainsMany(bg, before, nil)
					_ = err // ErrLost, or the cut
					return f.Reopen(bg)
				},
				check: func(f *Filter, done bool, old, new int) {
					require.Less(t, old, len(before))
					require.Zero(t, new)
				},
			},
			"first add": {
				do: func(f *Filter) error { _, err := f.AddMany(bg, during, nil); return err },
				check: func(f *Filter, done bool, old, new int) {
					require.Equal(t, len(before), old)
					if done {
						require.Equal(t, len(during), new)
					}
				},
			},
			"push": {
				do: func(f *Filter) error { return f.Push(bg, local(f).Filters()...) },
				check: func(f *Filter, done bool, old, new int) {
					if shards == 1 {
						require.Contains(t, [][2]int{{50, 0}, {0, 50}}, [2]int{old, new}, "either the old contents or the new ones")
					}
					if done {
						require.Equal(t, len(during), new)
					}
				},
			},
			"merge": {
				do: func(f *Filter) error { return f.Merge(bg, local(f).Filters()...) },
				check: func(f *Filter, done bool, old, new int) {
					require.Equal(t, len(before), old)
					if shards == 1 {
						require.Contains(t, []int{0, len(during)}, new)
					}
					if done {
						require.Equal(t, len(during), new)
					}
				},
			},
			"delete": {
				do: func(f *Filter) error { return f.Delete(bg) },
				check: func(f *Filter, done bool, old, new int) {
					if shards == 1 {
						require.Contains(t, []int{0, len(before)}, old)
					}
					if done {
						require.Zero(t, old)
					}
				},
			},
			"add to what has vanished": {
				arrange: func(f *Filter) {
					require.NoError(t, s.Client.Del(bg, "f").Err())
				},
				do: func(f *Filter) error { f.AddMany(bg, during, nil); return f.Reopen(bg) },
				check: func(f *Filter, done bool, old, new int) {
					require.Less(t, old, len(before))
				},
			},
		} {
			t.Run(fmt.Sprint(name, shards), func(t *testing.T) {
				cuts := 0
				for done := false; !done; cuts++ {
					require.Less(t, cuts, 1000)
					s.Client.FlushAll(bg)
					f := open(t, s.Client, "f", n, p, opts...)
					_, err := f.AddMany(bg, before, nil)
					require.NoError(t, err)
					if op.arrange != nil {
						op.arrange(f)
					}
					dying := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
					dying.AddHook(&redistest.Cut{Left: cuts})
					f.sender.Client = dying
					err = op.do(f)
					done = err == nil
					dying.Close()

					// The next process finds a filter that is whole, or makes one.
					g := open(t, s.Client, "f", n, p, opts...)
					old, new := sets(g)
					op.check(g, done, old, new)
					for _, key := range g.Keys() {
						require.Equal(t, int64(g.layout.length), s.Client.StrLen(bg, key).Val())
						seen, err := g.look(bg, key, nil)
						require.NoError(t, err)
						h, ok := decodeHeader(seen.head)
						require.True(t, ok)
						require.Equal(t, h.epoch, seen.epoch)
					}
					// What is beside it goes away by itself.
					for _, key := range s.Client.Keys(bg, "*").Val() {
						if strings.Contains(key, "upload") {
							require.Greater(t, s.Client.PTTL(bg, key).Val(), time.Duration(0), "%s has no expiry", key)
						}
					}
					// It can be used, and the operation can be done again.
					g.sender.Client = s.Client
					_, err = g.Add(bg, keyOf(999))
					require.NoError(t, err)
					require.NoError(t, op.do(g))
				}
				t.Logf("%s, %d shards: %d cuts", name, shards, cuts)
				require.Greater(t, cuts, 2)
			})
		}
	}
}
