// Package redis measures filters in Redis against pipelined SETBIT and GETBIT, the common way to
// keep one. It starts a redis-server.
//
//	go test -run '^$' -bench . -count 10 ./redis | benchstat -col /filter -
package redis

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
)

var bg = context.Background()

// A set adds and looks up batches.
type set interface {
	Add(ctx context.Context, key []byte) (bool, error)
	Contains(ctx context.Context, key []byte) (bool, error)
	AddMany(ctx context.Context, keys [][]byte, added []bool) (int, error)
	ContainsMany(ctx context.Context, keys [][]byte, found []bool) (int, error)
}

const n, p = 2_000_000, 0.01

// start starts a server and returns a client of it.
func start(b *testing.B) *redis.Client {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		b.Skip("NOT MEASURED: ", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", b.TempDir())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: fmt.Sprint("127.0.0.1:", port)})
	b.Cleanup(func() {
		client.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 500 {
		if client.Ping(bg).Err() == nil {
			return client
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("redis-server does not answer")
	return nil
}

// BenchmarkRedis adds new keys, and looks up absent ones. The front, which would answer for the server, is
// off. An operation is one key; server-µs/key is what INFO commandstats says of the server's time.
func BenchmarkRedis(b *testing.B) {
	client := start(b)
	next := 0
	for _, f := range []struct {
		name string
		opts []redisfilter.Option
	}{
		{"plain", nil},
		{"double-hashing", []redisfilter.Option{redisfilter.WithBloom(bloom.WithStrategy(bloom.DoubleHashing))}},
		{"growing", []redisfilter.Option{redisfilter.WithGrowth()}},
		{"window", []redisfilter.Option{redisfilter.WithWindow(time.Hour, 4)}},
		{"setbit", nil},
	} {
		var s set
		var err error
		if f.name == "setbit" {
			s, err = newSetbit(client)
		} else {
			s, err = redisfilter.Open(bg, client, f.name, n, p, append(f.opts, redisfilter.WithFront(0))...)
		}
		if err != nil {
			b.Fatal(err)
		}
		for _, op := range []string{"add", "contains"} {
			for _, size := range []int{1, 100, 1000} {
				b.Run(fmt.Sprintf("op=%s/batch=%d/filter=%s", op, size, f.name), func(b *testing.B) {
					before := serverTime(b, client)
					done := 0
					for b.Loop() {
						if done%size == 0 {
							b.StopTimer()
							keys := keysOf(next, size)
							next += size
							b.StartTimer()
							if err := do(s, op, keys); err != nil {
								b.Fatal(err)
							}
						}
						done++
					}
					b.ReportMetric((serverTime(b, client)-before)/float64(done), "server-µs/key")
				})
			}
		}
	}
}

func do(s set, op string, keys [][]byte) (err error) {
	switch {
	case op == "add" && len(keys) == 1:
		_, err = s.Add(bg, keys[0])
	case op == "add":
		_, err = s.AddMany(bg, keys, nil)
	case len(keys) == 1:
		_, err = s.Contains(bg, keys[0])
	default:
		_, err = s.ContainsMany(bg, keys, nil)
	}
	return err
}

func keysOf(from, count int) [][]byte {
	keys := make([][]byte, count)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "https://example.com/articles/%d", from+i)
	}
	return keys
}

// serverTime returns the microseconds that the server has spent in the commands of clients.
func serverTime(b *testing.B, client *redis.Client) (sum float64) {
	stats, err := client.Info(bg, "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(stats) {
		name, rest, _ := strings.Cut(line, ":")
		switch name {
		case "cmdstat_evalsha", "cmdstat_bitfield_ro", "cmdstat_setbit", "cmdstat_getbit":
			var calls, us float64
			if _, err := fmt.Sscanf(rest, "calls=%f,usec=%f", &calls, &us); err != nil {
				b.Fatal(err)
			}
			sum += us
		}
	}
	return sum
}

// A setbit is a bitmap with a SETBIT or GETBIT per bit, in one pipeline. Two processes that add one key can
// both be told that it is new.
type setbit struct {
	client *redis.Client
	scheme bloom.Scheme
}

func newSetbit(client *redis.Client) (set, error) {
	s, err := bloom.NewScheme(n, p)
	return setbit{client, s}, err
}

func (s setbit) bits(keys [][]byte, command func(pipe redis.Pipeliner, pos int64)) (absent int, err error) {
	pipe := s.client.Pipeline()
	var positions []uint64
	for _, key := range keys {
		positions = s.scheme.AppendPositions(positions[:0], key)
		for _, pos := range positions {
			command(pipe, int64(pos))
		}
	}
	replies, err := pipe.Exec(bg)
	k := s.scheme.Params().K
	for i := 0; i+k <= len(replies); i += k {
		for _, r := range replies[i : i+k] {
			if r.(*redis.IntCmd).Val() == 0 {
				absent++
				break
			}
		}
	}
	return absent, err
}

func (s setbit) AddMany(_ context.Context, keys [][]byte, _ []bool) (int, error) {
	return s.bits(keys, func(pipe redis.Pipeliner, pos int64) { pipe.SetBit(bg, "setbit", pos, 1) })
}

func (s setbit) ContainsMany(_ context.Context, keys [][]byte, _ []bool) (int, error) {
	absent, err := s.bits(keys, func(pipe redis.Pipeliner, pos int64) { pipe.GetBit(bg, "setbit", pos) })
	return len(keys) - absent, err
}

func (s setbit) Add(ctx context.Context, key []byte) (bool, error) {
	n, err := s.AddMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}

func (s setbit) Contains(ctx context.Context, key []byte) (bool, error) {
	n, err := s.ContainsMany(ctx, [][]byte{key}, nil)
	return n == 1, err
}
