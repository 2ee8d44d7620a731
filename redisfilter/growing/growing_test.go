package growing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
	"github.com/seed3447c163/bloom/scalable"
)

var (
	bg     = context.Background()
	keyOf  = redistest.KeyOf
	keysOf = redistest.KeysOf
)

func open(t testing.TB, client redis.UniversalClient, n uint64, p float64, opts ...Option) *Filter {
	t.Helper()
	f, err := Open(bg, client, "g", n, p, opts...)
	require.NoError(t, err)
	return f
}

// TestExactModel adds and asks by several handles while layers are opened, and compares each answer
// with a set. At p = 1e-9 no key is taken for another.
func TestExactModel(t *testing.T) {
	s := redistest.Start(t)
	for _, strategy := range []bloom.Strategy{bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8} {
		t.Run(strategy.Name(), func(t *testing.T) {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			random := rand.New(rand.NewPCG(1, 2))
			p := 1e-9
			if strategy == bloom.Blocked1 {
				p = 1e-4 // it has no better rate; with this seed no key is taken for another
			}
			var handles []*Filter
			for range 4 {
				handles = append(handles, open(t, s.Client, 1024, p, WithBloom(bloom.WithStrategy(strategy))))
			}
			have, wrong := map[string]bool{}, 0
			for range 400 {
				f := handles[random.IntN(len(handles))]
				keys := make([][]byte, 1+random.IntN(60))
				for i := range keys {
					keys[i] = keyOf(random.IntN(12_000))
				}
				answers := make([]bool, len(keys))
				add := random.IntN(3) > 0
				var count int
				var err error
				if add {
					count, err = f.AddMany(bg, keys, answers)
				} else {
					count, err = f.ContainsMany(bg, keys, answers)
				}
				require.NoError(t, err)
				require.Equal(t, redistest.Count(answers), count)
				for i, key := range keys {
					if answers[i] == (have[string(key)] == add) {
						wrong++
					}
					have[string(key)] = have[string(key)] || add
				}
			}
			require.Zero(t, wrong)
			require.Greater(t, len(have), 4*1024)
			for _, f := range handles {
				found := make([]bool, 12_000)
				_, err := f.ContainsMany(bg, keysOf(0, len(found)), found)
				require.NoError(t, err)
				for i, yes := range found {
					require.Equal(t, have[string(keyOf(i))], yes)
				}
				require.EqualValues(t, 3, f.life.Load().layers.Load(), f)
			}
		})
	}
}

// TestOneWinner lets handles add the same keys in different orders, through several layers.
func TestOneWinner(t *testing.T) {
	s := redistest.Start(t)
	var handles []*Filter
	for range 8 {
		handles = append(handles, open(t, s.Client, 1024, 1e-9))
	}
	redistest.OneWinner(t, 3, 8000, handles)
}

// TestSameAsScalable: the layers are those of package scalable, and in Redis there are the
// very bytes of its filters.
func TestSameAsScalable(t *testing.T) {
	s := redistest.Start(t)
	for i, strategy := range []bloom.Strategy{bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8} {
		require.NoError(t, s.Client.FlushAll(bg).Err())
		hash := []bloom.Hash{bloom.Murmur3, bloom.RapidHash}[i%2]
		opts := []bloom.Option{bloom.WithStrategy(strategy), bloom.WithSeed(7), bloom.WithHash(hash)}
		f := open(t, s.Client, 1500, 0.01, WithBloom(opts...))
		local, err := scalable.New(1500, 0.01, scalable.WithBloom(opts...))
		require.NoError(t, err)
		want := make([]bool, 0, 8000)
		for i := range 8000 {
			added, err := local.Add(keyOf(i))
			require.NoError(t, err)
			want = append(want, added)
		}
		added := make([]bool, len(want))
		_, err = f.AddMany(bg, keysOf(0, len(want)), added)
		require.NoError(t, err)
		require.Equal(t, want, added)

		var file bytes.Buffer
		_, err = local.WriteTo(&file)
		require.NoError(t, err)
		value := s.Client.Get(bg, "g").Val()
		layers := (*f.planned.Load())[:f.life.Load().layers.Load()]
		require.Len(t, layers, 3)
		for i, params := range local.Layers() {
			require.Equal(t, params, layers[i].scheme.Params())
			bits := value[layers[i].at : layers[i].at+layers[i].scheme.SizeBytes()]
			require.True(t, strings.Contains(file.String(), bits))
		}
		require.Len(t, value, int(f.SizeBytes()))

		joined, err := Join(bg, s.Client, "g", WithBloom(bloom.WithSeed(7)))
		require.NoError(t, err)
		found, err := joined.ContainsMany(bg, keysOf(0, len(want)), nil)
		require.NoError(t, err)
		require.Equal(t, len(want), found)
	}
}

