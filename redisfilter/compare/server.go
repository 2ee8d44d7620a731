package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// server is a redis-server of this program's own, on a free loopback port.
type server struct {
	addr    string
	dir     string
	process *exec.Cmd
	client  *redis.Client
}

func startServer(ctx context.Context) (*server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: apt-get install redis-server)", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		return nil, err
	}
	s := &server{addr: fmt.Sprintf("127.0.0.1:%d", port), dir: dir}
	s.process = exec.Command(path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "")
	if err := s.process.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.client = redis.NewClient(&redis.Options{Addr: s.addr, PoolSize: 1})
	for range 200 {
		if err = s.client.Ping(ctx).Err(); err == nil {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("redis-server does not answer: %w", err)
}

func (s *server) stop() {
	s.client.Close()
	s.process.Process.Kill()
	s.process.Wait()
	os.RemoveAll(s.dir)
}

// info returns one section of INFO by lines.
func (s *server) info(ctx context.Context, section string) ([]string, error) {
	text, err := s.client.Info(ctx, section).Result()
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), err
}

func (s *server) version(ctx context.Context) (string, error) {
	lines, err := s.info(ctx, "server")
	for _, line := range lines {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
			return v, nil
		}
	}
	return "", err
}

// cost returns the microseconds that commands have taken so far, and the CPU time of
// the whole server.
func (s *server) cost(ctx context.Context, commands []string) (usec, cpu float64, err error) {
	stats, err := s.stats(ctx)
	if err != nil {
		return 0, 0, err
	}
	for command, st := range stats {
		if slices.Contains(commands, command) {
			usec += st.usec
		}
	}
	lines, err := s.info(ctx, "cpu")
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, 0, err
			}
			cpu += seconds * 1e6
		}
	}
	return usec, cpu, err
}

type stat struct {
	calls int
	usec  float64
}

func (s *server) stats(ctx context.Context) (map[string]stat, error) {
	lines, err := s.info(ctx, "commandstats")
	if err != nil {
		return nil, err
	}
	stats := make(map[string]stat)
	for _, line := range lines {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		var st stat
		if _, err := fmt.Sscanf(rest, "calls=%d,usec=%g", &st.calls, &st.usec); ok && err == nil {
			stats[name] = st
		}
	}
	return stats, nil
}
