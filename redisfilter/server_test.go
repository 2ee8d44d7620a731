package redisfilter

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// A server is a redis-server of one test's own, on a free loopback port.
type server = redistest.Server

var (
	startServer  = redistest.Start
	startProxy   = redistest.StartProxy
	startCluster = redistest.StartCluster
	hold         = redistest.Hold
	freePort     = redistest.FreePort
	eventually   = redistest.Eventually
	awaitReplica = redistest.AwaitReplica
	program      = redistest.Program
	calls        = redistest.Calls
	lines        = redistest.Lines
	keyOf        = redistest.KeyOf
	keysOf       = redistest.KeysOf
	count        = redistest.Count
	indices      = redistest.Indices
	addEach      = redistest.AddEach
	askEach      = redistest.AskEach
)

// open opens a filter, which must work.
func open(t testing.TB, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) *Filter {
	t.Helper()
	f, err := Open(context.Background(), client, name, n, p, opts...)
	require.NoError(t, err)
	return f
}

// newLocalFilter returns a filter with the layout of one shard.
func newLocalFilter(t testing.TB, n uint64, p float64) *bloom.BloomFilter {
	t.Helper()
	l, err := NewLocal(n, p, WithShards(1))
	require.NoError(t, err)
	return l.Filters()[0]
}

// openWith opens a filter, which must work, and has it go on with another client of the same
// server.
func openWith(t testing.TB, s *server, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) *Filter {
	t.Helper()
	f := open(t, s.Client, name, n, p, opts...)
	f.sender.Client = client
	return f
}
