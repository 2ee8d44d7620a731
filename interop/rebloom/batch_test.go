package rebloom

import (
	"fmt"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestBatches: as one key after the other, also where layers are added and where one is full.
func TestBatches(t *testing.T) {
	for _, opts := range [][]Option{nil, {WithoutScaling()}, {WithBloom(bloom.WithMaxBytes(2000))}} {
		single, err := New(100, 0.01, opts...)
		require.NoError(t, err)
		many, err := New(100, 0.01, opts...)
		require.NoError(t, err)
		var keys [][]byte
		for i := range 1500 {
			keys = append(keys, fmt.Appendf(nil, "key-%d", i%1300))
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

		for i := range 500 {
			keys = append(keys, fmt.Appendf(nil, "absent-%d", i))
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
		require.Panics(t, func() { many.ContainsMany(keys, found[1:]) })
		require.Panics(t, func() { _, _ = many.AddMany(keys, found[1:]) })
	}
}
