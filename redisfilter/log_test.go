package redisfilter

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLogger(t *testing.T) {
	s := startServer(t)
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, nil))
	f := open(t, s.Client, "f", 1000, 0.01, WithLogger(log))
	require.NoError(t, f.Push(bg, newLocalFilter(t, 1000, 0.01)))
	s.Client.FlushAll(bg)
	for range 3 {
		_, err := f.Add(bg, keyOf(0))
		require.ErrorIs(t, err, ErrLost)
	}
	require.NoError(t, f.Reopen(bg))
	require.NoError(t, f.Delete(bg))
	text := b.String()
	for _, what := range []string{"opened", "made=true", "pushed", "level=WARN msg=lost", "reopening", "deleted"} {
		require.Contains(t, text, what)
	}
	require.Equal(t, 1, bytes.Count(b.Bytes(), []byte("msg=lost")), "each loss once")
	_, err := open(t, s.Client, "g", 1000, 0.01, WithLogger(nil)).Add(bg, keyOf(0))
	require.NoError(t, err)
}
