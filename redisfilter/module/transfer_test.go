package module

import (
	"maps"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/rebloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestPullAndPush takes filters of a real RedisBloom 2.8.20, by its recorded chunks, asks them in
// the process as the module was asked, and gives them back.
func TestPullAndPush(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		fake, addr := startFakeModule(t)
		client := protocolClient(t, addr, protocol)
		for _, r := range play(t, fake) {
			f, err := Pull(bg, client, r.Name)
			require.NoError(t, err, r.Name)
			for _, key := range theirKeys("key", r.N) {
				require.True(t, f.Contains(key))
			}
			var wrong []int
			for i, key := range theirKeys("absent", 5000) {
				if f.Contains(key) {
					wrong = append(wrong, i)
				}
			}
			require.Equal(t, r.True, wrong)

			recorded := fake.filters[r.Name]
			names := len(fake.filters)
			require.ErrorIs(t, Push(bg, client, r.Name, f), redisfilter.ErrMismatch)
			require.Same(t, recorded, fake.filters[r.Name])
			require.Len(t, fake.filters, names, "nothing is left beside it")
			for _, name := range []string{"copy", "{tag}copy"} {
				require.NoError(t, Push(bg, client, name, f))
				require.Len(t, fake.filters, names+1)
				require.Equal(t, recorded.chunks, fake.filters[name].chunks)
				require.False(t, fake.filters[name].expires)
				delete(fake.filters, name)
			}
		}
	}
}

func TestPullRefuses(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	play(t, fake)
	_, err := Pull(bg, client, "missing")
	require.ErrorIs(t, err, redisfilter.ErrLost)
	fake.filters["other"] = &fakeFilter{other: true}
	_, err = Pull(bg, client, "other")
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	_, err = Pull(bg, client, "five-layers", bloom.WithMaxBytes(100))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	f := fake.filters["one-layer"]
	f.chunks = f.chunks[:1]
	_, err = Pull(bg, client, "one-layer")
	require.ErrorIs(t, err, bloom.ErrCorrupt)
}

// TestPushWithoutReply: however many replies come through, the name is free or has the whole
// filter, and what is beside it expires.
func TestPushWithoutReply(t *testing.T) {
	local, err := rebloom.New(rebloom.Plan{N: 100, P: 0.01, Expansion: 2})
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
			require.Len(t, f.chunks, chunks)
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
	local, err := rebloom.New(rebloom.Plan{N: 100, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	for _, command := range []string{"BF.LOADCHUNK", "PERSIST", "RENAMENX"} {
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
	theirs := &fakeFilter{other: true}
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		if slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return cmd.Name() == "renamenx" }) {
			fake.mu.Lock()
			fake.filters["f"] = theirs
			fake.mu.Unlock()
		}
		return send()
	}))
	local, err := rebloom.New(rebloom.Plan{N: 100, P: 0.01, Expansion: 2})
	require.NoError(t, err)
	require.ErrorIs(t, Push(bg, client, "f", local), redisfilter.ErrMismatch)
	require.Equal(t, map[string]*fakeFilter{"f": theirs}, fake.filters)
}
