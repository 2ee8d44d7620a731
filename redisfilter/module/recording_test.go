package module

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/redisfilter"
)

// A recording is what a real RedisBloom 2.8.20 did and answered; see testdata/README.md.
type recording struct {
	Name    string `json:"name"`
	Reserve []any  `json:"reserve"`
	N       int    `json:"n"`
	Info    string `json:"info"`
	True    []int  `json:"absent_answered_true"`
	Chunks  []struct {
		Iter int64  `json:"iter"`
		Hex  string `json:"hex"`
	} `json:"chunks"`
}

// has is what the real module answered; what was not recorded was not asked.
func (r *recording) has(item string) bool {
	var i int
	if _, err := fmt.Sscanf(item, "key-%d", &i); err == nil && i < r.N {
		return true
	}
	if _, err := fmt.Sscanf(item, "absent-%d", &i); err != nil || i >= 5000 {
		panic("not recorded: " + item)
	}
	return slices.Contains(r.True, i)
}

// plan returns the arguments of BF.RESERVE.
func (r *recording) plan(t testing.TB) (n uint64, p float64, expansion uint32) {
	p, err := strconv.ParseFloat(r.Reserve[0].(string), 64)
	require.NoError(t, err)
	expansion = 2
	if len(r.Reserve) == 4 {
		expansion = uint32(r.Reserve[3].(float64))
	}
	return uint64(r.Reserve[1].(float64)), p, expansion
}

// play has the fake server answer as the real one did, and returns the recordings.
func play(t testing.TB, fake *fakeModule) (all []*recording) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		r := new(recording)
		require.NoError(t, json.Unmarshal(raw, r))
		played := &fakeFilter{recorded: r}
		for _, c := range r.Chunks {
			data, err := hex.DecodeString(c.Hex)
			require.NoError(t, err)
			played.chunks = append(played.chunks, chunk{Iterator: c.Iter, Data: data})
		}
		fake.filters[r.Name] = played
		all = append(all, r)
	}
	return all
}

// theirKeys are the keys from the recordings.
func theirKeys(kind string, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "%s-%d", kind, i)
	}
	return keys
}

// TestRecorded joins and asks filters of a real RedisBloom 2.8.20, by its recorded answers.
func TestRecorded(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		fake, addr := startFakeModule(t)
		client := protocolClient(t, addr, protocol)
		for _, r := range play(t, fake) {
			n, p, expansion := r.plan(t)
			f, err := Open(bg, client, r.Name, plan(n, p, expansion))
			require.NoError(t, err, r.Name)
			_, err = Open(bg, client, r.Name, plan(n, p, expansion+1))
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
			_, err = Open(bg, client, r.Name, plan(n, p*2, expansion))
			require.ErrorIs(t, err, redisfilter.ErrMismatch)
			_, err = Open(bg, client, r.Name, plan(n+1, p, expansion))
			require.ErrorIs(t, err, redisfilter.ErrMismatch, "also if it has grown")
			_, err = Open(bg, client, r.Name, plan(n, p, 0))
			require.ErrorIs(t, err, redisfilter.ErrMismatch)

			found, err := f.ContainsMany(bg, theirKeys("key", r.N), nil)
			require.NoError(t, err)
			require.Equal(t, r.N, found)
			absent, err := f.ContainsMany(bg, theirKeys("absent", 5000), nil)
			require.NoError(t, err)
			require.Equal(t, len(r.True), absent)
		}
	}
}
