package bf

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/redisbloom"
	"github.com/seed3447c163/bloom/redisfilter"
	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestRealModule is TestModule with the module itself, if redisbloom.so lies next to redis-server.
func TestRealModule(t *testing.T) {
	path := filepath.Join(filepath.Dir(redistest.Program(t, "redis-server")), "redisbloom.so")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("NOT TESTED without %s: see servers in .ci/long", path)
	}
	testModule(t, startServer(t, "--loadmodule", path).Addr)
}

// testModule compares filters of the module at addr with local ones: the answers to batches and to single keys, with
// several plans. A filter that is gone is not made anew, and a key of another type is no filter.
func testModule(t *testing.T, addr string) {
	for _, protocol := range []int{2, 3} {
		client := protocolClient(t, addr, protocol)
		for _, p := range []redisbloom.Plan{plan(200, 0.01, 2), plan(50, 0.001, 2), plan(50, 0.01, 1), plan(1000, 1e-9, 0), plan(1, 0.5, 4)} {
			t.Run(fmt.Sprintf("RESP%d/%+v", protocol, p), func(t *testing.T) {
				require.NoError(t, client.FlushAll(bg).Err())
				f, err := Open(bg, client, "f", p)
				require.NoError(t, err)
				_, err = Open(bg, client, "f", p)
				require.NoError(t, err, "the second joins")
				_, err = Open(bg, client, "f", plan(p.N+1, p.P, p.Expansion))
				require.ErrorIs(t, err, redisfilter.ErrMismatch)
				same, err := Pull(bg, client, "f")
				require.NoError(t, err)
				if same.Plan() != p { // from Redis 8 on
					p.P = min(p.P, highestRate)
				}
				added, err := each(bg, f.AddMany, append(keysOf(0, 600), keyOf(7)))
				require.NoError(t, err)
				for i, key := range append(keysOf(0, 600), keyOf(7)) {
					want, err := same.Add(key)
					require.NoError(t, err)
					require.Equal(t, want, added[i])
				}
				local, err := Pull(bg, client, "f")
				require.NoError(t, err)
				require.Equal(t, p, local.Plan())
				require.NoError(t, Push(bg, client, "copy", local))
				require.ErrorIs(t, Push(bg, client, "copy", local), redisfilter.ErrMismatch)
				c, err := Open(bg, client, "copy", p)
				require.NoError(t, err)
				for _, f := range []*Filter{f, c} {
					found, err := each(bg, f.ContainsMany, keysOf(0, 3000))
					require.NoError(t, err)
					for i, found := range found {
						require.Equal(t, same.Contains(keyOf(i)), found)
						require.Equal(t, found, local.Contains(keyOf(i)))
					}
				}
				key := keyOf(5000)
				want, err := local.Add(key)
				require.NoError(t, err)
				isNew, err := c.Add(bg, key)
				require.NoError(t, err)
				require.Equal(t, want, isNew)
				found, err := c.Contains(bg, key)
				require.NoError(t, err)
				require.True(t, found)
				if p.Expansion == 0 {
					added, err := each(bg, f.AddMany, keysOf(600, 1300))
					require.ErrorIs(t, err, bloom.ErrFull)
					require.Equal(t, 400, count(added))
				}
				require.NoError(t, client.Del(bg, "f").Err())
				_, err = f.Add(bg, keyOf(0))
				require.ErrorIs(t, err, redisfilter.ErrLost)
				_, err = f.Contains(bg, keyOf(0))
				require.ErrorIs(t, err, redisfilter.ErrLost)
				_, err = Pull(bg, client, "f")
				require.ErrorIs(t, err, redisfilter.ErrLost)
				require.NoError(t, client.Set(bg, "f", "text", 0).Err())
				_, err = f.Add(bg, keyOf(0))
				require.ErrorIs(t, err, redisfilter.ErrMismatch)
				require.ErrorContains(t, err, "no filter of the module")
				_, err = f.Contains(bg, keyOf(0))
				require.ErrorIs(t, err, redisfilter.ErrMismatch)
				_, err = Open(bg, client, "f", p)
				require.ErrorIs(t, err, redisfilter.ErrMismatch)
			})
		}
	}
}
