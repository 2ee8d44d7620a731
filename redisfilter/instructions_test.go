package redisfilter_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

var instructions = flag.Bool("instructions", false, "let TestInstructions count the server's instructions by valgrind")

// TestInstructions logs the instructions that the server executes per key, which depend less on the machine than time
// does. Each number is the difference between many and few commands. TestInstructions checks nothing, so no script runs
// it: run it by hand after a change to the server's scripts, and put the ratios into docs/many-machines.md.
func TestInstructions(t *testing.T) {
	if !*instructions {
		t.Skip("NOT TESTED without -instructions: instructions per key, which take minutes to count")
	}
	next := 0
	from := func(keys int) int { next += keys; return next - keys }
	type operation struct {
		name      string
		keys, few int // per call, and calls
		call      func(f *filter, c *redis.Client) error
	}
	for _, k := range []kind{{"plain", 1_000_000, 1e-4, nil}, {"window", 1_000_000, 1e-4, []option{window}}} {
		for _, op := range []operation{
			{"add 500", 500, 10, func(f *filter, _ *redis.Client) error {
				_, err := f.AddMany(bg, keysOf(from(500), next), nil)
				return err
			}},
			{"look up 500", 500, 10, func(f *filter, _ *redis.Client) error {
				_, err := f.ContainsMany(bg, keysOf(from(500), next), nil)
				return err
			}},
			{"add 1", 1, 200, func(f *filter, _ *redis.Client) error { _, err := f.Add(bg, keyOf(from(1))); return err }},
			{"look up 1", 1, 200, func(f *filter, _ *redis.Client) error { _, err := f.Contains(bg, keyOf(from(1))); return err }},
			{"open and add 1", 1, 20, func(_ *filter, c *redis.Client) error {
				_, err := k.open(t, c, noCache).Add(bg, keyOf(from(1)))
				return err
			}},
		} {
			count := func(calls int) float64 {
				s := &redistest.Server{Port: redistest.FreePort(t), Dir: t.TempDir()}
				s.Addr = fmt.Sprintf("127.0.0.1:%d", s.Port)
				out := filepath.Join(s.Dir, "callgrind")
				s.Run(t, redistest.Program(t, "valgrind"), "--tool=callgrind", "--callgrind-out-file="+out, "redis-server", "--port", fmt.Sprint(s.Port),
					"--bind", "127.0.0.1", "--dir", s.Dir, "--save", "", "--hz", "1", "--logfile", "log")
				c := redis.NewClient(&redis.Options{Addr: s.Addr, ReadTimeout: time.Minute, PoolSize: 1, DisableIdentity: true})
				defer c.Close()
				f := k.open(t, c, noCache)
				_, err := f.Add(bg, []byte("first"))
				require.NoError(t, err)
				for range calls {
					require.NoError(t, op.call(f, c))
				}
				c.ShutdownNoSave(bg) // has no reply
				var total float64
				redistest.Eventually(t, "valgrind ends", func() error {
					b, err := os.ReadFile(out)
					_, after, _ := strings.Cut(string(b), "\ntotals: ")
					if err == nil {
						_, err = fmt.Sscan(after, &total)
					}
					return err
				})
				return total
			}
			t.Logf("%s, %s: %.0f per key", k.name, op.name, (count(6*op.few)-count(op.few))/float64(5*op.few*op.keys))
		}
	}
}
