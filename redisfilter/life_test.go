package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireLost holds a handle to noticing that its key is gone, and Reopen to making
// it usable again.
func requireLost(t *testing.T, f *Filter) {
	t.Helper()
	added, err := addEach(bg, f, keysOf(500, 520))
	require.ErrorIs(t, err, ErrLost)
	require.ErrorContains(t, err, "Reopen")
	require.Zero(t, count(added))
	for range 2 {
		_, err = f.Contains(bg, keyOf(1))
		require.ErrorIs(t, err, ErrLost)
		_, err = f.Add(bg, keyOf(1))
		require.ErrorIs(t, err, ErrLost)
	}
	require.NoError(t, f.Reopen(bg))
	added, err = addEach(bg, f, keysOf(0, 100))
	require.NoError(t, err)
	require.Equal(t, 100, count(added), "the front must not remember the life before")
}

// TestLossIsNoticed takes the key away in every way there is, and has the next call
// notice it.
func TestLossIsNoticed(t *testing.T) {
	s := startServer(t)
	for name, lose := range map[string]func(key string){
		"del":      func(key string) { s.Client.Del(bg, key) },
		"flushall": func(key string) { s.Client.FlushAll(bg) },
		"expire":   func(key string) { s.Client.PExpire(bg, key, time.Millisecond); time.Sleep(20 * time.Millisecond) },
		"rename":   func(key string) { s.Client.Rename(bg, key, "elsewhere") },
		"set":      func(key string) { s.Client.Set(bg, key, "", 0); s.Client.Del(bg, key) },
	} {
		for _, shards := range []int{1, 3} {
			t.Run(fmt.Sprint(name, shards), func(t *testing.T) {
				s.Client.FlushAll(bg)
				f := open(t, s.Client, "f", 1000, 1e-6, WithShards(shards))
				reader := open(t, s.Client, "f", 1000, 1e-6, WithShards(shards), noFront)
				added, err := addEach(bg, f, keysOf(0, 100))
				require.NoError(t, err)
				require.Equal(t, 100, count(added))
				for _, key := range f.Keys() {
					lose(key)
				}
				found, err := askEach(bg, reader, keysOf(0, 100))
				require.ErrorIs(t, err, ErrLost, "no is no answer: %v", found)
				require.Zero(t, s.Client.Exists(bg, f.Keys()...).Val(), "asking leaves nothing behind")
				requireLost(t, f)
				require.NoError(t, reader.Reopen(bg))
				found, err = askEach(bg, reader, keysOf(0, 100))
				require.NoError(t, err)
				require.Equal(t, 100, count(found))
			})
		}
	}
}

// TestOrphanIsRemoved: an add on a vanished key leaves nothing behind, and if
// it was interrupted, what it left is replaced by the next Open.
func TestOrphanIsRemoved(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6)
	s.Client.Del(bg, "f")
	_, err := f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.Zero(t, s.Client.Exists(bg, "f").Val())

	// The same add as a client makes it that dies before it has read the reply.
	f = open(t, s.Client, "f", 1000, 1e-6)
	_, err = f.Add(bg, keyOf(0))
	require.NoError(t, err)
	s.Client.Del(bg, "f")
	parts := f.split(true, f.appendPositions(nil, keyOf(1)), make([]bool, 1))
	f.prepare(bg, true, parts)
	f.command(bg, true, parts[0])
	require.NoError(t, s.Client.Process(bg, parts[0].command.Cmd))
	require.Equal(t, int64(1), s.Client.Exists(bg, "f").Val())

	f = open(t, s.Client, "f", 1000, 1e-6, WithTTL(time.Hour))
	require.Equal(t, int64(0), s.Client.BitCount(bg, "f", &redis.BitCount{Start: headerBytes, End: -9}).Val(), "an empty filter")
	require.Equal(t, int64(f.layout.length), s.Client.StrLen(bg, "f").Val())
	require.Greater(t, s.Client.TTL(bg, "f").Val(), 59*time.Minute)
	added, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
	require.True(t, added)
}

