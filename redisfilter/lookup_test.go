package redisfilter_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/bitmap"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// clientsOf returns clients of a server: a plain one and, if this version of go-redis has it, one with a cache.
func clientsOf(t *testing.T, addr string) map[string]redis.UniversalClient {
	cached := redis.Options{Addr: addr, Protocol: 3}
	clients := map[string]redis.UniversalClient{"plain": redistest.Connect(t, &redis.Options{Addr: addr})}
	if config := reflect.ValueOf(&cached).Elem().FieldByName("ClientSideCacheConfig"); config.IsValid() {
		config.Set(reflect.New(config.Type().Elem()))
		clients["cache"] = redistest.Connect(t, &cached)
	} else {
		t.Log("NOT TESTED with this go-redis: its cache on the client")
	}
	return clients
}

// TestAutoPipeline: a client that encodes a command before it sends it is refused.
func TestAutoPipeline(t *testing.T) {
	client := redistest.Connect(t, &redis.Options{Addr: "127.0.0.1:1"}) // nothing is sent
	for _, method := range []string{"AutoPipeline", "AsyncAutoPipeline"} {
		t.Run(method, func(t *testing.T) {
			begin := reflect.ValueOf(client).MethodByName(method)
			if !begin.IsValid() {
				t.Skip("NOT TESTED with this go-redis, which has no " + method)
			}
			_, err := redisfilter.Open(bg, begin.Call(nil)[0].Interface().(redis.UniversalClient), "f", 1000, 0.01)
			require.ErrorIs(t, err, bloom.ErrInvalid)
		})
	}
}

// TestLookupsOfThePrimary: whatever the client keeps, a lookup finds what another process has added, also after a reply
// was lost.
func TestLookupsOfThePrimary(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		positions, err := bloom.NewScheme(1000, 1e-9)
		require.NoError(t, err)
		for name, c := range clientsOf(t, p.Addr) {
			t.Run(name, func(t *testing.T) {
				p.CutEvery.Store(0)
				s.Client.FlushAll(bg)
				other, f := k.open(t, s.Client, noCache), k.open(t, c, noCache)
				theirs, err := bitmap.Open(s.Client, "b", positions, 0, false)
				require.NoError(t, err)
				ours, err := bitmap.Open(c, "b", positions, 0, false)
				require.NoError(t, err)
				p.CutEvery.Store(23)
				for i := range 200 {
					for _, each := range []struct {
						add, contains func(context.Context, []byte) (bool, error)
						key           []byte
					}{{other.Add, f.Contains, keyOf(i)}, {theirs.Add, ours.Contains, keyOf(i)}, {f.Add, f.Contains, keyOf(1000 + i)}} {
						_, err := each.contains(bg, each.key)
						require.NoError(t, err)
						for _, err = each.add(bg, each.key); err != nil; _, err = each.add(bg, each.key) { // a lost reply
						}
						found, err := each.contains(bg, each.key)
						require.NoError(t, err)
						require.True(t, found, i)
					}
					if k.name == "plain" && i%10 == 0 {
						local, err := f.Local(bg)
						require.NoError(t, err)
						require.True(t, local.Contains(keyOf(i)))
					}
				}
			})
		}
	})
}
