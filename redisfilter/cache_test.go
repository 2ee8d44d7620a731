package redisfilter

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter/internal/redistest"
)

// TestTrust: a server forgets a key of the cache while other keys come all the time. Within a second, the next call for
// a key of the cache goes to the server and returns ErrLost, whatever the call. Then the cache is empty.
func TestTrust(t *testing.T) {
	ctx, s := context.Background(), redistest.Start(t)
	now := time.Hour
	defer func(before func() time.Duration) { elapsed = before }(elapsed)
	elapsed = func() time.Duration { return now }
	key := []byte("key")
	for name, call := range map[string]func(*Filter) (bool, error){
		"Add":      func(f *Filter) (bool, error) { return f.Add(ctx, key) },
		"Contains": func(f *Filter) (bool, error) { return f.Contains(ctx, key) },
		"AddMany": func(f *Filter) (bool, error) {
			n, err := f.AddMany(ctx, [][]byte{key}, nil)
			return n > 0, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, s.Client.FlushAll(ctx).Err())
			f, err := Open(ctx, s.Client, "f", 1000, 1e-9)
			require.NoError(t, err)
			older := s.Client.Dump(ctx, "f").Val()
			for _, k := range [][]byte{key, []byte("other")} {
				added, err := f.Add(ctx, k)
				require.NoError(t, err)
				require.True(t, added)
			}
			now += trusted
			there, err := call(f) // confirms the key
			require.NoError(t, err)
			require.Equal(t, name == "Contains", there)
			require.NoError(t, s.Client.RestoreReplace(ctx, "f", 0, older).Err())
			for i := range 10 {
				now += trusted / 11
				_, err := f.Add(ctx, redistest.KeyOf(i)) // says nothing of the cache's keys
				require.NoError(t, err)
				there, err := call(f)
				require.NoError(t, err)
				require.Equal(t, name == "Contains", there)
			}
			now += trusted / 5
			answer, err := call(f)
			require.ErrorIs(t, err, ErrLost)
			require.Equal(t, name != "Contains", answer) // the server does not have the key
			found, err := f.Contains(ctx, []byte("other"))
			require.NoError(t, err)
			require.False(t, found)
			require.EqualValues(t, 1, f.Metrics()["redis_lost"])
		})
	}
}