// TestOnlyRuinsAreReplaced: between looking and acting, somebody else may have
// made the key anew.
func TestOnlyRuinsAreReplaced(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	_, err := addEach(bg, f, keysOf(0, 100))
	require.NoError(t, err)
	before := s.Client.Get(bg, "f").Val()
	require.NoError(t, f.make(bg, "f", f.newHeader(time.Time{})))
	require.NoError(t, f.overRuin(bg, "f"))
	require.Equal(t, before, s.Client.Get(bg, "f").Val())
	require.Equal(t, int64(1), s.Client.DBSize(bg).Val())

	// And exactly between the two: the transaction must notice.
	for name, ruin := range map[string]string{"orphan": string(orphan), "cut short": before[:len(before)-1]} {
		require.NoError(t, s.Client.Set(bg, "f", ruin, 0).Err())
		f.sender.Client = hooked(t, s, hook{before: func() {
			require.NoError(t, s.Client.Set(bg, "f", before, 0).Err())
		}})
		require.NoError(t, f.overRuin(bg, "f"), name)
		require.Equal(t, before, s.Client.Get(bg, "f").Val(), name)
		f.sender.Client = s.Client
		require.NoError(t, s.Client.Set(bg, "f", ruin, 0).Err())
		require.NoError(t, f.overRuin(bg, "f"), name)
		require.Zero(t, s.Client.Exists(bg, "f").Val(), name)
	}
}

// TestRecreationIsNoticed: somebody else has made the filter anew, with the same
// parameters or others.
func TestRecreationIsNoticed(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6)
	_, err := addEach(bg, f, keysOf(0, 10))
	require.NoError(t, err)
	s.Client.Del(bg, "f")
	other := open(t, s.Client, "f", 1000, 1e-6)
	_, err = f.Add(bg, keyOf(11))
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorContains(t, err, "made anew by somebody else")
	require.NoError(t, f.Reopen(bg))
	found, err := askEach(bg, other, keysOf(0, 10))
	require.NoError(t, err)
	require.Zero(t, count(found))

	s.Client.Del(bg, "f")
	open(t, s.Client, "f", 500, 0.01)
	_, err = f.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, f.Reopen(bg), ErrMismatch)
	_, err = f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
}

// TestAddOnSomethingElse: an add knows only by its reply that the key is another. What it
// has changed by then is what the README says: the bytes of the mark, and its bits.
func TestAddOnSomethingElse(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	g := open(t, s.Client, "f", 1000, 0.01)
	_, err := g.Add(bg, keyOf(5))
	require.NoError(t, err)
	want := []byte(strings.Repeat("precious ", 1000))
	require.NoError(t, s.Client.Set(bg, "f", want, 0).Err())
	reader := open(t, s.Client, "g", 1000, 0.01)
	reader.shards[0].name = "f"
	_, err = reader.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.Equal(t, want, []byte(s.Client.Get(bg, "f").Val()), "asking changes nothing")

	_, err = f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.NotErrorIs(t, err, ErrUnknown)
	require.Equal(t, want, []byte(s.Client.Get(bg, "f").Val()), "the first add of a handle looks before")

	f = g
	_, err = f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, err, ErrUnknown)
	binary.BigEndian.PutUint32(want[8:], mark)
	count := want[f.shards[0].life.Load().slot.Load().at:]
	binary.BigEndian.PutUint64(count, binary.BigEndian.Uint64(count)+1)
	for _, pos := range f.appendPositions(nil, keyOf(0)) {
		want[headerBytes+pos/8] |= 1 << (pos % 8)
	}
	require.Equal(t, want, []byte(s.Client.Get(bg, "f").Val()))
	_, err = f.Add(bg, keyOf(1))
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, f.Reopen(bg), ErrMismatch)
	require.Equal(t, want, []byte(s.Client.Get(bg, "f").Val()), "nothing more is sent")
}

