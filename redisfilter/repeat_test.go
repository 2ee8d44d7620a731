package redisfilter_test

import (
	"encoding"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestAddMany: through cut replies, a restart with a log and a restart without one, each key is new, known or listed.
func TestAddMany(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noCache)
		known := k.open(t, s.Client, noCache)
		_, err := known.AddMany(bg, keysOf(0, 100), nil)
		require.NoError(t, err)
		p.CutEvery.Store(7)
		unknown, wins := map[int]bool{}, 0
		for first := 0; first < 300; first += 10 {
			added := make([]bool, 10)
			n, err := f.AddMany(bg, keysOf(first, first+10), added)
			if err != nil {
				var failed *redisfilter.AddError
				require.ErrorAs(t, err, &failed)
				require.NotEmpty(t, redisfilter.UnsureOf(err))
				require.Empty(t, failed.NotAdded)
				for _, i := range failed.Unsure {
					unknown[first+i] = true
				}
			}
			require.Equal(t, count(added), n)
			for i, yes := range added {
				if yes {
					wins++
				}
				require.True(t, unknown[first+i] || yes == (first+i >= 100), first+i)
			}
		}
		p.CutEvery.Store(0)
		require.NotEmpty(t, unknown)

		// A loss is told, and does not stop.
		require.NoError(t, s.Client.FlushAll(bg).Err())
		n, err := f.AddMany(bg, keysOf(0, 20), nil)
		require.ErrorIs(t, err, redisfilter.ErrLost)
		require.Equal(t, 20, n)
		n, err = f.AddMany(bg, keysOf(0, 30), nil)
		require.NoError(t, err)
		require.Equal(t, 10, n)
	})
}

// isReply reports whether an error is an error reply of the server.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// TestSentTwice: a hook sends an add twice, and the second time finds the keys, is refused, or finds another layer. A
// caller that acts on the answers forgets no key, and the keys are unsure.
func TestSentTwice(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for name, c := range map[string]struct{ before, after func() }{
			"found":         {func() {}, func() {}},
			"refused":       {func() { s.Client.ConfigSet(bg, "min-replicas-to-write", "1") }, func() { s.Client.ConfigSet(bg, "min-replicas-to-write", "0") }},
			"another layer": {func() { k.open(t, s.Client).AddMany(bg, keysOf(100, 2100), nil) }, func() {}},
			"no script":     {func() { s.Client.ScriptFlush(bg) }, func() {}},
		} {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			twice := false
			f := k.open(t, client(t, s.Addr, func(cmds []redis.Cmder, send func() error) error {
				if !twice || !isAdd(cmds[0]) {
					return send()
				}
				twice = false
				send()
				c.before()
				defer c.after()
				return send()
			}), noCache)
			_, err := f.Add(bg, keyOf(0)) // so that the server has the script
			require.NoError(t, err)
			twice = true
			n, err := f.AddMany(bg, keysOf(1, 11), nil)
			require.Equal(t, 10, n, "%s: %v", name, err)
			require.Len(t, redisfilter.UnsureOf(err), 10, name)
			twice = true
			added, err := f.Add(bg, keyOf(11))
			require.True(t, added, "%s: %v", name, err)
			require.Equal(t, []int{0}, redisfilter.UnsureOf(err), name)
			found, err := f.ContainsMany(bg, keysOf(0, 12), nil)
			require.NoError(t, err, name)
			require.Equal(t, 12, found, name)
		}
	})
}

// The ways in which a sending of an add fails.
const (
	executed    = iota // it does not
	notSent            // it is written, and the server never gets it
	replyIsLost        // the server executes it
)

// TestEveryWay: a batch of two new keys and a known one is added to a growing filter whose newest layer still takes 0
// to 2 keys, with or without a further layer, while each of the first three sendings fails in one of the three ways,
// and somebody else may add the first key before one of them. All 648 ways are tried. No answer is wrong, and no key is
// lost.
func TestEveryWay(t *testing.T) {
	s := redistest.Start(t)
	a, b, old := []byte("a"), []byte("b"), []byte("old")
	for _, limit := range []uint64{0, 30_000} { // bytes, so that there is no second layer; 0 for none
		opts := []option{growth, noCache, redisfilter.WithShards(1)}
		if limit > 0 {
			opts = append(opts, redisfilter.WithBloom(bloom.WithMaxBytes(limit)))
		}
		k := kind{n: 1024, p: 1e-9, opts: opts}
		for room := range 3 {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			filler := k.open(t, s.Client)
			n, err := filler.AddMany(bg, append(keysOf(0, 1023-room), old), nil)
			require.NoError(t, err)
			require.Equal(t, 1024-room, n)
			value := save(t, s)
			for ways := range 27 {
				for rival := range 4 { // before which sending; 3: none
					restore(t, s, value)
					way, sending, rivalFirst := ways, 0, false
					f := k.open(t, client(t, s.Addr, func(cmds []redis.Cmder, send func() error) (err error) {
						if !isAdd(cmds[0]) {
							return send()
						}
						if sending == rival {
							won, err := k.open(t, s.Client).Add(bg, a)
							rivalFirst = won && err == nil
						}
						now := way % 3
						way, sending = way/3, sending+1
						if now == notSent {
							_, err = cmds[0].Args()[0].(encoding.BinaryMarshaler).MarshalBinary() // as if it was written
							require.NoError(t, err)
						} else {
							err = send()
						}
						if now != executed && (now == notSent || !isReply(err)) {
							err = io.EOF
							cmds[0].SetErr(err)
						}
						return err
					}))
					where := fmt.Sprintf("limit %d, room %d, ways %d, rival %d", limit, room, ways, rival)
					added := make([]bool, 3)
					_, err := f.AddMany(bg, [][]byte{a, b, old}, added)
					failed := &redisfilter.AddError{}
					if err != nil {
						require.ErrorAs(t, err, &failed, where)
					}
					found, err := redistest.Each(bg, f.ContainsMany, [][]byte{a, b, old})
					require.NoError(t, err, where)
					for i := range found {
						byOthers := i == 2 || i == 0 && rivalFirst
						refused := slices.Contains(failed.NotAdded, i)
						unsure := slices.Contains(failed.Unsure, i)
						require.True(t, found[i] || refused || unsure && limit > 0, "%s: key %d is lost", where, i)
						require.True(t, !refused || limit > 0 && !added[i], "%s: key %d", where, i)
						require.True(t, !unsure || added[i], "%s: key %d", where, i)
						if !refused && !unsure {
							require.Equal(t, !byOthers, added[i], "%s: key %d", where, i)
						}
					}
				}
			}
		}
	}
}
