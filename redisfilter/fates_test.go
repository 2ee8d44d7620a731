package redisfilter_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestAddManyEnds: with its context, and where trying again cannot help.
func TestAddManyEnds(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 0.01, redisfilter.WithGenerations(time.Hour, 1), noCache)
	n, err := f.AddMany(bg, keysOf(0, 3000), nil)
	require.ErrorIs(t, err, bloom.ErrFull)
	require.Equal(t, 1000, n)
	c := redistest.Connect(t, &redis.Options{Addr: s.Addr, MaxRetries: -1, DialTimeout: 100 * time.Millisecond, DialerRetries: 1})
	g := kind{n: 1000, p: 0.01}
	require.NoError(t, s.Client.FlushAll(bg).Err())
	down := g.open(t, c, noCache, redisfilter.WithShards(4)) // pipelines
	s.Kill()
	ctx, cancel := context.WithCancel(bg)
	var sent atomic.Int64
	c.AddHook(redistest.Hook(func(_ []redis.Cmder, send func() error) error {
		if sent.Add(1) == 20 { // in a later round, whose error says nothing of the server
			cancel()
		}
		return send()
	}))
	_, err = down.AddMany(ctx, keysOf(0, 10), nil)
	var failed *redisfilter.AddError
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.NotAdded, 10)
	require.ErrorContains(t, err, "dial tcp "+s.Addr)
	require.Empty(t, redisfilter.UnsureOf(err))
	started := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { defer close(started); s.Start(t) })
	n, err = down.AddMany(bg, keysOf(0, 10), nil) // when the server is back, it is empty
	require.ErrorIs(t, err, redisfilter.ErrLost)
	require.Equal(t, 10, n)
	<-started // before the test ends the server
	require.NoError(t, c.Close())
	_, err = down.AddMany(bg, keysOf(20, 30), nil)
	require.ErrorIs(t, err, redis.ErrClosed)
}

// TestShortGenerations: adds that take longer than a generation end.
func TestShortGenerations(t *testing.T) {
	s := redistest.Start(t)
	slow := client(t, s.Addr, func(_ []redis.Cmder, send func() error) error {
		time.Sleep(130 * time.Millisecond)
		return send()
	})
	f := open(t, slow, 1000, 0.01, redisfilter.WithGenerations(100*time.Millisecond, 2))
	_, err := f.Add(bg, keyOf(0))
	var failed *redisfilter.AddError
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.NotAdded, 1)
	require.ErrorContains(t, err, "a generation ended during each of 11 attempts")
}

// TestAddManyToAnotherFilter: AddMany ends when the name holds something else, or when the user may no longer add. It
// names the cause, and the keys are refused.
func TestAddManyToAnotherFilter(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		another := func() string { open(t, s.Client, 77, 0.5); return save(t, s) }()
		for what, do := range map[string]func(){
			"another filter": func() { restore(t, s, another) },
			"a list":         func() { s.Client.Del(bg, "f"); s.Client.LPush(bg, "f", 1) },
			"no permission":  func() { s.Client.Do(bg, "ACL", "SETUSER", "limited", "-evalsha", "-eval") },
		} {
			s.Client.FlushAll(bg)
			require.NoError(t, s.Client.Do(bg, "ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "+@all").Err())
			c := redistest.Connect(t, &redis.Options{Addr: s.Addr, Username: "limited", Password: "secret"})
			f := k.open(t, c, noCache)
			_, err := f.AddMany(bg, keysOf(0, 10), nil)
			require.NoError(t, err)
			do()
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			for range 2 {
				_, err = f.AddMany(ctx, keysOf(10, 30), nil)
				require.NoError(t, ctx.Err(), what)
				failed := &redisfilter.AddError{}
				require.ErrorAs(t, err, &failed, what)
				require.Len(t, failed.NotAdded, 20, what)
				require.ErrorIs(t, err, redisfilter.ErrRefused, what)
				require.Equal(t, what != "no permission", errors.Is(err, redisfilter.ErrMismatch), "%s: %v", what, err)
			}
			cancel()
		}
	})
}

// TestHungServer: of many single adds at a server that hangs, only those that were sent are Unsure. The others are not
// added.
func TestHungServer(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		p := redistest.StartProxy(t, s.Addr)
		f := k.open(t, client(t, p.Addr, nil), noCache)
		_, err := f.Add(bg, []byte("first"))
		require.NoError(t, err)
		const keys = 640
		var notAdded [keys]bool
		unknown := 0
		var mu sync.Mutex
		var all redistest.Group
		p.Silent.Lock()
		ctx, cancel := context.WithCancel(bg)
		time.AfterFunc(500*time.Millisecond, cancel)
		for i := range keys {
			all.Go(func() {
				_, err := f.Add(ctx, keyOf(i))
				failed := &redisfilter.AddError{}
				mu.Lock()
				defer mu.Unlock()
				if !assert.ErrorAs(t, err, &failed) {
					return
				}
				notAdded[i] = len(failed.NotAdded) == 1
				unknown += len(failed.Unsure)
			})
		}
		all.Wait()
		p.Silent.Unlock()
		require.LessOrEqual(t, unknown, 4, "of four single commands")
		time.Sleep(50 * time.Millisecond) // for commands that were given up
		for i, not := range notAdded {
			if not {
				found, err := f.Contains(bg, keyOf(i))
				require.NoError(t, err)
				require.False(t, found, i)
			}
		}
	})
}