// TestOneShardLost: the others stay as they are.
func TestOneShardLost(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6, WithShards(4), noFront)
	_, err := addEach(bg, f, keysOf(0, 400))
	require.NoError(t, err)
	s.Client.Del(bg, f.Keys()[2])

	added, err := addEach(bg, f, keysOf(400, 800))
	require.ErrorIs(t, err, ErrLost)
	failed, ok := errors.AsType[*AddError](err)
	require.True(t, ok)
	require.InDelta(t, 100, len(failed.Unknown), 50)
	require.Empty(t, failed.NotAdded)
	require.Equal(t, 400, count(added)+len(failed.Unknown), "all others were added")

	require.NoError(t, f.Reopen(bg))
	found, err := askEach(bg, f, keysOf(0, 400))
	require.NoError(t, err)
	require.InDelta(t, 300, count(found), 50)
}

// TestReopenByMany: goroutines that share a filter all meet the loss.
func TestReopenByMany(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 10000, 1e-6, WithShards(2))
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 300 {
				_, err := f.Add(bg, keyOf(g*1000+i))
				if errors.Is(err, ErrLost) {
					err = f.Reopen(bg)
				}
				assert.NoError(t, err)
				if g == 0 && i%100 == 50 {
					s.Client.FlushAll(bg)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, f.Reopen(bg))
	_, err := f.Add(bg, keyOf(-1))
	require.NoError(t, err)
}

// TestTTL: the expiry counts from when the filter was made; neither adding,
// joining, pushing nor merging changes it, and the front believes in it.
func TestTTL(t *testing.T) {
	s := startServer(t)
	for _, shards := range []int{1, 3} {
		f := open(t, s.Client, fmt.Sprint("f", shards), 1000, 1e-6, WithTTL(4*time.Second), WithShards(shards))
		expires := f.expires()
		require.InDelta(t, 4, time.Until(expires).Seconds(), 2)
		expiresAt := func() {
			t.Helper()
			for _, key := range f.Keys() {
				at, err := s.Client.PExpireTime(bg, key).Result()
				require.NoError(t, err)
				require.Equal(t, expires.UnixMilli(), at.Milliseconds(), key)
			}
		}
		expiresAt()
		_, err := addEach(bg, f, keysOf(0, 50))
		require.NoError(t, err)
		expiresAt()
		joined := open(t, s.Client, fmt.Sprint("f", shards), 1000, 1e-6, WithTTL(time.Hour), WithShards(shards))
		require.Equal(t, expires.UnixMilli(), joined.expires().UnixMilli())
		expiresAt()
		local, err := f.NewLocal()
		require.NoError(t, err)
		require.NoError(t, f.Merge(bg, local.Filters()...))
		expiresAt()
		require.NoError(t, f.Push(bg, local.Filters()...))
		expiresAt()
		added, err := addEach(bg, f, keysOf(0, 50))
		require.NoError(t, err)
		require.Equal(t, 50, count(added))
		time.Sleep(time.Until(expires) + 50*time.Millisecond)
		_, err = f.Add(bg, keyOf(0))
		require.ErrorIs(t, err, ErrLost, "the front knows this key, but not any more")
		require.NoError(t, f.Reopen(bg))
		require.InDelta(t, 4, time.Until(f.expires()).Seconds(), 2)
		added, err = addEach(bg, f, keysOf(0, 50))
		require.NoError(t, err)
		require.Equal(t, 50, count(added))
	}
	f := open(t, s.Client, "forever", 1000, 1e-6)
	require.True(t, f.expires().IsZero())
	require.Equal(t, time.Duration(-1), s.Client.TTL(bg, "forever").Val())
}

// TestLongTTL: Push and Merge keep an expiry that is further away than a time.Duration is long, or
// later than the year 2262, where a time in nanoseconds ends.
func TestLongTTL(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6, WithTTL(290*365*24*time.Hour))
	local, err := f.NewLocal()
	require.NoError(t, err)
	for _, at := range []int64{f.expires().UnixMilli(), time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()} {
		require.NoError(t, s.Client.Do(bg, "PEXPIREAT", "f", at).Err())
		require.NoError(t, f.Push(bg, local.Filters()...))
		require.NoError(t, f.Merge(bg, local.Filters()...))
		_, err = f.AddString(bg, "a")
		require.NoError(t, err)
		now, err := s.Client.Do(bg, "PEXPIRETIME", "f").Int64()
		require.NoError(t, err)
		require.InDelta(t, at, now, 60_000, "from how long it is to there")
	}
}

