package redisfilter_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var errDown = errors.New("down")

// A limiter refuses commands while it is down.
type limiter struct{ down *atomic.Bool }

func (l limiter) Allow() error {
	if l.down.Load() {
		return errDown
	}
	return nil
}

func (limiter) ReportResult(error) {}

// failures are causes for which a command fails before it is written to a connection. set begins and ends the cause.
var failures = []struct {
	name  string
	start func(t *testing.T, down *atomic.Bool, o *redis.Options) (set func(down bool))
}{
	{"a proxy without a living server", func(t *testing.T, _ *atomic.Bool, o *redis.Options) func(bool) {
		p := redistest.StartHAProxy(t, o.Addr, time.Minute)
		o.Addr = p.Addr
		return func(down bool) { p.SetServer(t, !down) }
	}},
	{"a refused certificate", func(t *testing.T, down *atomic.Bool, o *redis.Options) func(bool) {
		_, o.Addr, o.TLSConfig = redistest.StartTLS(t)
		o.TLSConfig.VerifyConnection = func(tls.ConnectionState) error { return limiter{down}.Allow() }
		return nil
	}},
	{"no credentials", func(_ *testing.T, down *atomic.Bool, o *redis.Options) func(bool) {
		o.CredentialsProviderContext = func(context.Context) (string, string, error) { return "", "", limiter{down}.Allow() }
		return nil
	}},
	{"OnConnect", func(_ *testing.T, down *atomic.Bool, o *redis.Options) func(bool) {
		o.OnConnect = func(context.Context, *redis.Conn) error { return limiter{down}.Allow() }
		return nil
	}},
	{"a limiter", func(_ *testing.T, down *atomic.Bool, o *redis.Options) func(bool) {
		o.Limiter = limiter{down}
		return nil
	}},
	{"a hook", func(*testing.T, *atomic.Bool, *redis.Options) func(bool) { return nil }},
	{"a refused port", func(_ *testing.T, down *atomic.Bool, o *redis.Options) func(bool) {
		addr := o.Addr
		o.Dialer = func(ctx context.Context, network, _ string) (net.Conn, error) {
			to := addr
			if down.Load() {
				to = "127.0.0.1:1"
			}
			return new(net.Dialer).DialContext(ctx, network, to)
		}
		return nil
	}},
}

// breaker fails instead of adding while it is down.
func breaker(t *testing.T, down *atomic.Bool) redistest.Hook {
	return func(cmds []redis.Cmder, send func() error) error {
		if !down.Load() || !isAdd(cmds[0]) {
			return send()
		}
		for _, cmd := range cmds {
			require.Contains(t, cmd.String(), "EVALSHA") // to print a command is not to send it
			cmd.SetErr(errDown)
		}
		return errDown
	}
}

// addWhileDown adds while a cause prevents that anything is sent: no key is added. AddMany goes on until the cause has
// ended.
func addWhileDown(t *testing.T, f *filter, set func(down bool)) {
	_, err := f.AddMany(bg, keysOf(0, 10), nil)
	require.NoError(t, err)
	time.Sleep(5 * time.Millisecond) // the connection is idle for too long, and closed
	set(true)
	ctx, cancel := context.WithTimeout(bg, 200*time.Millisecond)
	defer cancel()
	_, err = f.AddMany(ctx, keysOf(10, 1000), nil)
	require.ErrorContains(t, err, "990 keys not added")
	require.Empty(t, redisfilter.UnsureOf(err))
	back := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { defer close(back); set(false) })
	n, err := f.AddMany(bg, keysOf(10, 1000), nil)
	require.NoError(t, err)
	require.Equal(t, 990, n)
	<-back
}

