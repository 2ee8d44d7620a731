package growing

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// TestSizeWhileGrowing asks for the size while another goroutine of the process sees layers come.
func TestSizeWhileGrowing(t *testing.T) {
	client := redis.NewClient(&redis.Options{}) // nothing is sent
	defer client.Close()
	f, err := newFilter(client, "g", nil)
	require.NoError(t, err)
	require.NoError(t, f.plan(1024, 0.01))
	first := f.planned.Load()
	for range 500 {
		f.planned.Store(first)
		l := new(life)
		l.see(1)
		f.life.Store(l)
		const most = 12
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := 2; i <= most; i++ {
				if f.canHave(uint64(i)) {
					l.see(uint64(i))
				}
			}
		}()
		last := uint64(0)
		for l.layers.Load() < most {
			size := f.SizeBytes()
			require.GreaterOrEqual(t, size, last)
			last = size
		}
		<-done
	}
}

// TestDefaultStrategy: the strategy is chosen for the rate of the third layer, p/12.
func TestDefaultStrategy(t *testing.T) {
	client := redis.NewClient(&redis.Options{}) // nothing is sent
	defer client.Close()
	for _, c := range []struct {
		p    float64
		want bloom.Strategy
	}{
		{0.5, bloom.Blocked2}, {12.01e-4, bloom.Blocked2}, {11.99e-4, bloom.Blocked4},
		{12.01e-6, bloom.Blocked4}, {11.99e-6, bloom.Blocked8}, {1e-10, bloom.Blocked8},
	} {
		f, err := newFilter(client, "g", nil)
		require.NoError(t, err)
		require.NoError(t, f.plan(1024, c.p))
		require.Equal(t, c.want, f.hash.Strategy(), "p = %v", c.p)
	}
}

// TestNonceEnds: a value that ends with a nonce and loses its last byte must not read as before.
func TestNonceEnds(t *testing.T) {
	for range 10_000 {
		require.NotZero(t, onekey.NewNonce()[7])
	}
}
