package bitmap

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var (
	bg          = context.Background()
	startServer = redistest.Start
	keyOf       = redistest.KeyOf
	keysOf      = redistest.KeysOf
	count       = redistest.Count
	each        = redistest.Each
)

const fox = "The quick brown fox jumps over the lazy dog"

// javaArticle is the layout of a filter that a much-copied Java article keeps in a
// Redis bitmap: Guava's positions for 3000 keys at 3 %, modulo an m that is not
// rounded.
func javaArticle(t testing.TB) *bloom.Scheme {
	t.Helper()
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(guava.Mitz64))
	require.NoError(t, err)
	return s
}

// helper is the layout of the Java class BloomFilterHelper of many tutorials.
func helper(t testing.TB) *bloom.Scheme {
	t.Helper()
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: 21895, K: 5}, bloom.WithStrategy(guava.Mitz32))
	require.NoError(t, err)
	return s
}

// must returns positions that have no error.
func must(p Positions, err error) Positions {
	if err != nil {
		panic(err)
	}
	return p
}

// TestBitmapLayouts adds keys and finds exactly the bits set, with Redis's own
// GETBIT, that an independent computation of each layout (in Python, from the
// published digests) has found; and, the other way round, finds keys that SETBIT
// has put there.
func TestBitmapLayouts(t *testing.T) {
	s := startServer(t)
	for name, c := range map[string]struct {
		positions Positions
		want      map[string][]int64
	}{
		"java article": {javaArticle(t), map[string][]int64{
			fox: {16295, 568, 6736, 12904, 19072}, "hell": {15281, 10864, 3419, 20897, 16480},
		}},
		"BloomFilterHelper": {helper(t), map[string][]int64{
			fox: {1023, 18206, 8706, 13418, 18130}, "hell": {4914, 17117, 17254, 4809, 17222},
		}},
		"rueidisprob": {must(RueidisProb(95851, 7)), map[string][]int64{
			fox:    {71065, 65037, 5636, 95459, 36058, 30030, 66480},
			"hell": {49074, 2982, 10263, 17544, 67303, 74584, 28492},
		}},
		"go-zero": {must(GoZero(20000)), map[string][]int64{
			"hell": {8579, 12378, 12059, 4009, 302, 7756, 11626, 10632, 6750, 19343, 17422, 7890, 1619, 14074},
		}},
	} {
		for key, positions := range c.want {
			t.Run(name+"/"+key, func(t *testing.T) {
				s.Client.FlushAll(bg)
				b, err := Open(s.Client, "{theirs}", c.positions, 0, false)
				require.NoError(t, err)
				added, err := each(bg, b.AddMany, [][]byte{[]byte(key), []byte(key)})
				require.NoError(t, err)
				require.Equal(t, []bool{true, false}, added)
				for _, pos := range positions {
					require.EqualValues(t, 1, s.Client.GetBit(bg, "{theirs}", pos).Val())
				}
				require.EqualValues(t, len(positions), s.Client.BitCount(bg, "{theirs}", nil).Val())

				s.Client.Del(bg, "{theirs}")
				for _, pos := range positions { // a missing bitmap is an empty filter
					found, err := b.Contains(bg, []byte(key))
					require.NoError(t, err)
					require.False(t, found)
					s.Client.SetBit(bg, "{theirs}", pos, 1)
				}
				found, err := b.Contains(bg, []byte(key))
				require.NoError(t, err)
				require.True(t, found)
			})
		}
	}
}

// TestGoZeroLeavesTheCallersBytes: a key that is a part of a longer slice.
func TestGoZeroLeavesTheCallersBytes(t *testing.T) {
	p, err := GoZero(1000)
	require.NoError(t, err)
	whole := []byte("hello")
	p.AppendPositions(nil, whole[:4])
	require.Equal(t, "hello", string(whole))
}

func TestUnevenPositions(t *testing.T) {
	s := startServer(t)
	b, err := Open(s.Client, "f", positionsFunc(func(dst []uint64, key []byte) []uint64 {
		return append(dst, make([]uint64, 1+len(key))...)
	}), 0, false)
	require.NoError(t, err)
	require.PanicsWithValue(t, "redisfilter: 3 positions for a key and 1 for another, want as many", func() {
		each(bg, b.AddMany, [][]byte{nil, []byte("ab")})
	})
}

