package redisfilter

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
)

// A hook does something just before a client sends a transaction, other than one that
// writes a chunk of an upload, and after its replies have come.
type hook struct{ before, after func() }

func (hook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		transaction := isTransaction(cmds)
		if transaction && h.before != nil {
			h.before()
		}
		err := next(ctx, cmds)
		if transaction && h.after != nil {
			h.after()
		}
		return err
	}
}

func isTransaction(cmds []redis.Cmder) bool {
	return cmds[0].Name() == "multi" && !(cmds[1].Name() == "setrange" && cmds[2].Name() == "pexpire")
}

// hooked returns another client of a server, with a hook.
func hooked(t *testing.T, s *server, h hook) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	t.Cleanup(func() { client.Close() })
	client.AddHook(h)
	return client
}

// awaitIdle waits until no call uses a connection, also of those whose callers have
// gone. To close a client before is a race inside of it.
func awaitIdle(t *testing.T, client *redis.Client) {
	t.Helper()
	eventually(t, "calls end", func() error {
		if stats := client.PoolStats(); stats.IdleConns != stats.TotalConns {
			return fmt.Errorf("%d of %d connections are idle", stats.IdleConns, stats.TotalConns)
		}
		return nil
	})
}

// onlyOnce returns a function that does f the first time only.
func onlyOnce(f func()) func() {
	done := false
	return func() {
		if !done {
			done = true
			f()
		}
	}
}

// transfers are the two ways to change a filter as a whole.
var transfers = map[string]func(*Filter, ...*bloom.BloomFilter) error{
	"push":  func(f *Filter, local ...*bloom.BloomFilter) error { return f.Push(bg, local...) },
	"merge": func(f *Filter, local ...*bloom.BloomFilter) error { return f.Merge(bg, local...) },
}

// TestUploadLost deletes the upload, as an eviction does, after the first of many
// chunks, after the last one, and just before it is put to use.
func TestUploadLost(t *testing.T) {
	s := startServer(t)
	const n = 1_000_000 // five chunks
	local := newLocalFilter(t, n, 0.01)
	local.AddMany(keysOf(0, 1000), nil)
	lose := func() {
		for _, key := range s.Client.Keys(bg, "*upload*").Val() {
			s.Client.Del(bg, key)
		}
	}
	for name, transfer := range transfers {
		for _, when := range []string{"first chunk", "last chunk", "transaction"} {
			t.Run(fmt.Sprint(name, " ", when), func(t *testing.T) {
				s.Client.FlushAll(bg)
				once, client := onlyOnce(lose), s.Client
				if when == "transaction" {
					client = hooked(t, s, hook{before: once})
				}
				f := openWith(t, s, client, "f", n, 0.01, WithProgress(func(done, total uint64) {
					if when == "first chunk" && done > 0 || when == "last chunk" && done == total {
						once()
					}
				}))
				_, err := addEach(bg, f, keysOf(5000, 6000))
				require.NoError(t, err)
				before := s.Client.Get(bg, "f").Val()
				require.ErrorContains(t, transfer(f, local), "the upload was evicted, expired or deleted")
				require.True(t, before == s.Client.Get(bg, "f").Val(), "nothing was changed")
				require.Equal(t, int64(1), s.Client.DBSize(bg).Val(), "nothing is left over")
				require.NoError(t, transfer(f, local), "it can be repeated")
				found, err := askEach(bg, f, keysOf(0, 1000))
				require.NoError(t, err)
				require.Equal(t, 1000, count(found))
			})
		}
	}
}

// TestExpiryIsTheServers: neither Push nor Merge changes when the filter expires, also
// if an operator has changed it.
func TestExpiryIsTheServers(t *testing.T) {
	s := startServer(t)
	local := newLocalFilter(t, 1000, 0.01)
	for name, transfer := range transfers {
		f := open(t, s.Client, name, 1000, 0.01, WithTTL(time.Hour))
		require.NoError(t, s.Client.Expire(bg, name, 3*time.Hour).Err())
		before := s.Client.PExpireTime(bg, name).Val()
		for range 3 {
			require.NoError(t, transfer(f, local), name)
			// The clock may go on between two commands, on a busy machine by more than a
			// millisecond.
			require.InDelta(t, before.Seconds(), s.Client.PExpireTime(bg, name).Val().Seconds(), 60, name)
		}
		require.NoError(t, s.Client.Persist(bg, name).Err())
		require.NoError(t, transfer(f, local), name)
		require.Equal(t, time.Duration(-1), s.Client.TTL(bg, name).Val(), name)
		_, err := f.Add(bg, keyOf(1))
		require.NoError(t, err, name)
	}
}

