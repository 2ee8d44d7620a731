package window

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestJoin opens filters without saying what they were made for.
func TestJoin(t *testing.T) {
	s := redistest.Start(t)
	for _, c := range []struct{ made, joined []Option }{
		{nil, nil},
		{made: []Option{WithBloom(bloom.WithStrategy(bloom.Blocked1))}},
		{made: []Option{WithBloom(bloom.WithStrategy(bloom.Blocked8))}},
		{[]Option{WithPrefix("app:")}, []Option{WithPrefix("app:")}},
		{[]Option{WithBloom(bloom.WithSeed(7))}, []Option{WithBloom(bloom.WithSeed(7))}},
		{made: []Option{WithBloom(bloom.WithHash(bloom.RapidHash))}},
		{[]Option{WithBloom(bloom.WithHash(bloom.RapidHash), bloom.WithSeed(7))}, []Option{WithBloom(bloom.WithSeed(7))}},
	} {
		require.NoError(t, s.Client.FlushAll(bg).Err())
		f := open(t, s.Client, 3001, 1e-3, 10*time.Second+time.Millisecond, 3, c.made...)
		_, err := f.AddMany(bg, redistest.KeysOf(0, 500), nil)
		require.NoError(t, err)
		g, err := Join(bg, s.Client, "w", c.joined...)
		require.NoError(t, err)
		require.Equal(t, f.header.fingerprint, g.header.fingerprint)
		require.Equal(t, f.header.text, g.header.text)
		require.Equal(t, f.header.String(), g.header.String())
		n, err := g.ContainsMany(bg, redistest.KeysOf(0, 500), nil)
		require.NoError(t, err)
		require.Equal(t, 500, n)
		n, err = g.AddMany(bg, redistest.KeysOf(0, 501), nil)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
}

func TestJoinRefuses(t *testing.T) {
	s := redistest.Start(t)
	_, err := Join(bg, s.Client, "w")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.ErrorContains(t, err, "there is none")
	_, err = Join(bg, s.Client, "")
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.Zero(t, s.Client.DBSize(bg).Val(), "nothing is made")

	f := open(t, s.Client, 1000, 1e-3, time.Hour, 4)
	for name, opts := range map[string][]Option{
		"seed":     {WithBloom(bloom.WithSeed(7))},
		"key":      {WithBloom(bloom.WithKey([16]byte{1}))},
		"hash":     {WithBloom(bloom.WithHash(bloom.RapidHash))},
		"strategy": {WithBloom(bloom.WithStrategy(bloom.Blocked8))},
	} {
		none, err := Join(bg, s.Client, "w", opts...)
		require.ErrorIs(t, err, redisfilter.ErrMismatch, name)
		require.Nil(t, none)
	}
	_, err = Join(bg, s.Client, "w", WithBloom(bloom.WithMaxBytes(f.SizeBytes()-1)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)

	whole := s.Client.Get(bg, "w").Val()
	for at := range headerBytes { // the length of what is read follows from the header
		b := []byte(whole)
		b[at] ^= 0x41
		require.NoError(t, s.Client.Set(bg, "w", b, 0).Err())
		g, err := Join(bg, s.Client, "w")
		if at >= 64 || at >= 32 && at < 56 {
			continue // for people; and an n or p that leads to the same size is as good
		}
		require.Error(t, err, "byte %d: %v", at, g)
	}
	for _, other := range []string{"", "x", whole[:100], whole[:len(whole)-1]} {
		require.NoError(t, s.Client.Set(bg, "w", other, 0).Err())
		_, err := Join(bg, s.Client, "w")
		require.Error(t, err)
		require.Equal(t, other, s.Client.Get(bg, "w").Val())
	}
}

// TestPrefix has two filters of one name.
func TestPrefix(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 1e-6, time.Hour, 4, WithPrefix("one:"))
	g := open(t, s.Client, 1000, 1e-6, time.Hour, 4, WithPrefix("two:"))
	require.Contains(t, f.String(), `"w"`)
	_, err := f.AddString(bg, "a")
	require.NoError(t, err)
	found, err := g.ContainsString(bg, "a")
	require.NoError(t, err)
	require.False(t, found)
	require.ElementsMatch(t, []string{"one:w", "two:w"}, s.Client.Keys(bg, "*").Val())
	require.NoError(t, f.Delete(bg))
	require.Equal(t, []string{"two:w"}, s.Client.Keys(bg, "*").Val())
}

// TestStrings: a string is the same key as its bytes, in every call.
func TestStrings(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 10_000, 1e-6, time.Hour, 4)
	var texts []string
	for _, key := range redistest.KeysOf(0, 700) {
		texts = append(texts, string(key))
	}
	added := make([]bool, len(texts))
	n, err := f.AddStrings(bg, texts[:600], added[:600])
	require.NoError(t, err)
	require.Equal(t, 600, n)
	require.Equal(t, 600, redistest.Count(added))
	answers, err := redistest.AddEach(bg, f, redistest.KeysOf(500, 700))
	require.NoError(t, err)
	for i, yes := range answers {
		require.Equal(t, i >= 100, yes)
	}
	found := make([]bool, len(texts))
	n, err = f.ContainsStrings(bg, append(texts[:600:600], "else"), found[:601])
	require.NoError(t, err)
	require.Equal(t, 600, n)
	require.False(t, found[600])
	yes, err := f.ContainsString(bg, texts[0])
	require.NoError(t, err)
	require.True(t, yes)
	require.Panics(t, func() { f.AddStrings(bg, texts, added[:1]) })
	require.Panics(t, func() { f.ContainsStrings(bg, texts, found[:1]) })
}

