package redisfilter

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCutReplies sends adds through a proxy that cuts one reply in 20, over a client
// that retries as it does by default. No fresh key may be called seen: such a key
// would never be fetched by anybody.
func TestCutReplies(t *testing.T) {
	s := startServer(t)
	const keys = 3000
	for _, size := range []int{1, 10} {
		p := startProxy(t, s.Addr)
		client := redis.NewClient(&redis.Options{Addr: p.Addr, MinRetryBackoff: -1})
		defer client.Close()
		f := open(t, client, fmt.Sprint("f", size), keys, 1e-9)
		p.CutEvery.Store(20)
		won, lost, unknown := 0, 0, 0
		for i := 0; i < keys; i += size {
			added, err := addEach(bg, f, keysOf(i, i+size))
			var failed AddError
			if err != nil {
				require.ErrorIs(t, err, ErrUnknown)
				e, _ := errors.AsType[*AddError](err)
				failed = *e
			}
			for j := range size {
				switch {
				case added[j]:
					won++
				case slices.Contains(failed.Unknown, j):
					unknown++
				default:
					lost++
				}
			}
		}
		t.Logf("batches of %d: %d fresh keys, %d replies cut: %d new, %d reported as unknown, %d lost", size, keys, p.Cuts.Load(), won, unknown, lost)
		require.Zero(t, lost)
		require.Equal(t, keys, won+unknown)
		require.Greater(t, unknown, keys/40)

		// Asking may be repeated, and is.
		found, err := askEach(bg, f, keysOf(0, keys))
		require.NoError(t, err)
		require.Equal(t, keys, count(found), "an add whose reply was cut was executed all the same")
	}
}

// TestCutRepliesWithRetries is the control: the same commands, sent so that the
// client retries them, lose keys without an error.
func TestCutRepliesWithRetries(t *testing.T) {
	s := startServer(t)
	p := startProxy(t, s.Addr)
	client := redis.NewClient(&redis.Options{Addr: p.Addr, MinRetryBackoff: -1})
	defer client.Close()
	f := open(t, client, "f", 3000, 1e-9)
	p.CutEvery.Store(20)
	lost := 0
	for i := range 1000 {
		answers := make([]bool, 1)
		parts := f.split(true, f.appendPositions(nil, keyOf(i)), answers)
		f.prepare(bg, true, parts)
		require.NoError(t, parts[0].err)
		f.command(bg, true, parts[0])
		require.NoError(t, client.Process(bg, parts[0].values)) // not the send.OnceInts that holds it
		require.NoError(t, f.answer(bg, parts[0], true, answers))
		if !answers[0] {
			lost++
		}
	}
	t.Logf("1000 fresh keys, retried by the client: %d lost without an error", lost)
	require.Greater(t, lost, 20)
}

// TestKill ends the server as kill -9 does and starts it again.
func TestKill(t *testing.T) {
	for name, c := range map[string]struct {
		args      []string
		loses     bool
		mayForget bool // up to two seconds: Redis answers before it writes while it waits for the disk
	}{
		"no persistence": {nil, true, false},
		"aof everysec":   {[]string{"--appendonly", "yes", "--appendfsync", "everysec"}, false, true},
		"aof always":     {[]string{"--appendonly", "yes", "--appendfsync", "always"}, false, false},
		"aof no":         {[]string{"--appendonly", "yes", "--appendfsync", "no"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, c.args...)
			f := open(t, s.Client, "f", 10000, 1e-9)
			reader := open(t, s.Client, "f", 10000, 1e-9, noFront)
			process := s.Process.Process
			confirmed, unknown := 0, 0
			for i := 0; ; i++ {
				added, err := f.Add(bg, keyOf(i))
				if err == nil {
					require.True(t, added)
					if confirmed++; confirmed == 1 {
						time.AfterFunc(150*time.Millisecond, func() { process.Kill() })
					}
					continue
				}
				if errors.Is(err, ErrUnknown) {
					unknown++
				}
				break
			}
			<-s.Exited
			require.Positive(t, confirmed)
			s.Start(t)
			found, err := askEach(bg, reader, keysOf(0, confirmed))
			if c.loses {
				require.ErrorIs(t, err, ErrLost)
				_, err = f.Add(bg, keyOf(confirmed+1))
				require.ErrorIs(t, err, ErrLost)
				require.NoError(t, f.Reopen(bg))
				added, err := f.Add(bg, keyOf(0))
				require.NoError(t, err)
				require.True(t, added)
				t.Logf("%d confirmed adds, all forgotten; reported as ErrLost", confirmed)
				return
			}
			if c.mayForget {
				_, handle := f.Add(bg, keyOf(confirmed+1))
				if errors.Is(err, ErrLost) { // the making of the filter, too
					require.ErrorIs(t, handle, ErrLost)
					return
				}
				require.NoError(t, err)
				lost := confirmed - count(found)
				t.Logf("%d confirmed adds, %d unknown, %d lost", confirmed, unknown, lost)
				require.Equal(t, lost > 0, errors.Is(handle, ErrLost), "a handle is told if its adds are lost, and only then: %v", handle)
				return
			}
			require.NoError(t, err)
			require.Equal(t, confirmed, count(found))
			added, err := f.Add(bg, keyOf(confirmed+1))
			require.NoError(t, err)
			require.True(t, added)
			t.Logf("%d confirmed adds, %d unknown, 0 lost", confirmed, unknown)
		})
	}
}

