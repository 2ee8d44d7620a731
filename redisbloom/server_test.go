package redisbloom

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A server is a redis-server of one test's own, on a free loopback port.
type server struct {
	port    int
	addr    string
	dir     string
	args    []string
	process *exec.Cmd
	exited  chan struct{}
	client  *redis.Client
}

// program returns the path of a program that a test needs. Where it is missing, the
// test is skipped, or fails if BLOOM_REQUIRE is set, as CI sets it.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("BLOOM_REQUIRE") != "" {
			t.Fatalf("%s is not installed, and BLOOM_REQUIRE is set", name)
		}
		t.Skipf("SKIPPED: %s is not installed, so nothing was tested (Debian: apt-get install redis-server redis-sentinel)", name)
	}
	return path
}

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startServer starts a server without persistence, unless args say otherwise, and
// ends it with the test.
func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	s := &server{port: freePort(t), dir: t.TempDir(), args: args}
	s.addr = fmt.Sprintf("127.0.0.1:%d", s.port)
	s.start(t)
	s.client = redis.NewClient(&redis.Options{Addr: s.addr})
	t.Cleanup(func() { s.client.Close(); s.kill() })
	return s
}

// start starts the server, for the first time or again, and waits until it answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	args := append([]string{"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir,
		"--save", "", "--appendonly", "no", "--logfile", "log"}, s.args...)
	s.run(t, program(t, "redis-server"), args...)
}

// run starts a server program and waits until it answers.
func (s *server) run(t testing.TB, path string, args ...string) {
	t.Helper()
	s.process = exec.Command(path, args...)
	require.NoError(t, s.process.Start())
	s.exited = make(chan struct{})
	go func(p *exec.Cmd, exited chan struct{}) { p.Wait(); close(exited) }(s.process, s.exited)
	c := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, PoolSize: 1})
	defer c.Close()
	eventually(t, "redis-server answers", func() error {
		select {
		case <-s.exited:
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			t.Fatalf("redis-server has ended: %s", log)
		default:
		}
		return c.Ping(context.Background()).Err()
	})
}

// kill ends the server as kill -9 does, and waits for its end.
func (s *server) kill() {
	s.process.Process.Kill()
	<-s.exited
}

// eventually waits until ok returns no error, or fails after half a minute.
func eventually(t testing.TB, what string, ok func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = ok(); err == nil {
			return
		}
	}
	t.Fatalf("waited in vain: %s: %v", what, err)
}

// awaitReplica waits until a replica has confirmed a write of its primary. A link that
// is up says less: the primary may not count the replica yet.
func awaitReplica(t testing.TB, primary *server) {
	t.Helper()
	eventually(t, "a replica follows", func() error {
		conn := primary.client.Conn() // WAIT speaks of its own connection's writes
		defer conn.Close()
		if err := conn.Set(context.Background(), "a replica follows", 1, 0).Err(); err != nil {
			return err
		}
		replicas, err := conn.Wait(context.Background(), 1, 100*time.Millisecond).Result()
		if err == nil && replicas == 0 {
			err = errors.New("none has confirmed a write")
		}
		return err
	})
}

// open opens a filter, which must work.
func open(t testing.TB, client redis.UniversalClient, name string, n uint64, p float64, opts ...Option) *Filter {
	t.Helper()
	f, err := Open(context.Background(), client, name, n, p, opts...)
	require.NoError(t, err)
	return f
}

// keyOf returns the i-th of a sequence of different keys.
func keyOf(i int) []byte { return fmt.Appendf(nil, "https://example.com/articles/%d", i) }

// keysOf returns the keys from ... to-1 of the sequence.
func keysOf(from, to int) [][]byte {
	keys := make([][]byte, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, keyOf(i))
	}
	return keys
}

// count returns how many answers are true.
func count(answers []bool) int {
	n := 0
	for _, yes := range answers {
		if yes {
			n++
		}
	}
	return n
}