// TestInfoAndCounts on a filter of two handles.
func TestInfoAndCounts(t *testing.T) {
	s := redistest.Start(t)
	f, g := open(t, s.Client, 4000, 1e-3, 10*time.Second, 3), open(t, s.Client, 4000, 1e-3, 10*time.Second, 3)
	opened := f.Counts().RoundTrips
	_, err := f.AddMany(bg, redistest.KeysOf(0, 700), nil)
	require.NoError(t, err)
	_, err = g.AddMany(bg, redistest.KeysOf(700, 1000), nil)
	require.NoError(t, err)
	info, err := f.Info(bg)
	require.NoError(t, err)
	require.Equal(t, "w", info.Name)
	require.Equal(t, 3, info.Generations)
	require.Equal(t, 3*3334*time.Millisecond, info.Window, "rounded up")
	require.Equal(t, 2, info.Handles)
	require.Equal(t, f.SizeBytes(), info.SizeBytes)
	require.EqualValues(t, s.Client.StrLen(bg, "w").Val(), info.SizeBytes)
	require.InDelta(t, 1000, float64(info.EstimatedCount), 40)
	require.Contains(t, info.String(), `"w" n=4000 p=0.001 window=10.002s generations=3`)
	require.Contains(t, info.LogValue().String(), "name=w n=4000")
	require.Contains(t, info.LogValue().String(), "generations=3")
	stats, err := f.Stats(bg)
	require.NoError(t, err)
	require.Equal(t, info.N, stats.N)
	require.InDelta(t, info.EstimatedCount, stats.EstimatedCount, 40)

	_, err = f.ContainsString(bg, "a") // the server has the script then
	require.NoError(t, err)
	before := f.Counts()
	require.EqualValues(t, 701, before.Keys)
	require.Greater(t, before.RoundTrips, opened+2)
	_, err = f.ContainsMany(bg, redistest.KeysOf(0, 600), nil)
	require.NoError(t, err)
	after := f.Counts()
	require.EqualValues(t, 2, after.RoundTrips-before.RoundTrips)
	require.EqualValues(t, 600, after.Keys-before.Keys)
	sent := after.Bytes - before.Bytes
	require.InDelta(t, 2*commandBytes+600*(2*6+9*2), float64(sent), 600*6, "two numbers of some digits and two words each")
	require.Zero(t, after.Lost+after.Unknown+after.FrontHits)
	require.NoError(t, s.Client.Del(bg, "w").Err())
	for range 3 {
		_, err = f.AddString(bg, "a")
		require.ErrorIs(t, err, redisfilter.ErrLost)
	}
	require.EqualValues(t, 1, f.Counts().Lost, "once")
}

// TestJoinMakesNothing also when the filter is deleted while it is joined.
func TestJoinMakesNothing(t *testing.T) {
	s := redistest.Start(t)
	open(t, s.Client, 1000, 1e-3, time.Hour, 4)
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	deleted := false
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		err := send()
		if !deleted && cmds[0].Name() == "getrange" { // the first command that reads the filter
			deleted = true
			require.NoError(t, s.Client.Del(bg, "w").Err())
		}
		return err
	}))
	_, err := Join(bg, client, "w")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.Zero(t, s.Client.DBSize(bg).Val())
}

// TestInfoOfRuined counts nothing in a record that no script has written.
func TestInfoOfRuined(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 1e-3, time.Hour, 4)
	for _, stamp := range []float64{-1, -1e300, math.Inf(-1), math.Inf(1), math.NaN(), 1e300, 1 << 54} {
		record := bytes.Repeat([]byte{255}, int(f.layout.record))
		binary.LittleEndian.PutUint64(record, math.Float64bits(stamp))
		require.NoError(t, s.Client.SetRange(bg, "w", headerBytes, string(record)).Err())
		info, err := f.Info(bg)
		require.NoError(t, err)
		require.Zero(t, info.Ones, "%v", stamp)
	}
}
