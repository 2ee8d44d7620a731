package redisfilter_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/bitmap"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// clientsOf returns clients of a server with what this version of go-redis has: a cache on the client, and the ways to
// send the commands of many goroutines together.
func clientsOf(t *testing.T, addr string) map[string]redis.UniversalClient {
	cached := redis.Options{Addr: addr, Protocol: 3}
	clients := map[string]redis.UniversalClient{"plain": redistest.Connect(t, &redis.Options{Addr: addr})}
	if config := reflect.ValueOf(&cached).Elem().FieldByName("ClientSideCacheConfig"); config.IsValid() {
		config.Set(reflect.New(config.Type().Elem()))
		clients["cache"] = redistest.Connect(t, &cached)
	} else {
		t.Log("NOT TESTED with this go-redis: its cache on the client")
	}
	for name, c := range clients {
		for _, method := range []string{"AutoPipeline", "AsyncAutoPipeline"} {
			if begin := reflect.ValueOf(c).MethodByName(method); begin.IsValid() {
				if piped, ok := begin.Call(nil)[0].Interface().(redis.UniversalClient); ok {
					clients[name+", "+method] = piped
				}
			}
		}
	}
	return clients
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