func TestBadBitmaps(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // nothing is sent
	defer client.Close()
	mapHash, err := bloom.NewScheme(100, 0.1, bloom.WithHash(bloom.MapHash))
	require.NoError(t, err)
	large, err := bloom.NewScheme(1e10, 0.1)
	require.NoError(t, err)
	for _, c := range []struct {
		text      string
		positions Positions
		ttl       time.Duration
	}{
		{"no positions", nil, 0},
		{"no positions", (*bloom.Scheme)(nil), 0},
		{"no positions", new(bloom.Scheme), 0},
		{"its hash is maphash", mapHash, 0},
		{"TTL 1µs", javaArticle(t), time.Microsecond},
		{"TTL -1ns", javaArticle(t), -1},
	} {
		_, err := Open(client, "f", c.positions, c.ttl, false)
		require.ErrorIs(t, err, bloom.ErrInvalid, c.text)
		require.ErrorContains(t, err, c.text)
	}
	_, err = Open(client, "f", large, 0, false)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = GoZero(0)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = GoZero(1<<32 + 1)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = RueidisProb(0, 7)
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

// TestFailedAdds: the keys of a command without an answer may be in the bitmap, those of
// one that was refused are not, and neither are those behind it.
func TestFailedAdds(t *testing.T) {
	s := startServer(t)
	s.Client.LPush(bg, "list", 1)
	b, err := Open(s.Client, "list", javaArticle(t), 0, false)
	require.NoError(t, err)
	_, err = b.AddMany(bg, keysOf(0, 1200), nil)
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	require.ErrorIs(t, err, redisfilter.ErrRefused)
	var failed *redisfilter.AddError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, batch.Indices(0, 1200), failed.NotAdded)
	_, err = b.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, redisfilter.ErrMismatch)

	b, err = Open(redistest.Unanswered(t, &redis.Options{Addr: s.Addr}), "f", javaArticle(t), 0, false)
	require.NoError(t, err)
	_, err = b.AddMany(bg, keysOf(0, 1200), nil)
	require.ErrorAs(t, err, &failed)
	require.Equal(t, batch.Indices(0, 500), failed.Unsure)
	require.Equal(t, batch.Indices(500, 1200), failed.NotAdded)
}

// TestTTL: a bitmap that an add finds without a TTL gets one, and one with a TTL keeps it, unless adds renew it.
// Lookups never do. An add whose TTL fails says so.
func TestTTL(t *testing.T) {
	s := startServer(t)
	f, err := Open(s.Client, "b", javaArticle(t), time.Hour, false)
	require.NoError(t, err)
	_, err = f.Add(bg, keyOf(0))
	require.NoError(t, err)
	require.InDelta(t, time.Hour, s.Client.PTTL(bg, "b").Val(), float64(time.Minute))
	require.NoError(t, s.Client.PExpire(bg, "b", time.Minute).Err())
	_, err = f.Add(bg, keyOf(1))
	require.NoError(t, err)
	require.LessOrEqual(t, s.Client.PTTL(bg, "b").Val(), time.Minute)

	_, err = Open(s.Client, "b", javaArticle(t), 0, true)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	renewing, err := Open(s.Client, "b", javaArticle(t), 2*time.Hour, true)
	require.NoError(t, err)
	_, err = renewing.Contains(bg, keyOf(0))
	require.NoError(t, err)
	require.LessOrEqual(t, s.Client.PTTL(bg, "b").Val(), time.Minute)
	for _, added := range []bool{true, false} { // also of a known key
		require.NoError(t, s.Client.PExpire(bg, "b", time.Minute).Err())
		got, err := renewing.Add(bg, keyOf(2))
		require.NoError(t, err)
		require.Equal(t, added, got)
		require.InDelta(t, 2*time.Hour, s.Client.PTTL(bg, "b").Val(), float64(time.Minute))
	}
	require.NoError(t, s.Client.Do(bg, "ACL", "SETUSER", "default", "-pexpire").Err())
	for i, f := range []*Filter{f, renewing} {
		require.NoError(t, s.Client.Persist(bg, "b").Err())
		added, err := f.Add(bg, keyOf(3+i))
		require.True(t, added)
		var failed *redisfilter.AddError
		require.ErrorAs(t, err, &failed)
		require.Empty(t, failed.Unsure)
		require.ErrorContains(t, err, `key "b": added without a TTL: `)
		require.Regexp(t, "can't run this command|no permissions to run the 'pexpire' command", err.Error()) // Redis 7, 8
	}
}

// TestHalfOfAScript: an add that the server refuses leaves no bits, so that the key is new to the next add.
func TestHalfOfAScript(t *testing.T) {
	s := startServer(t)
	f, err := Open(s.Client, "b", javaArticle(t), time.Hour, false)
	require.NoError(t, err)
	require.NoError(t, s.Client.Do(bg, "ACL", "SETUSER", "default", "-pttl").Err())
	added, err := f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, redisfilter.ErrRefused)
	require.False(t, added)
	require.NoError(t, s.Client.Do(bg, "ACL", "SETUSER", "default", "+pttl").Err())
	added, err = f.Add(bg, keyOf(0))
	require.NoError(t, err)
	require.True(t, added)
}

