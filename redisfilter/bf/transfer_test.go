package bf

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestPullAndPush opens filters of several plans, pulls them, and gives them back.
func TestPullAndPush(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		fake, addr := startFakeModule(t)
		client := protocolClient(t, addr, protocol)
		for _, p := range []redisbloom.Plan{plan(200, 0.01, 2), plan(50, 0.001, 2), plan(50, 0.01, 1), plan(1000, 1e-9, 0), plan(1, 0.5, 4)} {
			f, err := Open(bg, client, "f", p)
			require.NoError(t, err)
			_, err = f.AddMany(bg, keysOf(0, 500), nil)
			require.NoError(t, err)
			for _, other := range []redisbloom.Plan{
				plan(p.N, p.P, p.Expansion+1), plan(p.N, p.P/2, p.Expansion), plan(p.N+1, p.P, p.Expansion), plan(p.N, p.P, (p.Expansion+1)%2),
			} {
				_, err = Open(bg, client, "f", other)
				require.ErrorIs(t, err, redisfilter.ErrMismatch, "also if it has grown")
			}
			local, err := Pull(bg, client, "f")
			require.NoError(t, err)
			require.Equal(t, p, local.Plan())
			answers, err := each(bg, f.ContainsMany, keysOf(0, 3000))
			require.NoError(t, err)
			require.Equal(t, 500, count(answers[:500]))
			for i, found := range answers {
				require.Equal(t, found, local.Contains(keyOf(i)))
			}
			theirs := fake.filters["f"]
			require.ErrorIs(t, Push(bg, client, "f", local), redisfilter.ErrMismatch)
			require.Same(t, theirs, fake.filters["f"])
			require.Len(t, fake.filters, 1, "nothing is left beside it")
			for _, name := range []string{"copy", "{tag}copy"} {
				require.NoError(t, Push(bg, client, name, local))
				require.Len(t, fake.filters, 2)
				require.Equal(t, theirs.chunks(), fake.filters[name].loaded)
				require.False(t, fake.filters[name].expires)
				delete(fake.filters, name)
			}
			delete(fake.filters, "f")
		}
	}
}

func TestPullRefuses(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	_, err := Pull(bg, client, "f")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	_, err = Open(bg, client, "f", plan(1000, 0.01, 2))
	require.NoError(t, err)
	_, err = Pull(bg, client, "f", bloom.WithMaxBytes(100))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	fake.replies = map[string]string{"BF.SCANDUMP": fake.filters["f"].scan("0")} // again and again
	_, err = Pull(bg, client, "f")
	require.ErrorIs(t, err, bloom.ErrCorrupt)
	fake.replies, fake.filters["f"] = nil, new(fakeFilter)
	_, err = Pull(bg, client, "f")
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
}

// TestPullOfManyLayers: a layer whose k is above 255 is refused with that reason.
func TestPullOfManyLayers(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	_, err := Open(bg, client, "f", plan(50, 0.01, 1))
	require.NoError(t, err)
	header := fake.filters["f"].chunks()[0].Data
	const bitsPerKey = 370
	binary.LittleEndian.PutUint64(header[52:], math.Float64bits(bitsPerKey)) // of the first layer
	binary.LittleEndian.PutUint32(header[60:], 257)
	fake.replies = map[string]string{"BF.SCANDUMP": fmt.Sprintf("*2\r\n:1\r\n$%d\r\n%s\r\n", len(header), header)}
	_, err = Pull(bg, client, "f")
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	require.ErrorContains(t, err, "layer 1 of 1 needs k = 257, want at most 255")
}

// TestPushWithoutReply: however many replies come through, the name is free or has the whole
// filter, and what is beside it expires.
func TestPushWithoutReply(t *testing.T) {
	local, err := redisbloom.New(redisbloom.Plan{N: 100, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	for _, key := range keysOf(0, 500) {
		_, err := local.Add(key)
		require.NoError(t, err)
	}
	chunks := 0
	for range local.Chunks() {
		chunks++
	}
	whole, free := 0, 0
	for cut := range int64(12) {
		fake, addr := startFakeModule(t)
		p := startProxy(t, addr)
		client := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 1})
		fake.replies = map[string]string{"UNLINK": "-ERR nobody is left to do it\r\n"}
		p.CutEvery.Store(cut + 1)
		err := Push(bg, client, "f", local)
		client.Close()
		fake.mu.Lock()
		if f := fake.filters["f"]; f != nil {
			whole++
			require.Len(t, f.loaded, chunks)
			require.False(t, f.expires)
		} else {
			free++
			require.Error(t, err, "reply %d was cut", cut+1)
		}
		for _, name := range slices.Sorted(maps.Keys(fake.filters)) {
			require.True(t, name == "f" || fake.filters[name].expires, name)
		}
		fake.mu.Unlock()
	}
	require.NotZero(t, whole)
	require.NotZero(t, free)
}

// TestPushRefused: whichever command a user may not execute, the name stays free, and what is beside it expires.
func TestPushRefused(t *testing.T) {
	local, err := redisbloom.New(redisbloom.Plan{N: 100, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	for _, command := range []string{"BF.LOADCHUNK", "PEXPIRE", "PERSIST", "RENAMENX"} {
		fake, addr := startFakeModule(t)
		refusal := "-NOPERM User limited has no permissions to run the '" + command + "' command\r\n"
		fake.replies = map[string]string{command: refusal, "UNLINK": refusal}
		require.ErrorContains(t, Push(bg, protocolClient(t, addr, 2), "f", local), "'"+command+"'")
		fake.mu.Lock()
		require.NotContains(t, fake.filters, "f", command)
		for name, filter := range fake.filters {
			require.True(t, filter.expires, name)
		}
		fake.mu.Unlock()
	}
}

// TestPushIsOvertaken: another process makes the filter during the upload.
func TestPushIsOvertaken(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	theirs := new(fakeFilter)
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		if slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return cmd.Name() == "renamenx" }) {
			fake.mu.Lock()
			fake.filters["f"] = theirs
			fake.mu.Unlock()
		}
		return send()
	}))
	local, err := redisbloom.New(redisbloom.Plan{N: 100, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	require.ErrorIs(t, Push(bg, client, "f", local), redisfilter.ErrMismatch)
	require.Equal(t, map[string]*fakeFilter{"f": theirs}, fake.filters)
}