// TestTransferAfterExpiry: a filter that has expired takes nothing, and what has been made
// in its place is left alone.
func TestTransferAfterExpiry(t *testing.T) {
	s := startServer(t)
	local := newLocalFilter(t, 1000, 0.01)
	local.AddMany(keysOf(0, 1000), nil)
	for name, transfer := range transfers {
		for _, anew := range []bool{false, true} {
			s.Client.FlushAll(bg)
			f := open(t, s.Client, "f", 1000, 0.01, WithTTL(2*time.Second))
			eventually(t, "it expires", func() error {
				if s.Client.Exists(bg, "f").Val() == 1 {
					return fmt.Errorf("it is still there")
				}
				return nil
			})
			if anew {
				open(t, s.Client, "f", 1000, 0.01, WithTTL(time.Hour))
			}
			before, expires := s.Client.Get(bg, "f").Val(), s.Client.PExpireTime(bg, "f").Val()
			require.ErrorIs(t, transfer(f, local), ErrLost, name)
			require.Equal(t, before, s.Client.Get(bg, "f").Val(), name)
			require.Equal(t, expires, s.Client.PExpireTime(bg, "f").Val(), name)
			require.LessOrEqual(t, s.Client.DBSize(bg).Val(), int64(1), "%s leaves nothing behind", name)
		}
	}
}

// replacements put something else in place of the filter f.
var replacements = map[string]struct {
	put  func(t *testing.T, s *server)
	want error
}{
	"made anew": {func(t *testing.T, s *server) {
		s.Client.Del(bg, "f")
		open(t, s.Client, "f", 1000, 0.01, WithTTL(time.Hour))
	}, ErrLost},
	"smaller": {func(t *testing.T, s *server) {
		s.Client.Del(bg, "f")
		open(t, s.Client, "f", 100, 0.5)
	}, ErrMismatch},
	"fingerprint": {func(t *testing.T, s *server) {
		require.NoError(t, s.Client.SetRange(bg, "f", 24, "another.").Err())
	}, ErrMismatch},
	"text": {func(t *testing.T, s *server) {
		require.NoError(t, s.Client.Set(bg, "f", strings.Repeat("precious ", 20), time.Hour).Err())
	}, ErrMismatch},
	"list": {func(t *testing.T, s *server) {
		s.Client.Del(bg, "f")
		require.NoError(t, s.Client.LPush(bg, "f", "precious").Err())
	}, ErrMismatch},
}

// TestTransferToSomethingElse: what is not the filter is not changed, whether it is found
// by the look before the transaction or comes between the two.
func TestTransferToSomethingElse(t *testing.T) {
	s := startServer(t)
	local := newLocalFilter(t, 1000, 0.01)
	local.AddMany(keysOf(0, 1000), nil)
	for name, transfer := range transfers {
		for with, r := range replacements {
			for _, between := range []bool{false, true} {
				t.Run(fmt.Sprint(name, " ", with, between), func(t *testing.T) {
					s.Client.FlushAll(bg)
					var before string
					var ttl time.Duration
					replace := onlyOnce(func() {
						r.put(t, s)
						before, ttl = s.Client.Dump(bg, "f").Val(), s.Client.PExpireTime(bg, "f").Val()
					})
					client := s.Client
					if between {
						client = hooked(t, s, hook{before: replace})
					}
					f := openWith(t, s, client, "f", 1000, 0.01)
					if !between {
						replace()
					}
					require.ErrorIs(t, transfer(f, local), r.want)
					require.Equal(t, before, s.Client.Dump(bg, "f").Val())
					require.Equal(t, ttl, s.Client.PExpireTime(bg, "f").Val())
					require.Equal(t, int64(1), s.Client.DBSize(bg).Val(), "no upload left over")
				})
			}
		}
	}
}

