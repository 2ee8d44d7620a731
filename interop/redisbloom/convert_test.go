package redisbloom

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestPlainAndBack: a layer of the server becomes a plain filter that gives its answers, and
// that becomes the server's filter again. Only the number of keys is an estimate then.
func TestPlainAndBack(t *testing.T) {
	tried := 0
	for _, r := range recordings(t) {
		f := r.filter(t)
		plain, err := f.BloomFilter()
		if len(f.Layers()) > 1 {
			require.ErrorIs(t, err, bloom.ErrIncompatible)
			continue
		}
		tried++
		require.NoError(t, err)
		require.Equal(t, f.Layers()[0], plain.Params())
		for i := range r.Asked {
			key := fmt.Sprintf("absent-%d", i)
			require.Equal(t, f.Contains([]byte(key)), plain.ContainsString(key))
		}
		back, err := FromBloomFilter(plain, f.Plan().Expansion)
		require.NoError(t, err)
		require.Equal(t, f.Plan(), back.Plan())
		require.InDelta(t, f.Stats().EstimatedCount, back.Stats().EstimatedCount, 0.05*float64(f.Stats().N))
		keys := f.Stats().EstimatedCount
		exact := layered.Layers(nil).Append(back.all()[0].BloomFilter, 0, keys, f.Stats().N-keys)
		back.layers.Store(&exact)
		require.Equal(t, collect(f), collect(back), r.Name)
		_, err = plain.MarshalBinary()
		require.NoError(t, err)
		plain.AddString("more")
		require.Equal(t, collect(f), collect(back), "the filter is a copy")
	}
	require.Equal(t, 3, tried)
}

// TestStrategySizes: bloom.New makes the server's layer.
func TestStrategySizes(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
	}{{1, 0.5}, {10, 0.01}, {200, 0.005}, {12345, 1e-6}, {1_000_000, 0.001}} {
		layer := newFilter(t, Plan{N: c.n, P: c.p})
		f, err := bloom.New(c.n, c.p, bloom.WithStrategy(Strategy), bloom.WithHash(Hash))
		require.NoError(t, err)
		require.Equal(t, layer.Layers()[0], f.Params())
		f.Add([]byte("key"))
		same, err := FromBloomFilter(f, 0)
		require.NoError(t, err)
		_, err = layer.Add([]byte("key"))
		require.NoError(t, err)
		require.Equal(t, collect(layer), collect(same))
	}
}

func TestPlainOnesOfOthers(t *testing.T) {
	own := []bloom.Option{bloom.WithStrategy(Strategy), bloom.WithHash(Hash)}
	for name, f := range map[string]*bloom.BloomFilter{
		"another strategy": bloom.MustNew(100, 0.01),
		"another hash":     bloom.MustNew(100, 0.01, own[0]),
	} {
		_, err := FromBloomFilter(f, 2)
		require.ErrorIs(t, err, bloom.ErrNotPortable, name)
	}
	f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{N: 100, P: 0.01, M: 64, K: 3}, own...))
	require.NoError(t, err)
	_, err = FromBloomFilter(f, 2)
	require.ErrorIs(t, err, bloom.ErrNotPortable, "other m and k")
	f, err = testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: 64, K: 3}, own...))
	require.NoError(t, err)
	_, err = FromBloomFilter(f, 2)
	require.ErrorIs(t, err, bloom.ErrInvalid, "n is not known")
}
