// Package redistest starts Redis servers for tests, and proxies that disturb connections to them.
package redistest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A Server is a redis-server for one test, on a free loopback port.
type Server struct {
	Port   int
	Addr   string
	Dir    string
	Args   []string
	Client *redis.Client

	process *os.Process
	exited  chan struct{} // closed when the process has ended
}

// Program returns the path of a program that a test needs. Without the program, the test is skipped, or fails if
// BLOOM_REQUIRE is set.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err != nil && os.Getenv("BLOOM_REQUIRE") != "":
		t.Fatalf("missing %s, and BLOOM_REQUIRE is set: see .ci/install", name)
	case err != nil:
		t.Skipf("NOT TESTED without %s: see .ci/install", name)
	}
	return path
}

// ports is the set of ports that FreePort has returned.
var ports sync.Map

// FreePort returns a port on which no process listens, and which no other call has returned. The port, and the port of
// the cluster bus 10,000 above it, are below the ports that the system uses for outgoing connections.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(10000)
		free := true
		for _, each := range []int{port, port + 10000} {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", each))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if _, taken := ports.LoadOrStore(port, true); free && !taken {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

// Start starts a server, by default without persistence, and ends it with the test. args are further arguments of
// redis-server.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{Port: FreePort(t), Dir: t.TempDir(), Args: args}
	s.Addr = fmt.Sprintf("127.0.0.1:%d", s.Port)
	s.Start(t)
	s.Client = redis.NewClient(&redis.Options{Addr: s.Addr, ReadTimeout: time.Minute}) // the machine may be busy
	t.Cleanup(func() { s.Client.Close(); s.Kill() })
	return s
}

// shardID matches the name of a shard in nodes.conf. Valkey 8.0 may write different names for a replica and its master,
// and then refuses the file. Without the names, a node learns them from the others.
var shardID = regexp.MustCompile(`,shard-id=[0-9a-f]{40}`)

// Start starts the server, for the first time or again, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	config := filepath.Join(s.Dir, "nodes.conf")
	if b, err := os.ReadFile(config); err == nil {
		require.NoError(t, os.WriteFile(config, shardID.ReplaceAll(b, nil), 0o600))
	}
	args := append([]string{"--port", strconv.Itoa(s.Port), "--bind", "127.0.0.1", "--dir", s.Dir,
		"--save", "", "--appendonly", "no", "--logfile", "log"}, s.Args...)
	s.Run(t, Program(t, "redis-server"), args...)
}

// Run starts a server program and waits until it answers.
func (s *Server) Run(t testing.TB, path string, args ...string) {
	t.Helper()
	s.process, s.exited = start(t, path, args...)
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1, PoolSize: 1})
	defer c.Close()
	Eventually(t, "redis-server answers", func() error {
		select {
		case <-s.exited:
			log, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			t.Fatalf("redis-server has ended: %s", log)
		default:
		}
		return c.Ping(context.Background()).Err()
	})
}

// start starts a program that is killed when this process ends, even by kill -9. The channel is closed when the program
// has ended.
func start(t testing.TB, path string, args ...string) (*os.Process, chan struct{}) {
	t.Helper()
	// Before the shell becomes the program, it starts a process that will kill it.
	const script = `exec 3<&0; (cat <&3; kill -9 $$) & exec "$0" "$@" 3<&-`
	cmd := exec.Command("sh", append([]string{"-c", script, path}, args...)...)
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	return cmd.Process, exited
}

// Kill ends the server as kill -9 does, and waits for its end.
func (s *Server) Kill() {
	s.process.Kill()
	<-s.exited
}

// Hang stops the server until the test ends: it keeps its connections but does not answer. At the end it answers again:
// Close of go-redis 9.19 can wait without end for a connection that waits for a reply.
func (s *Server) Hang(t testing.TB) {
	t.Helper()
	signal := func(name string) error { // not every machine has a program kill, but every sh
		return exec.Command("sh", "-c", fmt.Sprint("kill -", name, " ", s.process.Pid)).Run()
	}
	require.NoError(t, signal("STOP"))
	t.Cleanup(func() { signal("CONT") }) // an error if it was killed
}

// Eventually waits until ok returns no error, or fails after a minute.
func Eventually(t testing.TB, what string, ok func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = ok(); err == nil {
			return
		}
	}
	t.Fatalf("waited in vain: %s: %v", what, err)
}

// KeyOf returns the i-th of a sequence of different keys.
func KeyOf(i int) []byte { return fmt.Appendf(nil, "https://example.com/articles/%d", i) }

// KeysOf returns the keys KeyOf(from) to KeyOf(to-1).
func KeysOf(from, to int) [][]byte {
	keys := make([][]byte, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, KeyOf(i))
	}
	return keys
}

// Count returns the number of true answers.
func Count(answers []bool) int {
	n := 0
	for _, yes := range answers {
		if yes {
			n++
		}
	}
	return n
}

// Each calls the function many, an AddMany or ContainsMany, and returns the answer for each key.
func Each(ctx context.Context, many func(context.Context, [][]byte, []bool) (int, error), keys [][]byte) ([]bool, error) {
	answers := make([]bool, len(keys))
	n, err := many(ctx, keys, answers)
	if n != Count(answers) {
		panic("a batch was miscounted")
	}
	return answers, err
}
