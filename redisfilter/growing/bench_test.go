package growing

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// BenchmarkAgainstPlain adds fresh keys and asks for absent ones, in batches of 100, by turns
// with a plain filter for as many keys, with one layer and with several. The metrics are medians:
// microseconds a key of the whole call, and how many times the plain filter's speed.
func BenchmarkAgainstPlain(b *testing.B) {
	s := redistest.Start(b)
	client := redis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1})
	defer client.Close()
	next := 10_000_000
	for _, layers := range []int{1, 2, 4} {
		s.Client.FlushAll(bg)
		const n, p = 1 << 21, 0.01
		plain, err := redisfilter.Open(bg, client, "plain", n, p, redisfilter.WithFront(0))
		require.NoError(b, err)
		f := open(b, client, n>>(layers-1), p)
		// The newest layer is opened at once, and has room for the benchmark.
		for range layers - 1 {
			require.NoError(b, s.Client.SetRange(bg, "g", leftAt, "\x00\x00\x00\x00\x00\x00\x00\x00").Err())
			_, err := f.AddMany(bg, keysOf(next, next+1), nil)
			require.NoError(b, err)
			next++
		}
		require.EqualValues(b, layers, f.life.Load().layers.Load())
		for _, op := range []string{"add", "ask"} {
			b.Run(fmt.Sprintf("%s/layers=%d", op, layers), func(b *testing.B) {
				next = redistest.ByTurns(b, op == "add", next, [2]string{"plain", "growing"}, [2]redistest.Set{plain, f})
			})
		}
	}
}
