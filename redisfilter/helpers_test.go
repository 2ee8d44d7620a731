package redisfilter_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/guava"
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
	add    = redistest.AddEach
	ask    = redistest.AskEach

	noFront = redisfilter.WithFront(0)
	growth  = redisfilter.WithGrowth()
	window  = redisfilter.WithWindow(time.Hour, 4)
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
	{"plain", 4000, 1e-9, []option{strategy(bloom.Blocked8)}},
	{"growth", 1024, 1e-9, []option{growth}},
	{"window", 40_000, 1e-9, []option{window}},
	{"plain/Blocked1", 4000, 1e-4, []option{strategy(bloom.Blocked1)}},
	{"plain/Blocked2", 4000, 1e-7, []option{strategy(bloom.Blocked2)}},
	{"plain/Blocked4", 4000, 1e-9, []option{strategy(bloom.Blocked4)}},
	{"plain/SplitBlock", 4000, 1e-6, []option{strategy(bloom.SplitBlock)}},
	{"plain/DoubleHashing", 4000, 1e-9, []option{strategy(bloom.DoubleHashing)}},
	{"plain/k=7", 400_000, 1e-2, []option{strategy(bloom.DoubleHashing)}},  // one command sets the bits of four keys,
	{"plain/k=13", 100_000, 1e-4, []option{strategy(bloom.DoubleHashing)}}, // of two,
	{"plain/k=43", 4000, 1e-13, []option{strategy(bloom.DoubleHashing)}},   // and two commands those of one
	{"plain/SeededHashing", 4000, 1e-9, []option{strategy(bloom.SeededHashing)}},
	{"plain/Guava", 4000, 1e-9, []option{strategy(guava.Mitz64)}},
	{"plain/shards", 4000, 1e-9, []option{redisfilter.WithShards(5)}},
	{"plain/key", 4000, 1e-9, []option{redisfilter.WithBloom(bloom.WithKey([16]byte{1, 2, 3})), redisfilter.WithShards(2)}},
	{"growth/Blocked1", 2048, 1e-4, []option{growth, strategy(bloom.Blocked1)}},
	{"growth/Blocked2", 1024, 1e-7, []option{growth, strategy(bloom.Blocked2)}},
	{"growth/SplitBlock", 1024, 1e-5, []option{growth, strategy(bloom.SplitBlock)}},
	{"growth/DoubleHashing", 1024, 1e-9, []option{growth, strategy(bloom.DoubleHashing)}},
	{"growth/SeededHashing", 1024, 1e-9, []option{growth, strategy(bloom.SeededHashing)}},
	{"growth/shards", 2048, 1e-9, []option{growth, redisfilter.WithShards(2)}},
	{"window/Blocked2", 40_000, 1e-7, []option{window, strategy(bloom.Blocked2)}},
	{"window/shards", 40_000, 1e-9, []option{window, redisfilter.WithShards(3)}},
}

func strategy(s bloom.Strategy) option { return redisfilter.WithBloom(bloom.WithStrategy(s)) }

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

// open2 opens another handle of the filter f.
func (k kind) open2(t testing.TB, client redis.UniversalClient) *filter {
	return k.open(t, client, noFront)
}

// oneWinner lets handles of one set add the same keys, the first ones of the sequence, each in an
// order of its own and in batches of up to 60: each key has one winner.
func oneWinner(t *testing.T, seed uint64, keys int, handles []*filter) {
	t.Helper()
	won := make([]atomic.Int64, keys)
	var all sync.WaitGroup
	for h, f := range handles {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(h)))
			order := random.Perm(keys)
			for len(order) > 0 {
				n := min(1+random.IntN(60), len(order))
				batch := make([][]byte, n)
				for i, k := range order[:n] {
					batch[i] = keyOf(k)
				}
				added := make([]bool, n)
				if _, err := f.AddMany(context.Background(), batch, added); err != nil {
					t.Error(err)
					return
				}
				for i, k := range order[:n] {
					if added[i] {
						won[k].Add(1)
					}
				}
				order = order[n:]
			}
		})
	}
	all.Wait()
	for k := range won {
		require.EqualValues(t, 1, won[k].Load(), "key %d", k)
	}
}