// TestShardsExpireApart: the first shard's expiry has passed by the time the second
// one is made.
func TestShardsExpireApart(t *testing.T) {
	s := startServer(t)
	past := &header{expires: time.Now().Add(-time.Minute)}
	f := open(t, s.Client, "f", 1000, 0.01)
	h, made, err := f.joinShard(bg, "g", past)
	require.NoError(t, err)
	require.True(t, made)
	require.True(t, h.expires.IsZero())
	f.opts.ttl = time.Hour
	h, made, err = f.joinShard(bg, "h", past)
	require.NoError(t, err)
	require.True(t, made)
	require.InDelta(t, 3600, time.Until(h.expires).Seconds(), 60)
}

// TestShardMadeAnewExpiresLikeTheOthers, whatever the options of the process that makes it.
func TestShardMadeAnewExpiresLikeTheOthers(t *testing.T) {
	s := startServer(t)
	ways := map[string]func(*Filter) error{
		"reopen": func(f *Filter) error { return f.Reopen(bg) },
		"open": func(f *Filter) error {
			_, err := Open(bg, s.Client, "f", 1000, 0.01, WithShards(3), WithTTL(f.opts.ttl))
			return err
		},
	}
	for name, way := range ways {
		for _, ttls := range [][2]time.Duration{{time.Hour, 0}, {0, time.Hour}, {time.Hour, 3 * time.Hour}} {
			for lost := range 3 {
				s.Client.FlushAll(bg)
				maker := open(t, s.Client, "f", 1000, 0.01, WithShards(3), WithTTL(ttls[0]))
				joiner := open(t, s.Client, "f", 1000, 0.01, WithShards(3), WithTTL(ttls[1]))
				expires := s.Client.PExpireTime(bg, "f").Val()
				require.NoError(t, s.Client.Del(bg, maker.Keys()[lost]).Err())
				require.NoError(t, way(joiner))
				for _, key := range maker.Keys() {
					require.Equal(t, expires, s.Client.PExpireTime(bg, key).Val(), "%s by one with TTL %v of %v, made with %v: %s", name, ttls[1], lost, ttls[0], key)
				}
			}
		}
	}
}

func TestDelete(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6, WithShards(3))
	other := open(t, s.Client, "f", 1000, 1e-6, WithShards(3))
	_, err := f.Add(bg, keyOf(0))
	require.NoError(t, err)
	require.NoError(t, f.Delete(bg))
	require.Zero(t, s.Client.DBSize(bg).Val())
	_, err = f.Add(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost, "the front knows this key, but not any more")
	_, err = other.Contains(bg, keyOf(0))
	require.ErrorIs(t, err, ErrLost)
	require.NoError(t, other.Reopen(bg))
	require.NoError(t, f.Delete(bg), "what others have made anew is left alone")
	require.Equal(t, int64(3), s.Client.DBSize(bg).Val())
}

// TestDeleteLeavesOthersAlone: something else takes the filter's place just before it is
// deleted, or before that.
func TestDeleteLeavesOthersAlone(t *testing.T) {
	s := startServer(t)
	for with, r := range replacements {
		for _, between := range []bool{false, true} {
			s.Client.FlushAll(bg)
			replace := onlyOnce(func() { r.put(t, s) })
			client := s.Client
			if between {
				client = hooked(t, s, hook{before: replace})
			}
			f := openWith(t, s, client, "f", 1000, 0.01)
			if !between {
				replace()
			}
			require.NoError(t, f.Delete(bg), with)
			require.Equal(t, int64(1), s.Client.Exists(bg, "f").Val(), with)
		}
	}
}