// TestTransferAmongAdds has somebody add just before each transaction, so that none
// that watches the filter's key comes through.
func TestTransferAmongAdds(t *testing.T) {
	s := startServer(t)
	local := newLocalFilter(t, 1000, 1e-6)
	local.AddMany(keysOf(0, 300), nil)
	for name, transfer := range transfers {
		other := open(t, s.Client, name, 1000, 1e-6)
		tries := 0
		f := openWith(t, s, hooked(t, s, hook{before: func() {
			added, err := other.Add(bg, keyOf(1000+tries))
			require.NoError(t, err)
			require.True(t, added)
			tries++
		}}), name, 1000, 1e-6)
		require.NoError(t, transfer(f, local), name)
		require.Equal(t, watchedTries+1, tries, name)
		found, err := askEach(bg, f, append(keysOf(0, 300), keysOf(1000, 1000+tries)...))
		require.NoError(t, err)
		want := 300
		if name == "merge" {
			want += tries
		}
		require.Equal(t, want, count(found), name)
	}
}

// TestReplacedAmongAdds: what comes between the look and a transaction that does not watch
// is changed, but not in silence. Where it vanishes, nothing is left behind.
func TestReplacedAmongAdds(t *testing.T) {
	s := startServer(t)
	local := newLocalFilter(t, 1000, 0.01)
	for name, transfer := range transfers {
		for _, anew := range []bool{false, true} {
			s.Client.FlushAll(bg)
			other := open(t, s.Client, "f", 1000, 0.01)
			tries := 0
			f := openWith(t, s, hooked(t, s, hook{before: func() {
				switch tries++; {
				case tries <= watchedTries:
					_, err := other.Add(bg, keyOf(tries))
					require.NoError(t, err)
				case tries == watchedTries+1:
					s.Client.Del(bg, "f")
					if anew {
						open(t, s.Client, "f", 1000, 0.01)
					}
				}
			}}), "f", 1000, 0.01)
			require.ErrorIs(t, transfer(f, local), ErrLost, name)
			require.Greater(t, tries, watchedTries)
			if name == "merge" && !anew {
				require.Zero(t, s.Client.DBSize(bg).Val(), "no orphan")
			}
			require.NoError(t, f.Reopen(bg))
			_, err := f.Add(bg, keyOf(1))
			require.NoError(t, err)
		}
	}
}

// TestMergedHeader: of the upload's first bytes, none come into the filter.
func TestMergedHeader(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	before := s.Client.GetRange(bg, "f", 0, headerBytes-1).Val()
	local := newLocalFilter(t, 1000, 0.01)
	local.AddMany(keysOf(0, 1000), nil)
	require.NoError(t, f.Merge(bg, local))
	require.Equal(t, before, s.Client.GetRange(bg, "f", 0, headerBytes-1).Val())
}

// TestContextEndsInTransaction: the replies come after the caller has gone. The race
// detector holds both to touching nothing in common; whatever they would do with
// the client meanwhile would hide it.
func TestContextEndsInTransaction(t *testing.T) {
	s := startServer(t)
	ctx, cancel := context.WithCancel(bg)
	client := hooked(t, s, hook{before: cancel, after: func() { time.Sleep(20 * time.Millisecond) }})
	f := openWith(t, s, client, "f", 1000, 0.01)
	require.ErrorIs(t, f.commit(ctx, f.shards[0], f.shards[0].life.Load(), newUpload("f"), func(redis.Pipeliner, time.Time) {}), context.Canceled)
	time.Sleep(100 * time.Millisecond)
	awaitIdle(t, client)
}

// TestCommitWithoutReply: the transaction was executed, but its reply was lost. It is
// not sent again.
func TestCommitWithoutReply(t *testing.T) {
	s := startServer(t)
	local := newLocalFilter(t, 1000, 0.01)
	for name, transfer := range transfers {
		p := startProxy(t, s.Addr)
		client := redis.NewClient(&redis.Options{Addr: p.Addr, MinRetryBackoff: -1})
		defer client.Close()
		transactions := 0
		client.AddHook(hook{
			before: func() { transactions++; p.CutEvery.Store(1) },
			after:  func() { p.CutEvery.Store(0) },
		})
		f := openWith(t, s, client, name, 1000, 0.01)
		require.Error(t, transfer(f, local), name)
		require.Equal(t, 1, transactions, name)
		require.Positive(t, p.Cuts.Load())
		require.NoError(t, f.Reopen(bg))
		_, err := f.Add(bg, keyOf(1))
		require.NoError(t, err)
		require.Equal(t, int64(1), s.Client.Exists(bg, name).Val())
	}
}
