package bloom

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManyHashesAreSingleOnes, in the cache and beyond it.
func TestManyHashesAreSingleOnes(t *testing.T) {
	for _, s := range allStrategies {
		if s.NeedsKey() {
			f := MustNew(10, 0.01, WithStrategy(s))
			require.Panics(t, func() { f.AddDigests(make([][2]uint64, 1), nil) })
			require.Panics(t, func() { f.ContainsDigests(make([][2]uint64, 1), nil) })
			continue
		}
		for _, n := range []uint64{1000, 1_000_000} {
			one, many := MustNew(n, 0.01, WithStrategy(s)), MustNew(n, 0.01, WithStrategy(s))
			digests := make([][2]uint64, 1000)
			want, got, wanted := make([]bool, len(digests)), make([]bool, len(digests)), 0
			for i := range digests {
				digests[i][0], digests[i][1] = digestOf(uint64(i) % 800)
				want[i] = one.AddDigest(digests[i][0], digests[i][1])
				if want[i] {
					wanted++
				}
			}
			require.Equal(t, wanted, many.AddDigests(digests, got))
			require.Equal(t, want, got)
			require.True(t, one.Equal(many))
			require.Equal(t, 1000, many.ContainsDigests(digests, nil))
			for i := range digests {
				digests[i][0], digests[i][1] = digestOf(uint64(i))
				want[i] = one.ContainsDigest(digests[i][0], digests[i][1])
			}
			many.ContainsDigests(digests, got)
			require.Equal(t, want, got)
			require.Zero(t, testing.AllocsPerRun(10, func() { many.AddDigests(digests, got) }))
			require.Panics(t, func() { many.AddDigests(digests, make([]bool, 1)) })
		}
	}
}