// TestRate fills four layers and a half, and asks for other keys.
func TestRate(t *testing.T) {
	s := redistest.Start(t)
	const p, asked = 0.01, 50_000
	f := open(t, s.Client, 1024, p)
	_, err := f.AddMany(bg, keysOf(0, 23*1024), nil)
	require.NoError(t, err)
	found, err := f.ContainsMany(bg, keysOf(1_000_000, 1_000_000+asked), nil)
	require.NoError(t, err)
	t.Logf("%d of %d keys wrongly found, at most %v expected", found, asked, asked*p)
	require.Less(t, float64(found), asked*p+5*22.3, "5 sigmas of a binomial") // sqrt(50000*0.01*0.99) = 22.2
	require.Greater(t, float64(found), asked*p/4)

	info, err := f.Info(bg)
	require.NoError(t, err)
	t.Log(info)
	require.Equal(t, 5, info.Layers)
	require.EqualValues(t, 31*1024, info.N)
	require.InEpsilon(t, 23*1024, info.EstimatedCount, p)
	require.InEpsilon(t, float64(found)/asked, info.EstimatedFalsePositiveRate, 0.25)
	require.EqualValues(t, s.Client.StrLen(bg, "g").Val(), info.SizeBytes)
	require.Equal(t, 1, info.Handles)
	require.True(t, info.Expires.IsZero())
	require.Contains(t, info.String(), "layers=5")
	require.Contains(t, info.LogValue().String(), "name=g n=31744")
	require.Contains(t, info.LogValue().String(), "layers=5")
	require.Contains(t, f.String(), "layers=5")
	stats, err := f.Stats(bg)
	require.NoError(t, err)
	require.Equal(t, info.Stats, stats)
}