// TestReplicaCutOff lets the link to a replica fall silent for half a second of
// adds, then loses the primary and goes on with the replica.
func TestReplicaCutOff(t *testing.T) {
	for _, wait := range []bool{false, true} {
		t.Run(fmt.Sprint("wait=", wait), func(t *testing.T) {
			primary := startServer(t, "--repl-diskless-sync-delay", "0")
			link := startProxy(t, primary.Addr)
			var host, port = "127.0.0.1", link.Addr[len("127.0.0.1:"):]
			replica := startServer(t, "--replicaof", host+" "+port)
			awaitReplica(t, primary)
			opts := []Option{WithFront(0)}
			if wait {
				opts = append(opts, WithWait(1, 100*time.Millisecond))
			}
			f := open(t, primary.Client, "f", 100000, 1e-9, opts...)
			var confirmed []int
			refused := 0
			add := func(i int) {
				added, err := f.Add(bg, keyOf(i))
				if err == nil {
					require.True(t, added)
					confirmed = append(confirmed, i)
					return
				}
				require.ErrorIs(t, err, ErrReplicas)
				require.NotErrorIs(t, err, ErrUnknown)
				require.True(t, added, "the primary's answer is known")
				refused++
			}
			i := 0
			for ; i < 1000; i++ {
				add(i)
			}
			link.Silent.Lock()
			for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); i++ {
				add(i)
			}
			primary.Kill()
			err := replica.Client.ReplicaOf(bg, "NO", "ONE").Err()
			link.Silent.Unlock() // what was on its way arrives too late
			require.NoError(t, err)

			g := open(t, replica.Client, "f", 100000, 1e-9)
			keys := make([][]byte, len(confirmed))
			for j, n := range confirmed {
				keys[j] = keyOf(n)
			}
			found, err := askEach(bg, g, keys)
			require.NoError(t, err)
			lost := len(confirmed) - count(found)
			t.Logf("%d confirmed adds, %d refused (ErrReplicas), %d of the confirmed lost in the failover", len(confirmed), refused, lost)
			if wait {
				require.Zero(t, lost)
				require.Positive(t, refused)
			} else {
				require.Zero(t, refused)
				require.Positive(t, lost, "if nothing is lost, this test shows nothing")
			}
		})
	}
}

// TestEviction lets other keys push the filter out of a server that may evict, and
// fills one that may not.
func TestEviction(t *testing.T) {
	s := startServer(t, "--maxmemory", "8mb", "--maxmemory-policy", "allkeys-lru", "--maxmemory-samples", "10")
	f := open(t, s.Client, "f", 100000, 0.01)
	_, err := addEach(bg, f, keysOf(0, 1000))
	require.NoError(t, err)
	value := make([]byte, 100_000)
	for i := 0; s.Client.Exists(bg, "f").Val() == 1; i++ {
		require.Less(t, i, 10000, "it is not evicted")
		require.NoError(t, s.Client.Set(bg, fmt.Sprint("other", i), value, 0).Err())
		time.Sleep(time.Millisecond) // the clock of LRU is coarse
	}
	_, err = f.Add(bg, keyOf(1000))
	require.ErrorIs(t, err, ErrLost)
	require.NoError(t, f.Reopen(bg))

	s = startServer(t, "--maxmemory-policy", "noeviction")
	f = open(t, s.Client, "f", 100000, 0.01)
	_, err = addEach(bg, f, keysOf(0, 1000))
	require.NoError(t, err)
	require.NoError(t, s.Client.ConfigSet(bg, "maxmemory", "100kb").Err()) // less than it has
	_, err = addEach(bg, f, keysOf(1000, 1010))
	require.ErrorContains(t, err, "maxmemory")
	require.NotErrorIs(t, err, ErrUnknown, "a refused add was not executed")
	failed, ok := errors.AsType[*AddError](err)
	require.True(t, ok)
	require.Len(t, failed.NotAdded, 10)
	found, err := askEach(bg, f, keysOf(0, 1000))
	require.NoError(t, err, "asking needs no memory")
	require.Equal(t, 1000, count(found))
	_, err = Open(bg, s.Client, "g", 100000, 0.01)
	require.ErrorContains(t, err, "maxmemory")
}

// TestReadOnlyReplica: adds are refused, and the error says where to go.
func TestReadOnlyReplica(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	require.NoError(t, s.Client.ReplicaOf(bg, "127.0.0.1", "1").Err())
	_, err := f.Add(bg, keyOf(0))
	require.ErrorContains(t, err, "connect to the primary")
	require.NotErrorIs(t, err, ErrUnknown)
}

// TestServerGone: no server is there any more.
func TestServerGone(t *testing.T) {
	s := startServer(t)
	f := open(t, s.Client, "f", 1000, 0.01)
	s.Kill()
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer client.Close()
	f.sender.Client = client
	_, err := f.Add(bg, keyOf(0))
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrUnknown, "it never left: %v", err)
	_, err = Open(bg, client, "f", 1000, 0.01)
	assert.Error(t, err)
}
