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

// Unanswered returns a client that has a connection but gets no reply to any command. It sets o.Addr to a proxy in
// front of the server.
func Unanswered(t testing.TB, o *redis.Options) *redis.Client {
	t.Helper()
	p := StartProxy(t, o.Addr)
	o.Addr = p.Addr
	c := Connect(t, o)
	require.NoError(t, c.Ping(bg).Err())
	p.CutEvery.Store(1)
	return c
}
