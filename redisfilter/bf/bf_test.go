package bf

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/batch"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var (
	bg          = context.Background()
	startServer = redistest.Start
	startProxy  = redistest.StartProxy
	keyOf       = redistest.KeyOf
	keysOf      = redistest.KeysOf
	count       = redistest.Count
	indices     = batch.Indices
	each        = redistest.Each
)

func TestModule(t *testing.T) {
	_, addr := startFakeModule(t)
	testModule(t, addr)
}

func TestFull(t *testing.T) {
	_, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	_, err := Open(bg, client, "f", plan(700, 1e-6, 0))
	require.NoError(t, err)
	_, err = Open(bg, client, "f", plan(700, 1e-6, 2))
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
	m, err := Open(bg, client, "f", plan(700, 1e-6, 0))
	require.NoError(t, err)
	added, err := each(bg, m.AddMany, keysOf(0, 1200))
	require.ErrorIs(t, err, bloom.ErrFull)
	var failed *redisfilter.AddError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 700, count(added))
	require.Empty(t, failed.Unsure)
	require.Equal(t, indices(700, 1200), failed.NotAdded)
	_, err = m.Add(bg, keyOf(1000))
	require.ErrorIs(t, err, bloom.ErrFull)
	already, err := m.Add(bg, keyOf(5))
	require.NoError(t, err, "it still knows those it has")
	require.False(t, already)
}

// TestHighRate: a module that makes filters for a lower p is joined with the higher one.
func TestHighRate(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	fake.caps = true
	for range 2 {
		_, err := Open(bg, client, "f", plan(100, 0.5, 2))
		require.NoError(t, err)
	}
	_, err := Open(bg, client, "f", plan(100, 0.2, 2))
	require.ErrorIs(t, err, redisfilter.ErrMismatch)
}

func plan(n uint64, p float64, expansion uint32) redisbloom.Plan {
	return redisbloom.Plan{N: n, P: p, Expansion: expansion}
}

// TestStrangeReplies: what is no answer is not taken for one. An add may have been
// executed then.
func TestStrangeReplies(t *testing.T) {
	fake, addr := startFakeModule(t)
	m, err := Open(bg, protocolClient(t, addr, 2), "f", plan(700, 0.01, 2))
	require.NoError(t, err)
	for _, c := range []struct {
		reply   string
		unknown []int
		text    string
	}{
		{":5\r\n", []int{0, 1, 2}, "0 answers, want 3"},
		{"*4\r\n:1\r\n:1\r\n:1\r\n:1\r\n", []int{0, 1, 2}, "4 answers, want 3"},
		{"*2\r\n:1\r\n:0\r\n", []int{2}, "2 answers, want 3"},
		{"*3\r\n:1\r\n+odd\r\n:1\r\n", []int{1}, "odd"},
		{"-ERR busy\r\n", []int{0, 1, 2}, "busy"},
	} {
		fake.replies = map[string]string{"BF.INSERT": c.reply, "BF.MEXISTS": c.reply}
		_, err := m.AddMany(bg, keysOf(0, 3), nil)
		require.ErrorContains(t, err, c.text)
		var failed *redisfilter.AddError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, c.unknown, failed.Unsure)
		_, err = m.ContainsMany(bg, keysOf(0, 3), nil)
		require.ErrorContains(t, err, c.text)
	}
	_, err = m.Contains(bg, keyOf(0))
	require.ErrorContains(t, err, "busy")

	// No reply at all.
	m.sender.Client.(*redis.Client).Close()
	_, err = m.AddMany(bg, keysOf(0, 3), nil)
	require.ErrorIs(t, err, redis.ErrClosed)
	fake.replies = nil
	m.sender.Client = redistest.Unanswered(t, &redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	_, err = m.AddMany(bg, keysOf(0, 3), nil)
	failed := &redisfilter.AddError{}
	require.ErrorAs(t, err, &failed)
	require.Equal(t, []int{0, 1, 2}, failed.Unsure)
}

// TestMissing asks a server that has no modules, and no server.
func TestMissing(t *testing.T) {
	s := startServer(t)
	_, err := Open(bg, s.Client, "f", plan(100, 0.01, 2))
	require.ErrorContains(t, err, "does not have the RedisBloom module")
	local, err := redisbloom.New(plan(100, 0.01, 2))
	require.NoError(t, err)
	require.ErrorContains(t, Push(bg, s.Client, "f", local), "does not have the RedisBloom module")
	_, err = Pull(bg, s.Client, "f")
	require.ErrorContains(t, err, "does not have the RedisBloom module")
	_, err = Open(bg, nil, "f", plan(100, 0.01, 2))
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

// TestContexts: each call ends with its context, also if the server does not answer.
func TestContexts(t *testing.T) {
	_, addr := startFakeModule(t)
	p := startProxy(t, addr)
	client := redistest.Connect(t, &redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
	f, err := Open(bg, client, "f", plan(700, 0.01, 2))
	require.NoError(t, err)
	local, err := Pull(bg, client, "f")
	require.NoError(t, err)
	p.Silent.Lock()
	defer p.Silent.Unlock()
	for name, call := range map[string]func(ctx context.Context) error{
		"Open":     func(ctx context.Context) error { _, err := Open(ctx, client, "f", plan(700, 0.01, 2)); return err },
		"Add":      func(ctx context.Context) error { _, err := f.Add(ctx, keyOf(0)); return err },
		"Contains": func(ctx context.Context) error { _, err := f.Contains(ctx, keyOf(0)); return err },
		"Pull":     func(ctx context.Context) error { _, err := Pull(ctx, client, "f"); return err },
		"Push":     func(ctx context.Context) error { return Push(ctx, client, "g", local) },
	} {
		ctx, cancel := context.WithCancel(bg)
		time.AfterFunc(10*time.Millisecond, cancel)
		began := time.Now()
		require.ErrorIs(t, call(ctx), context.Canceled, name)
		require.Less(t, time.Since(began), 30*time.Second, name)
	}
}

// TestMadeAnew: a filter that was deleted and made anew has fewer keys than a reply has shown.
func TestMadeAnew(t *testing.T) {
	fake, addr := startFakeModule(t)
	client := protocolClient(t, addr, 2)
	f, err := Open(bg, client, "f", plan(700, 0.01, 2))
	require.NoError(t, err)
	_, err = f.AddMany(bg, keysOf(0, 100), nil)
	require.NoError(t, err)
	fake.mu.Lock()
	delete(fake.filters, "f")
	fake.mu.Unlock()
	other, err := Open(bg, client, "f", plan(700, 0.01, 2))
	require.NoError(t, err)
	_, err = other.AddMany(bg, keysOf(50, 60), nil)
	require.NoError(t, err)
	_, err = f.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, redisfilter.ErrLost)
	_, err = f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, redisfilter.ErrLost)
}
