package redistest

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Connect returns a client that is closed with the test.
func Connect(t testing.TB, o *redis.Options) *redis.Client {
	t.Helper()
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

// Unanswered returns a client of a proxy in front of the server at o.Addr, which it changes. The client has a
// connection. Each command that comes then has no reply.
func Unanswered(t testing.TB, o *redis.Options) *redis.Client {
	t.Helper()
	p := StartProxy(t, o.Addr)
	o.Addr = p.Addr
	c := Connect(t, o)
	require.NoError(t, c.Ping(bg).Err())
	p.CutEvery.Store(1)
	return c
}
