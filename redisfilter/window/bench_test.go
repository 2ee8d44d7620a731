package window

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// BenchmarkAgainstPlain adds fresh keys and asks for absent ones, in batches of 100, by turns
// with a plain filter for as many keys, and with one for each generations. The metrics are
// medians: microseconds a key of the whole call, and how many times the plain filter's speed.
func BenchmarkAgainstPlain(b *testing.B) {
	s := redistest.Start(b)
	client := redis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1})
	defer client.Close()
	const n, p = 100_000, 0.01
	plain, err := redisfilter.Open(bg, client, "plain", n, p, redisfilter.WithFront(0))
	require.NoError(b, err)
	next := 10_000_000
	for _, generations := range []int{1, 4} {
		s.Client.Del(bg, "w", "clock")
		setClock(b, s, start)
		full := open(b, client, n, p, time.Hour, generations, testClock)
		for g := range generations { // the generations before this one are full
			setClock(b, s, start+int64(g)*full.plan.millis())
			_, err := full.AddMany(bg, redistest.KeysOf(g*n/generations, (g+1)*n/generations), nil)
			require.NoError(b, err)
		}
		setClock(b, s, start+int64(generations)*full.plan.millis())
		for _, op := range []string{"add", "ask"} {
			b.Run(op+"/generations="+string(rune('0'+generations)), func(b *testing.B) {
				next = redistest.ByTurns(b, op == "add", next, [2]string{"plain", "window"}, [2]redistest.Set{plain, full})
			})
		}
	}
}