// TestBirth: whatever the client sends last before its process ends, a bitmap with bits has a TTL, and adders that meet
// at its birth leave one expiry.
func TestBirth(t *testing.T) {
	s := startServer(t)
	const adders = 8
	for _, c := range []struct {
		renew bool
		set   int // how often the TTL is set
	}{{false, 1}, {true, adders}} {
		require.NoError(t, s.Client.FlushAll(bg).Err())
		require.NoError(t, s.Client.ConfigResetStat(bg).Err())
		var all redistest.Group
		for i := range adders {
			client := redistest.Connect(t, &redis.Options{Addr: s.Addr})
			client.AddHook(redistest.Hook(func(_ []redis.Cmder, send func() error) error {
				err := send()
				assert.NotEqual(t, time.Duration(-1), s.Client.PTTL(bg, "b").Val(), "no TTL")
				return err
			}))
			f, err := Open(client, "b", javaArticle(t), time.Hour, c.renew)
			require.NoError(t, err)
			all.Go(func() {
				_, err := f.AddMany(bg, keysOf(100*i, 100*i+300), nil)
				assert.NoError(t, err)
			})
		}
		all.Wait()
		require.Contains(t, s.Client.Info(bg, "commandstats").Val(), fmt.Sprintf("cmdstat_pexpire:calls=%d,", c.set))
	}
}

// TestNeverSent: an add that fails before it is written to a connection is not added.
func TestNeverSent(t *testing.T) {
	s := startServer(t)
	for _, ttl := range []time.Duration{0, time.Hour} {
		client := redistest.Connect(t, &redis.Options{Addr: s.Addr})
		client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
			cmds[0].SetErr(errors.New("down"))
			return errors.New("down")
		}))
		f, err := Open(client, "b", javaArticle(t), ttl, false)
		require.NoError(t, err)
		_, err = f.AddMany(bg, keysOf(0, 10), nil)
		require.ErrorContains(t, err, "10 keys not added: ")
	}
}

// TestSentTwice: if a hook sends an add twice, its own bits hide that the keys are new.
func TestSentTwice(t *testing.T) {
	s := startServer(t)
	client := redistest.Connect(t, &redis.Options{Addr: s.Addr})
	client.AddHook(redistest.Hook(func(_ []redis.Cmder, send func() error) error {
		send()
		return send()
	}))
	for i, ttl := range []time.Duration{0, time.Hour} {
		f, err := Open(client, "b", javaArticle(t), ttl, false)
		require.NoError(t, err)
		n, err := f.AddMany(bg, keysOf(10*i, 10*i+10), nil)
		require.Equal(t, 10, n)
		var failed *redisfilter.AddError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, batch.Indices(0, 10), failed.Unsure)
	}
}

// TestStats of each layout, of a missing bitmap, and of a key that holds no string.
func TestStats(t *testing.T) {
	s := startServer(t)
	custom := positionsFunc(func(dst []uint64, key []byte) []uint64 {
		if len(key) == 0 {
			return append(dst, 0)
		}
		return append(dst, uint64(key[len(key)-1]))
	})
	for name, c := range map[string]struct {
		positions Positions
		m         uint64 // 0: that of the value
		k         int
	}{
		"java article": {javaArticle(t), 21895, 5},
		"rueidisprob":  {must(RueidisProb(95851, 7)), 95851, 7},
		"go-zero":      {must(GoZero(200_000)), 200_000, 14},
		"custom":       {custom, 0, 1},
	} {
		s.Client.FlushAll(bg)
		f, err := Open(s.Client, "b", c.positions, 0, false)
		require.NoError(t, err)
		stats, err := f.Stats(bg)
		require.NoError(t, err)
		require.Zero(t, stats.Ones, name)
		_, err = f.AddMany(bg, keysOf(0, 3000), nil)
		require.NoError(t, err)
		again, err := each(bg, f.ContainsMany, keysOf(0, 3000))
		require.NoError(t, err)
		require.Equal(t, 3000, count(again))
		stats, err = f.Stats(bg)
		require.NoError(t, err)
		require.EqualValues(t, s.Client.BitCount(bg, "b", nil).Val(), stats.Ones)
		require.EqualValues(t, s.Client.StrLen(bg, "b").Val(), stats.SizeBytes)
		require.Equal(t, c.k, stats.K)
		if c.m == 0 { // the last digits of the keys
			require.Equal(t, 8*stats.SizeBytes, stats.M)
			require.EqualValues(t, 10, stats.Ones)
			continue
		}
		require.Equal(t, c.m, stats.M)
		require.InEpsilon(t, 3000, stats.EstimatedCount, 0.05, name)
		found, err := f.ContainsMany(bg, keysOf(100_000, 120_000), nil)
		require.NoError(t, err)
		require.InDelta(t, float64(found)/20_000, stats.EstimatedFalsePositiveRate, 0.01)
	}
	s.Client.Del(bg, "b")
	require.NoError(t, s.Client.LPush(bg, "b", "a list").Err())
	f, err := Open(s.Client, "b", javaArticle(t), 0, false)
	require.NoError(t, err)
	_, err = f.Stats(bg)
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
}

type positionsFunc func(dst []uint64, key []byte) []uint64

func (f positionsFunc) AppendPositions(dst []uint64, key []byte) []uint64 { return f(dst, key) }