// TestFullShard: a shard whose generation has its share of n refuses new keys, and no key else is without its answer.
func TestFullShard(t *testing.T) {
	s := redistest.Start(t)
	f := open(t, s.Client, 1000, 1e-9, redisfilter.WithGenerations(time.Hour, 2), redisfilter.WithShards(8), noCache)
	keys := make([][]byte, 0, 6000)
	for i := range 3000 { // each known key behind a new one
		keys = append(keys, keyOf(i))
		if i >= 100 {
			keys = append(keys, keyOf(i%100))
		}
	}
	added := make([]bool, len(keys))
	n, err := f.AddMany(bg, keys, added)
	require.ErrorIs(t, err, bloom.ErrFull)
	require.ErrorContains(t, err, "keys, the share of one of 8 shards in n = 1000; the next one begins at ")
	failed := &redisfilter.AddError{}
	require.ErrorAs(t, err, &failed)
	require.Empty(t, failed.Unsure)
	require.Greater(t, n, 1000)
	refused := map[string]bool{}
	for _, i := range failed.NotAdded {
		refused[string(keys[i])] = true
		require.False(t, added[i])
	}
	require.Equal(t, 3000-n, len(refused))
	seen := map[string]bool{}
	for i, key := range keys {
		if !refused[string(key)] {
			require.Equal(t, !seen[string(key)], added[i], "%s", key)
		}
		seen[string(key)] = true
	}
}

// TestErrorsHeal: a lost filter that cannot be made anew ends no handle, whatever the cause. When the cause is gone,
// the next call asks again.
func TestErrorsHeal(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		user := func(rules ...any) func() {
			return func() {
				require.NoError(t, s.Client.Do(bg, append([]any{"ACL", "SETUSER", "limited"}, rules...)...).Err())
			}
		}
		for what, cause := range map[string]struct{ begin, end func() }{
			"permission": {user("-evalsha", "-eval"), user("+evalsha", "+eval")},
			"password":   {user("resetpass", ">other"), user(">secret")},
			"name":       {func() { s.Client.LPush(bg, "f", 1) }, func() { s.Client.Del(bg, "f") }},
		} {
			s.Client.FlushAll(bg)
			user("reset", "on", ">secret", "~*", "+@all")()
			// Each command has a connection of its own, so that it needs the password.
			c := redistest.Connect(t, &redis.Options{Addr: s.Addr, Username: "limited", Password: "secret", ConnMaxLifetime: time.Nanosecond})
			f := k.open(t, c, noCache)
			_, err := f.AddMany(bg, keysOf(0, 10), nil)
			require.NoError(t, err)
			s.Client.FlushAll(bg)
			_, err = f.Contains(bg, keyOf(0))
			require.ErrorIs(t, err, redisfilter.ErrLost)
			cause.begin()
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			_, err = f.AddMany(ctx, keysOf(10, 30), nil)
			require.NoError(t, ctx.Err(), what)
			failed := &redisfilter.AddError{}
			require.ErrorAs(t, err, &failed, what)
			require.Len(t, failed.NotAdded, 20, what)
			require.ErrorIs(t, err, redisfilter.ErrRefused, what)
			_, err = f.Add(bg, keyOf(10))
			require.ErrorIs(t, err, redisfilter.ErrRefused, what)
			cause.end()
			n, err := f.AddMany(ctx, keysOf(10, 30), nil)
			require.NoError(t, err, what) // the loss was told before
			require.Equal(t, 20, n, what)
			_, err = f.Contains(bg, keyOf(0))
			require.NoError(t, err, what)
			cancel()
		}
	})
}

// TestLongestString: a layer that the server's proto-max-bulk-len does not allow is no room: the keys are refused at
// once, and those that are there have their answers.
func TestLongestString(t *testing.T) {
	s := redistest.Start(t, "--proto-max-bulk-len", "1mb")
	f := open(t, s.Client, 60_000, 1e-9, growth, redisfilter.WithShards(1), noCache)
	n, err := f.AddMany(bg, keysOf(0, 60_000), nil)
	require.NoError(t, err)
	require.Equal(t, 60_000, n)
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	_, err = f.AddMany(ctx, keysOf(60_000, 61_000), nil)
	require.NoError(t, ctx.Err())
	require.ErrorIs(t, err, bloom.ErrFull)
	failed := &redisfilter.AddError{}
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.NotAdded, 1000)
	found, err := f.ContainsMany(bg, keysOf(0, 61_000), nil)
	require.NoError(t, err)
	require.Equal(t, 60_000, found)
	_, err = redisfilter.Open(bg, s.Client, "g", 1_000_000, 1e-9)
	require.ErrorIs(t, err, bloom.ErrFull)
}
