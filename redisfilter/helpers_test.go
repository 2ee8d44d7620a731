package redisfilter_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

type (
	filter = redisfilter.Filter
	option = redisfilter.Option
)

var (
	bg     = context.Background()
	keyOf  = redistest.KeyOf
	keysOf = redistest.KeysOf
	count  = redistest.Count

	noCache = redisfilter.WithCache(0)
	growth  = redisfilter.WithGrowth()
	window  = redisfilter.WithGenerations(30*time.Minute, 2)
)

// A kind is a way to open a filter.
type kind struct {
	name string
	n    uint64
	p    float64
	opts []option
}

// kinds are filters of all kinds. The three first ones are the plain, growing and windowed default.
var kinds = []kind{
	{"plain", 4000, 1e-9, nil},
	{"growth", 1024, 1e-9, []option{growth}},
	{"window", 10_000, 1e-9, []option{window}},
	{"plain/two words", 4000, 1e-2, nil},
	{"plain/smallest p", 4000, 1e-12, nil},
	{"plain/shards", 4000, 1e-9, []option{redisfilter.WithShards(5)}},
	{"plain/secret", 4000, 1e-9, []option{redisfilter.WithBloom(bloom.WithSecret([16]byte{1, 2, 3})), redisfilter.WithShards(2)}},
	{"growth/from two words", 1024, 1e-2, []option{growth}},
	{"growth/shards", 2048, 1e-9, []option{growth, redisfilter.WithShards(2)}},
	{"window/two words", 10_000, 0.1, []option{window}},
	{"window/smallest p", 10_000, 1e-11, []option{redisfilter.WithGenerations(15*time.Minute, 4)}},
	{"window/shards", 10_000, 1e-9, []option{window, redisfilter.WithShards(3)}},
}

// each runs a test with the first count of all kinds, each on an empty server.
func each(t *testing.T, count int, test func(t *testing.T, s *redistest.Server, k kind)) {
	s := redistest.Start(t)
	for _, k := range kinds[:count] {
		t.Run(k.name, func(t *testing.T) {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			test(t, s, k)
		})
	}
}

// open opens the filter f, which must work.
func (k kind) open(t testing.TB, client redis.UniversalClient, opts ...option) *filter {
	t.Helper()
	f, err := redisfilter.Open(bg, client, "f", k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], opts...)...)
	require.NoError(t, err)
	return f
}

func open(t testing.TB, client redis.UniversalClient, n uint64, p float64, opts ...option) *filter {
	t.Helper()
	return kind{n: n, p: p}.open(t, client, opts...)
}

// stopClock stops the clocks of the server and of all handles. After a second without a reply, which a busy machine may
// take, the cache would not answer.
func stopClock(s *redistest.Server) (reset func()) {
	s.Client.Set(bg, "clock", time.Hour.Milliseconds(), 0)
	return redisfilter.SetClock(func() time.Duration { return time.Hour })
}

// sizeOf returns the length of the values of a filter.
func sizeOf(s *redistest.Server, f *filter) (size int64) {
	for _, name := range f.Keys() {
		size += s.Client.StrLen(bg, name).Val()
	}
	return size
}

// calls are the calls that notice what has happened to a filter, with keys from a number on.
var calls = map[string]func(f *filter, from int) error{
	"Add":          func(f *filter, from int) error { _, err := f.Add(bg, keyOf(from)); return err },
	"AddMany":      func(f *filter, from int) error { _, err := f.AddMany(bg, keysOf(from, from+20), nil); return err },
	"Contains":     func(f *filter, from int) error { _, err := f.Contains(bg, keyOf(from)); return err },
	"ContainsMany": func(f *filter, from int) error { _, err := f.ContainsMany(bg, keysOf(from, from+20), nil); return err },
	"Stats":        func(f *filter, _ int) error { _, err := f.Stats(bg); return err },
}
