package rebloom

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

// TestBatches: as one key after the other, also where layers are added and where one is full.
func TestBatches(t *testing.T) {
	for _, opts := range [][]Option{nil, {WithoutScaling()}, {WithBloom(bloom.WithMaxBytes(2000))}} {
		single, err := New(100, 0.01, opts...)
		require.NoError(t, err)
		many, err := New(100, 0.01, opts...)
		require.NoError(t, err)
		strings, err := New(100, 0.01, opts...)
		require.NoError(t, err)
		var keys [][]byte
		var texts []string
		for i := range 1500 {
			keys, texts = append(keys, fmt.Appendf(nil, "key-%d", i%1300)), append(texts, fmt.Sprintf("key-%d", i%1300))
		}
		want, count := make([]bool, len(keys)), 0
		var stopped error
		for i, key := range keys {
			if want[i], stopped = single.Add(key); stopped != nil {
				break
			}
			if want[i] {
				count++
			}
		}
		added := make([]bool, len(keys))
		added[len(added)-1] = true
		got, err := many.AddMany(keys, added)
		require.Equal(t, count, got)
		require.Equal(t, want, added)
		require.Equal(t, fmt.Sprint(stopped), fmt.Sprint(err))
		require.Equal(t, collect(single), collect(many))
		got, err = strings.AddStrings(texts, nil)
		require.Equal(t, count, got)
		require.Equal(t, fmt.Sprint(stopped), fmt.Sprint(err))
		require.Equal(t, collect(single), collect(strings))

		for i := range 500 {
			keys, texts = append(keys, fmt.Appendf(nil, "absent-%d", i)), append(texts, fmt.Sprintf("absent-%d", i))
		}
		asked, yes := make([]bool, len(keys)), 0
		for i, key := range keys {
			if asked[i] = single.Contains(key); asked[i] {
				yes++
			}
		}
		found := make([]bool, len(keys))
		require.Equal(t, yes, many.ContainsMany(keys, found))
		require.Equal(t, asked, found)
		require.Equal(t, yes, many.ContainsMany(keys, nil))
		clear(found)
		require.Equal(t, yes, many.ContainsStrings(texts, found))
		require.Equal(t, asked, found)
		require.Panics(t, func() { many.ContainsMany(keys, found[1:]) })
		require.Panics(t, func() { _, _ = many.AddMany(keys, found[1:]) })
	}
}

func TestStats(t *testing.T) {
	f, err := New(1000, 0.01)
	require.NoError(t, err)
	require.Equal(t, "rebloom.Filter(n=1000 p=0.01 expansion=2 layers=1 bytes=1384 keys=0)", f.String())
	for i := range 5000 {
		_, err := f.AddString(fmt.Sprint(i))
		require.NoError(t, err)
	}
	s, layers := f.Stats(), f.Layers()
	require.Len(t, layers, 3)
	require.EqualValues(t, 1000+2000+4000, s.N)
	require.Equal(t, 0.01, s.P)
	require.Equal(t, layers[0].M+layers[1].M+layers[2].M, s.M)
	require.Equal(t, f.SizeBytes(), s.SizeBytes)
	require.Equal(t, layers[2].K, s.K)
	require.Equal(t, "redisbloom", s.Strategy)
	right, ones := 1.0, uint64(0)
	for _, l := range f.all() {
		of := l.Stats()
		right, ones = right*(1-of.EstimatedFalsePositiveRate), ones+of.Ones
	}
	require.Equal(t, ones, s.Ones)
	require.InDelta(t, 1-right, s.EstimatedFalsePositiveRate, 1e-15)
	wrong, asked := 0, effort.Times(20_000, 200_000, 200_000)
	for i := range asked {
		if f.ContainsString(fmt.Sprint("other", i)) {
			wrong++
		}
	}
	mean := s.EstimatedFalsePositiveRate * float64(asked)
	require.InDelta(t, mean, wrong, 4*math.Sqrt(mean))
}
