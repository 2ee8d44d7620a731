package redisfilter_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/child"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// An outage is a server, what happens to it between some adds and later ones, and what happens then.
type outage struct {
	client        redis.UniversalClient
	between, then func()
}

// outages are the ways in which servers forget, and some in which they do not.
var outages = []struct {
	name  string
	lost  bool
	opts  []option
	start func(t *testing.T) outage
}{
	{"restart without a file", true, nil, func(t *testing.T) outage {
		s := redistest.Start(t)
		return outage{s.Client, nil, func() { restart(t, s) }}
	}},
	{"restart with a log", false, nil, func(t *testing.T) outage {
		// With everysec, a slow disk holds writes back.
		s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
		return outage{s.Client, nil, func() { restart(t, s) }}
	}},
	{"failover by Sentinel with WithWait", false, []option{redisfilter.WithWait(1, time.Second)}, func(t *testing.T) outage {
		s := startWatched(t, 1)
		return outage{s.client, nil, func() { s.failover(t) }}
	}},
}

// names are those of the filters in an outage, one of each kind.
var names = []string{"plain", "growth", "window"}

// TestOutages has handles add keys before and after a point in time, disturbs the server, and lets each handle make a
// call of another kind. If the server has lost the filter, the call returns ErrLost, and the next add goes on. If it
// has not, nothing is missing.
func TestOutages(t *testing.T) {
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			out := o.start(t)
			var handles []*filter // one for each call, of each kind
			var order []string
			for i, k := range kinds[:3] {
				k.opts = append([]option{noCache}, append(k.opts, o.opts...)...)
				for call := range calls {
					f, err := redisfilter.Open(bg, out.client, names[i], k.n, k.p, k.opts...)
					require.NoError(t, err)
					handles, order = append(handles, f), append(order, call)
				}
			}
			next := 0
			addSome := func() {
				for _, f := range handles {
					_, err := f.AddMany(bg, keysOf(next, next+10), nil)
					require.NoError(t, err)
				}
				next += 10
			}
			addSome()
			if out.between != nil {
				out.between()
			}
			addSome()
			for _, f := range handles { // a duplicate counts, too
				_, err := f.Add(bg, keyOf(0))
				require.NoError(t, err)
			}
			out.then()
			for i, f := range handles {
				err := calls[order[i]](f, 5000)
				where := fmt.Sprint(f.Keys(), order[i])
				if o.lost {
					require.ErrorIs(t, err, redisfilter.ErrLost, where)
					require.Empty(t, redisfilter.UnsureOf(err), where)
					added, err := f.Add(bg, fmt.Append(nil, "again ", i))
					require.NoError(t, err, where)
					require.True(t, added, where)
					continue
				}
				if !errors.Is(err, redisfilter.ErrReplicas) { // the answers are valid
					require.NoError(t, err, where)
				}
				n, err := f.ContainsMany(bg, keysOf(0, next), nil)
				require.NoError(t, err, where)
				require.Equal(t, next, n, where)
			}
		})
	}
}

// restart kills a server, unless it is dead, and starts it again.
func restart(t *testing.T, s *redistest.Server) {
	s.Kill()
	s.Start(t)
	redistest.Eventually(t, "the client has noticed", func() error { return s.Client.Ping(bg).Err() })
}

// A watched is a primary and its replicas that Sentinel watches. The first replica takes over.
type watched struct {
	primary, replica *redistest.Server
	replicas         int
	sentinel         *redis.SentinelClient
	addr             string // of the Sentinel
	client           *redis.Client
}

