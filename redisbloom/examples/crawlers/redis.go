package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisServer is a server of this program's own, for trying it out.
type redisServer struct {
	addr    string
	dir     string
	process *exec.Cmd
}

func startRedis() (*redisServer, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("%w: install it, or name a server with -redis", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &redisServer{addr: l.Addr().String()}
	_, port, _ := net.SplitHostPort(s.addr)
	l.Close()
	if s.dir, err = os.MkdirTemp("", "crawlers"); err != nil {
		return nil, err
	}
	s.process = exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "")
	if err := s.process.Start(); err != nil {
		os.RemoveAll(s.dir)
		return nil, err
	}
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	defer client.Close()
	for range 100 {
		if err = client.Ping(context.Background()).Err(); err == nil {
			return s, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("redis-server does not answer: %w", err)
}

func (s *redisServer) stop() {
	s.process.Process.Kill()
	s.process.Wait()
	os.RemoveAll(s.dir)
}