// TestLimit: a handle makes the value no larger than its limit. Keys that are in are answered,
// new ones refused; a handle with a higher limit goes on.
func TestLimit(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1024, 1e-6)
	two, err := f.layers(2, onekey.MaxValue)
	require.NoError(t, err)
	limit := two[1].length()
	small := open(t, s.Client, 1024, 1e-6, WithBloom(bloom.WithMaxBytes(limit)))
	keys := slices.Concat(keysOf(0, 3*1024), keysOf(0, 10), keysOf(5000, 5100), keysOf(10, 20))
	added := make([]bool, len(keys))
	count, err := small.AddMany(bg, keys, added)
	require.ErrorIs(t, err, redisfilter.ErrFull)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, fmt.Sprint(limit))
	failed, ok := errors.AsType[*redisfilter.AddError](err)
	require.True(t, ok)
	require.Empty(t, failed.Unknown)
	require.Equal(t, redistest.Indices(3*1024+10, len(keys)), failed.NotAdded)
	require.Equal(t, 3*1024, count)
	require.Equal(t, 3*1024, redistest.Count(added))
	require.EqualValues(t, limit, s.Client.StrLen(bg, "g").Val())
	found, err := small.ContainsMany(bg, keysOf(5000, 5100), nil)
	require.NoError(t, err)
	require.Zero(t, found)

	yes, err := f.Add(bg, keyOf(5000))
	require.NoError(t, err)
	require.True(t, yes)
	yes, err = small.Add(bg, keyOf(5001))
	require.NoError(t, err, "others have made room")
	require.True(t, yes)
	_, err = Open(bg, s.Client, "g", 1024, 1e-6, WithBloom(bloom.WithMaxBytes(limit)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	_, err = Open(bg, s.Client, "g", 1024, 1e-6, WithBloom(bloom.WithMaxBytes(two[0].length()-1)))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestBatches: those of more than one command, of equal keys, of strings, and of none.
func TestBatches(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 0, 1e-9, WithPrefix("app:"))
	keys := append(keysOf(0, 2345), keysOf(0, 2345)...)
	added := make([]bool, len(keys))
	n, err := f.AddMany(bg, keys, added)
	require.NoError(t, err)
	require.Equal(t, 2345, n)
	for i, yes := range added {
		require.Equal(t, i < 2345, yes)
	}
	n, err = f.ContainsMany(bg, append(keys, keysOf(5000, 5777)...), nil)
	require.NoError(t, err)
	require.Equal(t, 2*2345, n)
	n, err = f.AddMany(bg, nil, nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Panics(t, func() { f.AddMany(bg, keys, make([]bool, 1)) })
	require.Panics(t, func() { f.ContainsMany(bg, keys, make([]bool, 1)) })

	n, err = f.AddStrings(bg, []string{"x", string(keyOf(0)), "", "x"}, added[:4])
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []bool{true, false, true, false}, added[:4])
	n, err = f.ContainsStrings(bg, []string{"x", string(keyOf(0)), "", "y"}, added[:4])
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, []bool{true, true, true, false}, added[:4])
	yes, err := f.Contains(bg, []byte("x"))
	require.NoError(t, err)
	require.True(t, yes)
	yes, err = f.AddString(bg, string(keyOf(0)))
	require.NoError(t, err)
	require.False(t, yes)

	require.Equal(t, []string{"app:g"}, s.Client.Keys(bg, "*").Val())
	require.Contains(t, f.String(), `"g"`)
	counts := f.Counts()
	require.EqualValues(t, 4690+4690+777+4+4+1+1+476, counts.Keys, "of the third command, 24 keys had room: the others were sent again")
	require.Greater(t, counts.RoundTrips, uint64(20))
	require.Greater(t, counts.Bytes, uint64(100_000))
	require.Zero(t, counts.Lost+counts.Unknown+counts.FrontHits)
}

