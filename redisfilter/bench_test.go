package redisfilter_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// BenchmarkBatches adds new keys to filters, and looks up absent ones, against pipelined SETBIT and GETBIT, the common
// way to keep a filter in Redis. The cache, which would answer for the server, is off.
func BenchmarkBatches(b *testing.B) {
	const n, p = 2_000_000, 1e-4
	client := redistest.Start(b).Client
	next := uint64(0)
	for _, f := range []struct {
		name string
		opts []option
	}{{"plain", nil}, {"growing", []option{growth}}, {"window", []option{redisfilter.WithGenerations(15*time.Minute, 4)}}, {"setbit", nil}} {
		scheme, err1 := bloom.NewScheme(n, p)
		shared, err2 := redisfilter.Open(bg, client, f.name, n, p, append(f.opts, noCache)...)
		err := errors.Join(err1, err2)
		if err != nil {
			b.Fatal(err)
		}
		var s interface {
			AddMany(ctx context.Context, keys [][]byte, added []bool) (int, error)
			ContainsMany(ctx context.Context, keys [][]byte, found []bool) (int, error)
		} = shared
		if f.name == "setbit" {
			s = setbit{client, scheme}
		}
		for _, op := range []string{"add", "contains"} {
			do := s.AddMany
			if op == "contains" {
				do = s.ContainsMany
			}
			for _, size := range []int{1, 100, 1000} {
				b.Run(fmt.Sprintf("op=%s/batch=%d/filter=%s", op, size, f.name), func(b *testing.B) {
					keys, before := make([][]byte, size), cpu(b, client)
					for b.Loop() {
						for i := range keys {
							keys[i] = strconv.AppendUint([]byte("https://example.com/articles/"), next, 10)
							next++
						}
						if _, err := do(bg, keys, nil); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/key")
					b.ReportMetric((cpu(b, client)-before)/float64(b.N*size), "server-ns/key")
				})
			}
		}
	}
}

// cpu returns the nanoseconds of a processor that the server has used.
func cpu(t testing.TB, client *redis.Client) (ns float64) {
	info, err := client.Info(bg, "cpu").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		var seconds float64
		if name, value, _ := strings.Cut(line, ":"); name == "used_cpu_sys" || name == "used_cpu_user" {
			fmt.Sscan(value, &seconds)
			ns += seconds * 1e9
		}
	}
	return ns
}

// A setbit is a bitmap with a SETBIT or GETBIT per bit, in one pipeline. Two processes that add one
// key can both be told that it is new.
type setbit struct {
	client *redis.Client
	scheme *bloom.Scheme
}

// bits sends a command per bit and returns how many keys have a bit that was 0.
func (s setbit) bits(keys [][]byte, command func(pipe redis.Pipeliner, pos int64) *redis.IntCmd) (absent int, err error) {
	pipe := s.client.Pipeline()
	replies := make([][]*redis.IntCmd, len(keys))
	for i, key := range keys {
		for _, pos := range s.scheme.AppendPositions(nil, key) {
			replies[i] = append(replies[i], command(pipe, int64(pos)))
		}
	}
	_, err = pipe.Exec(bg)
	for _, bits := range replies {
		if slices.ContainsFunc(bits, func(bit *redis.IntCmd) bool { return bit.Val() == 0 }) {
			absent++
		}
	}
	return absent, err
}

func (s setbit) AddMany(_ context.Context, keys [][]byte, _ []bool) (int, error) {
	return s.bits(keys, func(pipe redis.Pipeliner, pos int64) *redis.IntCmd { return pipe.SetBit(bg, "bits", pos, 1) })
}

func (s setbit) ContainsMany(_ context.Context, keys [][]byte, _ []bool) (int, error) {
	absent, err := s.bits(keys, func(pipe redis.Pipeliner, pos int64) *redis.IntCmd { return pipe.GetBit(bg, "bits", pos) })
	return len(keys) - absent, err
}