func startWatched(t *testing.T, replicas int) *watched {
	path := redistest.Program(t, "redis-sentinel")
	s := &watched{primary: redistest.Start(t), replicas: replicas}
	for i := range replicas {
		user := fmt.Sprint("copier", i)
		require.NoError(t, s.primary.Client.Do(bg, "ACL", "SETUSER", user, "on", ">secret", "+@all", "~*", "&*").Err())
		replica := redistest.Start(t, "--replicaof", "127.0.0.1", fmt.Sprint(s.primary.Port), "--repl-diskless-sync-delay", "0",
			"--masteruser", user, "--masterauth", "secret", "--replica-priority", fmt.Sprint(100+i))
		if replica.Follows(t); i == 0 {
			s.replica = replica
		}
	}
	watcher := &redistest.Server{Port: redistest.FreePort(t), Dir: t.TempDir()}
	watcher.Addr = fmt.Sprintf("127.0.0.1:%d", watcher.Port)
	config := filepath.Join(watcher.Dir, "sentinel.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `port %d
bind 127.0.0.1
dir %s
sentinel monitor crawl 127.0.0.1 %d 1
sentinel down-after-milliseconds crawl 60000
sentinel failover-timeout crawl 5000
`, watcher.Port, watcher.Dir, s.primary.Port), 0o600))
	watcher.Run(t, path, config)
	t.Cleanup(watcher.Kill)
	s.addr = watcher.Addr
	s.sentinel, s.client = redis.NewSentinelClient(&redis.Options{Addr: watcher.Addr}), watchedClient(watcher.Addr)
	t.Cleanup(func() { s.sentinel.Close(); s.client.Close() })
	redistest.Eventually(t, "Sentinel knows the replicas", func() error {
		found, err := s.sentinel.Replicas(bg, "crawl").Result()
		down := slices.ContainsFunc(found, func(r map[string]string) bool { return r["master-link-status"] != "ok" })
		if err == nil && (len(found) != replicas || down) {
			err = errors.New("it does not")
		}
		return err
	})
	return s
}

// watchedClient returns a client of the primary that the Sentinel at addr knows.
func watchedClient(addr string) *redis.Client {
	return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "crawl", SentinelAddrs: []string{addr}, ReadTimeout: 30 * time.Second})
}

// lag lets the first replica receive nothing more.
func (s *watched) lag(t *testing.T) {
	require.NoError(t, s.primary.Client.Do(bg, "WAIT", s.replicas, 0).Err())
	require.NoError(t, s.primary.Client.Do(bg, "ACL", "SETUSER", "copier0", "off").Err())
	require.NoError(t, s.primary.Client.ClientKillByFilter(bg, "USER", "copier0").Err())
}

// failover kills the primary, and waits until the replica has taken over. Sentinel is told, because one that notices in
// seconds would take a slow server for a dead one.
func (s *watched) failover(t *testing.T) {
	s.primary.Kill()
	redistest.Eventually(t, "the replica takes over", func() error {
		if err := s.client.Set(bg, "other", 1, 0).Err(); err != nil {
			return errors.Join(err, s.sentinel.Failover(bg, "crawl").Err()) // once more, if it was given up
		}
		return s.replica.Client.Get(bg, "other").Err()
	})
}

// TestPreferredReplica: Sentinel lets the replica with the lowest priority take over, also if it lags and another one
// does not. So a failover forgets no confirmed key only if all replicas that may take over have confirmed it.
func TestPreferredReplica(t *testing.T) {
	for replicas := 1; replicas <= 2; replicas++ {
		s := startWatched(t, 2)
		var confirmed [][]byte
		var f *redisfilter.Filter
		add := func(from int, wait time.Duration) {
			var err error
			f, err = redisfilter.Open(bg, s.client, "f", 10_000, 1e-9, noCache, redisfilter.WithWait(replicas, wait))
			require.NoError(t, err)
			_, err = f.AddMany(bg, keysOf(from, from+1000), nil)
			failed := &redisfilter.AddError{}
			if err != nil {
				require.ErrorAs(t, err, &failed)
				require.ErrorIs(t, err, redisfilter.ErrReplicas)
			}
			for i := range 1000 {
				if err == nil {
					confirmed = append(confirmed, keyOf(from+i))
				}
			}
		}
		add(0, 20*time.Second) // long, for a busy machine
		s.lag(t)
		add(1000, []time.Duration{20 * time.Second, time.Second}[replicas-1]) // the second replica will not confirm
		s.failover(t)
		require.NotEmpty(t, confirmed)
		n, err := f.ContainsMany(bg, confirmed, nil)
		require.NoError(t, err)
		t.Logf("%d of 2 replicas confirm: %d of %d confirmed keys are gone", replicas, len(confirmed)-n, len(confirmed))
		require.Equal(t, replicas == 1, n < len(confirmed))
	}
}

func TestMain(m *testing.M) {
	child.Main(m, map[string]func([]string) error{"killed": killed, "crawler": crawler})
}

// killed does something of everything with a filter of a kind on a server, and prints each key that is confirmed to be
// in the filter. It dies like by kill -9 when the server has executed its n-th command, before it reads the reply.
func killed(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: args[0], DisableIdentity: true})
	client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
		err := send()
		if n--; n == 0 {
			if me, err := os.FindProcess(os.Getpid()); err == nil {
				me.Kill()
			}
			select {}
		}
		return err
	}))
	k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == args[1] })]
	f, err := redisfilter.Open(bg, client, "f", k.n, k.p, append(k.opts, noCache, redisfilter.WithTTL(time.Hour))...)
	if err != nil {
		return err
	}
	for _, keys := range [][2]int{{0, 1}, {1, 2}, {10, 1500}} { // opens a layer if it grows
		if _, err := f.AddMany(bg, keysOf(keys[0], keys[1]), nil); err != nil {
			return err
		}
		fmt.Println(keys[0], keys[1])
	}
	if k.name == "plain" {
		local, err := redisfilter.NewLocal(k.n, k.p, k.opts...)
		if err != nil {
			return err
		}
		local.Add(keyOf(2000))
		if err := f.Merge(bg, local); err != nil {
			return err
		}
		fmt.Println(2000, 2001)
		if _, err = f.Local(bg); err != nil {
			return err
		}
	}
	fmt.Println("end")
	return nil
}

// TestKilled kills a process after each of its commands. Others find a whole filter with all that was confirmed,
// and whatever else is left expires.
func TestKilled(t *testing.T) {
	each(t, 3, func(t *testing.T, s *redistest.Server, k kind) {
		for n := 1; ; n++ {
			require.NoError(t, s.Client.FlushAll(bg).Err())
			out, err := child.Command(os.Args[0], "killed", s.Addr, k.name, fmt.Sprint(n)).Output()
			for _, name := range s.Client.Keys(bg, "*").Val() {
				require.Positive(t, s.Client.PTTL(bg, name).Val(), "%s never expires", name)
			}
			f, opened := redisfilter.Open(bg, s.Client, "f", k.n, k.p, append(k.opts[:len(k.opts):len(k.opts)], noCache)...)
			require.NoError(t, opened)
			for line := range strings.Lines(string(out)) {
				var from, to int
				if _, err := fmt.Sscan(line, &from, &to); err != nil {
					continue
				}
				found, err := f.ContainsMany(bg, keysOf(from, to), nil)
				require.NoError(t, err)
				require.Equal(t, to-from, found, "command %d, keys from %d", n, from)
			}
			added, failed := f.Add(bg, keyOf(9000))
			require.NoError(t, failed)
			require.True(t, added)
			if strings.HasSuffix(string(out), "end\n") {
				require.NoError(t, err)
				require.Greater(t, n, 7)
				return
			}
			var failure *exec.ExitError
			require.ErrorAs(t, err, &failure)
			require.Empty(t, failure.Stderr, "command %d", n)
		}
	})
}
