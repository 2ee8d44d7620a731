package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
)

// A server is a redis-server of our own. It listens on a socket in our folder, and writes
// what it does to a file before it answers, so that a kill loses nothing. (With everysec,
// the default, it does not wait for the file while the disk is busy.)
type server struct {
	program, dir string
	cmd          *exec.Cmd
}

// quiet keeps the client from reporting each kill.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func newServer(dir string) (*server, error) {
	redis.SetLogger(quiet{})
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, err
	}
	s := &server{program: program, dir: dir}
	return s, s.start()
}

func (s *server) client() *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: filepath.Join(s.dir, "redis.sock")})
}

func (s *server) start() error {
	s.cmd = exec.Command(s.program, "--port", "0", "--unixsocket", filepath.Join(s.dir, "redis.sock"), "--dir", s.dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "no", "--logfile", "redis.log")
	if err := s.cmd.Start(); err != nil {
		return err
	}
	client := s.client()
	defer client.Close()
	var err error
	for range 300 {
		if err = client.Ping(context.Background()).Err(); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.kill()
	return fmt.Errorf("redis-server does not answer: %w", err)
}

// kill ends it as kill -9 does.
func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait() // it was killed: that is the error
}

// A remote is one filter in Redis as two programs see it, one of them without a front
// filter. Calls alternate between the two.
type remote struct {
	s       *soak
	clients [2]*redis.Client
	filters [2]*redisfilter.Filter
	calls   atomic.Uint64
}

func newRemote(s *soak, n uint64, p float64) (filter, error) {
	r := &remote{s: s}
	name := fmt.Sprint("soak", s.random.Uint64())
	for i, opts := range [][]redisfilter.Option{nil, {redisfilter.WithFront(0)}} {
		r.clients[i] = s.redis.client()
		var err error
		if r.filters[i], err = redisfilter.Open(context.Background(), r.clients[i], name, n, p, opts...); err != nil {
			return nil, err
		}
	}
	return r, nil
}

var redisKind = kind{"redis", newRemote, func(r io.Reader) (filter, error) { return bloom.Read(r) }}

func (r *remote) one() *redisfilter.Filter { return r.filters[r.calls.Add(1)%2] }

// must reports an error, of which there can be none here.
func (r *remote) must(err error) {
	if err != nil {
		r.s.fault("redis: %v", err)
	}
}

func (r *remote) Add(key []byte) bool {
	added, err := r.one().Add(context.Background(), key)
	r.must(err)
	return added
}

func (r *remote) Contains(key []byte) bool {
	found, err := r.one().Contains(context.Background(), key)
	r.must(err)
	return found
}

func (r *remote) AddMany(keys [][]byte, added []bool) int {
	n, err := r.one().AddMany(context.Background(), keys, added)
	r.must(err)
	return n
}

func (r *remote) ContainsMany(keys [][]byte, found []bool) int {
	n, err := r.one().ContainsMany(context.Background(), keys, found)
	r.must(err)
	return n
}

// pulled is a copy in memory. The filters are too small for a second shard.
func (r *remote) pulled() *bloom.BloomFilter {
	f := r.one()
	local, err := f.NewLocal()
	r.must(err)
	r.must(f.Pull(context.Background(), local.Filters()...))
	return local.Filters()[0]
}

func (r *remote) WriteTo(w io.Writer) (int64, error) { return r.pulled().WriteTo(w) }

func (r *remote) Scheme() bloom.Scheme {
	local, err := r.filters[0].NewLocal()
	r.must(err)
	return local.Filters()[0].Scheme()
}

func (r *remote) Union(other *bloom.BloomFilter) error {
	return r.one().Merge(context.Background(), other)
}

// Close deletes the filter.
func (r *remote) Close() error {
	err := r.filters[0].Delete(context.Background())
	return errors.Join(err, r.clients[0].Close(), r.clients[1].Close())
}

// killServer kills the server while goroutines add keys, each its own. What was answered
// before is there afterwards; what was on its way is an error.
func (s *soak) killServer() {
	client := s.redis.client()
	defer client.Close()
	ctx := context.Background()
	const n = 1 << 20 // more than can be added before the end
	f, err := redisfilter.Open(ctx, client, fmt.Sprint("killed", s.random.Uint64()), n, killRate, redisfilter.WithFront(0))
	if err != nil {
		s.fault("redis: %v", err)
		return
	}
	key := func(g, i int) []byte { return fmt.Appendf(nil, "%d of %d", i, g) }
	confirmed := make([]int, s.goroutines)
	var killed atomic.Bool
	var wg sync.WaitGroup
	for g := range confirmed {
		wg.Go(func() {
			for i := range n / s.goroutines {
				added, err := f.Add(ctx, key(g, i))
				if err != nil {
					if !killed.Load() {
						s.fault("redis: %v", err)
					}
					return
				}
				if !added {
					s.count("keys that nobody won", 1)
				}
				confirmed[g]++
			}
		})
	}
	time.Sleep(time.Duration(50+s.random.IntN(400)) * time.Millisecond)
	killed.Store(true)
	s.redis.kill()
	wg.Wait()
	if err := s.redis.start(); err != nil {
		s.fault("%v", err)
		return
	}
	for g, n := range confirmed {
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = key(g, i)
		}
		found, err := f.ContainsMany(ctx, keys, nil)
		if err != nil || found != n {
			s.fault("redis: %d of %d keys are there after a kill: %v", found, n, err)
		}
		s.count("keys of killed servers", n)
	}
	s.count("kills of redis-server", 1)
	if err := f.Delete(ctx); err != nil {
		s.fault("redis: %v", err)
	}
}