// TestRefused: what cannot be opened, and what is not changed.
func TestRefused(t *testing.T) {
	s := redistest.Start(t)
	try := func(n uint64, p float64, opts ...Option) error {
		_, err := Open(bg, s.Client, "g", n, p, opts...)
		return err
	}
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		require.ErrorIs(t, try(1000, p), bloom.ErrInvalid)
	}
	require.ErrorIs(t, try(1000, 0.01, nil), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, WithTTL(time.Millisecond)), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, WithWait(1, 0)), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, WithBloom(bloom.WithStrategy(bloom.DoubleHashing))), bloom.ErrInvalid)
	require.ErrorIs(t, try(1000, 0.01, WithBloom(bloom.WithHash(bloom.MapHash))), bloom.ErrInvalid)
	require.ErrorContains(t, try(2000, 1e-13), "in layer 0 of a filter for n = 2000 keys at p = 1e-13")
	require.ErrorIs(t, try(1_000_000_000, 0.01), bloom.ErrTooLarge)
	require.ErrorIs(t, try(math.MaxUint64, 0.01), bloom.ErrTooLarge)
	require.ErrorIs(t, try(100_000, 0.01, WithBloom(bloom.WithMaxBytes(100_000))), bloom.ErrTooLarge)
	_, err := Open(bg, s.Client, "", 1000, 0.01)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = Open(bg, nil, "g", 1000, 0.01)
	require.ErrorIs(t, err, bloom.ErrInvalid)
	ended, cancel := context.WithCancel(bg)
	cancel()
	none, err := Open(ended, s.Client, "g", 1000, 0.01)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, none)
	_, err = Join(bg, s.Client, "g")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.Zero(t, s.Client.DBSize(bg).Val())

	f := open(t, s.Client, 2000, 0.01, WithBloom(bloom.WithStrategy(bloom.Blocked4), bloom.WithSeed(3)))
	_, err = f.AddMany(bg, keysOf(0, 3000), nil)
	require.NoError(t, err)
	before := s.Client.Get(bg, "g").Val()
	for _, err := range []error{
		try(2000, 0.01), try(2000, 0.01, WithBloom(bloom.WithStrategy(bloom.Blocked4))), try(2000, 0.01, WithBloom(bloom.WithSeed(3))),
		try(2001, 0.01, WithBloom(bloom.WithStrategy(bloom.Blocked4), bloom.WithSeed(3))),
		try(2000, 0.02, WithBloom(bloom.WithStrategy(bloom.Blocked4), bloom.WithSeed(3))),
	} {
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
	}
	none, err = Join(bg, s.Client, "g")
	require.ErrorIs(t, err, redisfilter.ErrMismatch, "the seed")
	require.Nil(t, none)
	_, err = redisfilter.Open(bg, s.Client, "g", 2000, 0.01)
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	require.True(t, before == s.Client.Get(bg, "g").Val())
	joined, err := Join(bg, s.Client, "g", WithBloom(bloom.WithSeed(3)))
	require.NoError(t, err)
	found, err := joined.ContainsMany(bg, keysOf(0, 3000), nil)
	require.NoError(t, err)
	require.Equal(t, 3000, found)
	yes, err := joined.AddString(bg, "new")
	require.NoError(t, err)
	require.True(t, yes)

	for _, other := range []string{"something else", strings.Repeat("x", 10_000)} {
		require.NoError(t, s.Client.Set(bg, "g", other, 0).Err())
		require.ErrorIs(t, try(1000, 0.01), redisfilter.ErrMismatch)
		_, err = Join(bg, s.Client, "g")
		require.ErrorIs(t, err, redisfilter.ErrMismatch)
		require.Equal(t, other, s.Client.Get(bg, "g").Val())
	}
	require.NoError(t, s.Client.Del(bg, "g").Err())
	require.NoError(t, s.Client.LPush(bg, "g", "a list").Err())
	require.ErrorIs(t, try(1000, 0.01), redisfilter.ErrMismatch)
	_, err = joined.ContainsString(bg, "new")
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
}

// TestTTL: it counts from when the filter is made, adds do not extend it, and all see it.
func TestTTL(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1024, 1e-6, WithTTL(time.Hour))
	ends := s.Client.PExpireTime(bg, "g").Val()
	_, err := f.AddMany(bg, keysOf(0, 3000), nil)
	require.NoError(t, err)
	require.Equal(t, ends, s.Client.PExpireTime(bg, "g").Val())
	g := open(t, s.Client, 1024, 1e-6)
	for _, f := range []*Filter{f, g} {
		info, err := f.Info(bg)
		require.NoError(t, err)
		require.Equal(t, ends.Milliseconds(), info.Expires.UnixMilli())
		require.Contains(t, info.String(), "expires=20")
	}
	require.NoError(t, s.Client.PExpire(bg, "g", time.Millisecond).Err())
	redistest.Eventually(t, "it expires", func() error {
		if s.Client.Exists(bg, "g").Val() == 1 {
			return errors.New("it is there")
		}
		return nil
	})
	_, err = g.ContainsString(bg, "a")
	require.ErrorIs(t, err, redisfilter.ErrLost)
}
