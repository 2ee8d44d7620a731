package rediscluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/child"
)

// A Node is one redis-server.
type Node struct {
	Addr   string
	Client *redis.Client

	port, bus int
	id        string
	dir       string
	path      string
	args      []string
	process   *exec.Cmd
	exited    <-chan struct{}
}

// nodeTimeout is after how long a node that is silent is taken for dead. A machine that does
// other things must not be silent for so long.
const nodeTimeout = 4 * time.Second

func startNode(ctx context.Context, path, dir string, args []string) (*Node, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	n := &Node{dir: dir, path: path}
	var err error
	for range 10 { // others may be faster to take a port
		if n.port, n.bus, err = freePorts(); err != nil {
			return nil, err
		}
		n.Addr = fmt.Sprintf("127.0.0.1:%d", n.port)
		n.args = append([]string{"--port", strconv.Itoa(n.port), "--bind", "127.0.0.1", "--dir", dir, "--logfile", "log",
			"--save", "", "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(n.bus),
			"--cluster-node-timeout", strconv.FormatInt(nodeTimeout.Milliseconds(), 10), "--cluster-require-full-coverage", "no",
			"--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"}, args...)
		n.Client = redis.NewClient(&redis.Options{Addr: n.Addr, ReadTimeout: time.Minute})
		if err = n.Start(ctx); err == nil {
			n.id, err = n.Client.ClusterMyID(ctx).Result()
		}
		if err == nil {
			return n, nil
		}
		n.Client.Close()
		n.Kill()
	}
	return nil, err
}

// freePorts returns two ports on which no process listens. They are below those that the system
// gives to outgoing connections, which would take them away.
func freePorts() (port, bus int, err error) {
	var l net.Listener
	for range 1000 {
		port = 10000 + rand.IntN(22000)
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
			continue
		}
		l.Close()
		if bus != 0 && bus != port {
			return port, bus, nil
		}
		bus = port
	}
	return 0, 0, fmt.Errorf("no free port: %w", err)
}

// Start starts the node, for the first time or again, and waits until it answers.
func (n *Node) Start(ctx context.Context) error {
	n.process = exec.Command(n.path, n.args...)
	var err error
	if n.exited, err = child.Start(n.process); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-n.exited:
			log, _ := os.ReadFile(filepath.Join(n.dir, "log"))
			cancel(fmt.Errorf("redis-server has ended: %s", log))
		case <-ctx.Done():
		}
	}()
	err = Await(ctx, "redis-server answers", func() error { return n.Client.Ping(ctx).Err() })
	return errors.Join(err, context.Cause(ctx))
}

// Kill ends the node as kill -9 does, and waits for its end.
func (n *Node) Kill() {
	if n.exited != nil {
		n.process.Process.Kill()
		<-n.exited
	}
}

func (n *Node) dead() bool {
	select {
	case <-n.exited:
		return true
	default:
		return false
	}
}

// Follows waits until the node is a replica that has what its master has.
func (n *Node) Follows(ctx context.Context) error {
	return Await(ctx, "a replica follows its master", func() error {
		info, err := n.Client.Info(ctx, "replication").Result()
		return errors.Join(err, lacks(info, "role:slave", "master_link_status:up"))
	})
}