// TestNeverSent: an add that fails before it is written to a connection is not added, whatever the cause and the
// client.
func TestNeverSent(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			var down atomic.Bool
			o := &redis.Options{Addr: redistest.Start(t).Addr, ConnMaxIdleTime: time.Millisecond, DialerRetries: 1, ReadTimeout: time.Minute}
			set := c.start(t, &down, o)
			client := redistest.Connect(t, o)
			if c.name == "a hook" {
				client.AddHook(breaker(t, &down))
			}
			if set == nil {
				set = down.Store
			}
			for _, shards := range []int{1, 3} { // a single command, and a pipeline
				f := open(t, client, 1000, 1e-9, noCache, redisfilter.WithShards(shards))
				addWhileDown(t, f, set)
				require.NoError(t, f.Delete(bg))
			}
		})
	}
	t.Run("a cluster's hook", func(t *testing.T) {
		var down atomic.Bool
		cluster := redistest.StartCluster(t, 3, false).Client()
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(breaker(t, &down)) })
		addWhileDown(t, open(t, cluster, 1000, 1e-9, noCache, redisfilter.WithShards(3)), down.Store)
	})
}

// TestClientRefuses: what the client itself refuses is asked once, whatever the call.
func TestClientRefuses(t *testing.T) {
	for _, c := range failures {
		if c.name == "a proxy without a living server" || c.name == "a refused port" {
			continue // the network may heal
		}
		t.Run(c.name, func(t *testing.T) {
			var down atomic.Bool
			var asked atomic.Int64
			o := &redis.Options{Addr: redistest.Start(t).Addr, ConnMaxIdleTime: time.Millisecond, DialerRetries: 1, ReadTimeout: time.Minute}
			c.start(t, &down, o)
			client := redistest.Connect(t, o)
			f := open(t, client, 1000, 1e-9, noCache)
			client.AddHook(redistest.Hook(func(cmds []redis.Cmder, send func() error) error {
				switch cmds[0].Name() { // and not those that greet the server
				case "evalsha", "getrange", "bitfield_ro":
					asked.Add(1)
				}
				if c.name != "a hook" {
					return send()
				}
				cmds[0].SetErr(errDown)
				return errDown
			}))
			time.Sleep(5 * time.Millisecond) // the connection is idle for too long, and closed
			down.Store(true)
			for name, call := range map[string]func() error{
				"Open":     func() error { _, err := redisfilter.Open(bg, client, "f", 1000, 1e-9, noCache); return err },
				"Join":     func() error { _, err := redisfilter.Join(bg, client, "f"); return err },
				"Add":      func() error { _, err := f.Add(bg, keyOf(0)); return err },
				"Contains": func() error { _, err := f.Contains(bg, keyOf(0)); return err },
				"Stats":    func() error { _, err := f.Stats(bg); return err },
			} {
				asked.Store(0)
				require.ErrorIs(t, call(), errDown, name)
				require.EqualValues(t, 1, asked.Load(), name)
			}
		})
	}
}

// TestIdle: the server or a proxy closes connections that are idle, which go-redis notices only without TLS. Each add
// that comes then has its answer.
func TestIdle(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, proxy := range []bool{false, true} {
			t.Run(map[bool]string{false: "plain", true: "TLS"}[secure]+map[bool]string{false: ", server", true: ", proxy"}[proxy], func(t *testing.T) {
				t.Parallel()
				s, addr, config := redistest.StartTLS(t)
				if !secure {
					addr, config = s.Addr, nil
				}
				adds, idle := 10, 200*time.Millisecond
				if proxy {
					addr = redistest.StartHAProxy(t, addr, idle).Addr
				} else {
					adds, idle = 3, 2200*time.Millisecond // the server looks once per second
					require.NoError(t, s.Client.ConfigSet(bg, "timeout", "1").Err())
				}
				c := redistest.Connect(t, &redis.Options{Addr: addr, TLSConfig: config, ReadTimeout: time.Minute})
				f := open(t, c, 1000, 1e-9, noCache)
				for i := range adds {
					added, err := f.Add(bg, keyOf(i))
					require.NoError(t, err)
					require.True(t, added)
					time.Sleep(idle + 50*time.Millisecond)
				}
			})
		}
	}
}