// TestDeleteAmongAdds has somebody add just before each transaction.
func TestDeleteAmongAdds(t *testing.T) {
	s := startServer(t)
	other := open(t, s.Client, "f", 1000, 0.01)
	tries := 0
	f := openWith(t, s, hooked(t, s, hook{before: func() {
		_, err := other.Add(bg, keyOf(1000+tries))
		require.NoError(t, err)
		tries++
	}}), "f", 1000, 0.01)
	require.NoError(t, f.Delete(bg))
	require.Equal(t, watchedTries+1, tries)
	require.Zero(t, s.Client.DBSize(bg).Val())
}

// TestDeleteOnce: after a reply that was lost, the filter may have been made anew, and a
// client that repeats the command would delete that.
func TestDeleteOnce(t *testing.T) {
	s := startServer(t)
	p := startProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, MinRetryBackoff: -1})
	defer client.Close()
	client.AddHook(hook{
		before: onlyOnce(func() { p.CutEvery.Store(1) }),
		after:  func() { p.CutEvery.Store(0) },
	})
	f := openWith(t, s, client, "f", 1000, 0.01)
	before := calls(t, s.Client, "unlink")
	require.Error(t, f.Delete(bg))
	require.Positive(t, p.Cuts.Load())
	require.Equal(t, 1, calls(t, s.Client, "unlink")-before)
}

// TestContextIsHonoured lets the server fall silent without closing its connections:
// only the context can end the wait.
func TestContextIsHonoured(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 1e-6, noFront)
	local, err := f.NewLocal()
	require.NoError(t, err)
	p := startProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, ReadTimeout: time.Minute})
	defer client.Close()
	f.sender.Client = client
	require.NoError(t, client.Ping(bg).Err())

	cancelled, cancel := context.WithCancel(bg)
	added, err := addEach(cancelled, f, keysOf(0, 10)) // not yet
	require.NoError(t, err)
	require.Equal(t, 10, count(added))
	require.NoError(t, f.Pull(cancelled, local.Filters()...))
	found, err := askEach(cancelled, local, keysOf(0, 10))
	require.NoError(t, err)
	require.Equal(t, 10, count(found))
	cancel()
	_, err = addEach(cancelled, f, keysOf(0, 2))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrUnknown, "nothing was sent")

	p.Silent.Lock()
	defer func() { p.Silent.Unlock(); awaitIdle(t, client) }()
	for name, call := range map[string]func(ctx context.Context) error{
		"Add":      func(ctx context.Context) error { _, err := f.Add(ctx, keyOf(0)); return err },
		"AddMany":  func(ctx context.Context) error { _, err := addEach(ctx, f, keysOf(0, 1200)); return err },
		"Contains": func(ctx context.Context) error { _, err := f.Contains(ctx, keyOf(0)); return err },
		"Push":     func(ctx context.Context) error { return f.Push(ctx, local.Filters()...) },
		"Merge":    func(ctx context.Context) error { return f.Merge(ctx, local.Filters()...) },
		"Pull":     func(ctx context.Context) error { return f.Pull(ctx, local.Filters()...) },
		"Info":     func(ctx context.Context) error { _, err := f.Info(ctx); return err },
		"Delete":   func(ctx context.Context) error { return f.Delete(ctx) },
		"Reopen":   func(ctx context.Context) error { return f.Reopen(ctx) },
		"Open":     func(ctx context.Context) error { _, err := Open(ctx, client, "g", 10, 0.1); return err },
	} {
		ctx, cancel := context.WithTimeout(bg, 200*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- call(ctx) }()
		select {
		case err := <-done:
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			if name == "Add" {
				require.ErrorIs(t, err, ErrUnknown)
			}
			if name == "AddMany" { // the first command was sent, the others were not
				failed, ok := errors.AsType[*AddError](err)
				require.True(t, ok)
				require.Equal(t, indices(0, 500), failed.Unknown)
				require.Equal(t, indices(500, 1200), failed.NotAdded)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s does not return when its context has ended", name)
		}
		cancel()
	}
}
