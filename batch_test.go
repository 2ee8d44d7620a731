package bloom

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchesEqualOneByOne: for all lengths around the group size, in filters on both sides of
// the size from which a batch prefetches, with keys that repeat within a batch. Hashes, strategies
// and k have code of their own.
func TestBatchesEqualOneByOne(t *testing.T) {
	sequential(t)
	t.Parallel()
	const small = 1 << 14
	for _, s := range allStrategies {
		for _, c := range []struct {
			m    uint64
			k    int
			hash *Hash
		}{
			{small, 1, Murmur3}, {small, 2, MapHash}, {small, 4, RapidHash}, {small, 6, RapidHash}, {small, 8, Murmur3}, {small, 8, RapidHash},
			{small, 8, MapHash}, {small, 8, customHash}, {small, 10, MapHash}, {small, 12, Murmur3}, {small, 16, RapidHash},
			{prefetchWords * 64, 8, RapidHash}, {(scatteredWords + 8) * 64, 8, Murmur3}, {(scatteredWords + 8) * 64, 6, RapidHash}, {(scatteredWords + 8) * 64, maxK, Murmur3},
		} {
			opts := []Option{WithStrategy(s), WithHash(c.hash)}
			if s.NeedsKey() {
				opts = opts[:1]
			}
			if !canHave(s, c.m, c.k) {
				continue
			}
			scheme := must(NewSchemeWithParams(Params{M: c.m, K: c.k}, opts...))
			one, many, digests := must(scheme.Filter()), must(scheme.Filter()), must(scheme.Filter())
			next := uint64(0)
			for _, length := range []int{0, 1, 2, batchSize - 1, batchSize, batchSize + 1, 2 * batchSize, 3*batchSize + 5} {
				keys, hashed := make([][]byte, length), make([][2]uint64, length)
				for i := range keys {
					next++
					number := mix(next) % (next/2 + 1)                        // some new, some old, some twice
					keys[i] = fmt.Appendf(nil, "key %0*d", number%60, number) // up to 63 bytes
					if !s.NeedsKey() {
						hashed[i][0], hashed[i][1] = one.scheme.Digest(keys[i])
					}
				}
				// Old answers are overwritten, also with false.
				batch := func(what string, one func(key []byte) bool, ways ...func(answers []bool) int) {
					want, count := make([]bool, length), 0
					for i, key := range keys {
						if want[i] = one(key); want[i] {
							count++
						}
					}
					for way, do := range ways {
						got := make([]bool, length)
						for i := range got {
							got[i] = true
						}
						require.Equal(t, count, do(got), "%s, %s, way %d, %d keys", s, what, way, length)
						require.Equal(t, want, got, "%s, %s, way %d, %d keys", s, what, way, length)
					}
				}
				contains := []func(answers []bool) int{
					func(answers []bool) int { return many.ContainsMany(keys, answers) },
					func(answers []bool) int { return digests.ContainsDigests(hashed, answers) },
				}
				add := []func(answers []bool) int{
					func(answers []bool) int { return many.AddMany(keys, answers) },
					func(answers []bool) int { return digests.AddDigests(hashed, answers) },
				}
				if s.NeedsKey() {
					require.Panics(t, func() { add[1](nil) })
					require.Panics(t, func() { contains[1](nil) })
					add, contains = add[:1], contains[:1]
				}
				batch("lookup", one.Contains, contains...)
				batch("add", one.Add, add...)
				for i := range add {
					require.Equal(t, length, contains[i](nil))
					require.Zero(t, add[i](nil))
				}
			}
			require.True(t, one.Equal(many))
			require.True(t, s.NeedsKey() || one.Equal(digests))
		}
	}
}

func TestBatchOfWrongLengthPanics(t *testing.T) {
	f := MustNew(10, 0.1)
	const text = "bloom: 1 answers for 2 keys, want as many, or nil"
	require.PanicsWithValue(t, text, func() { f.AddMany(make([][]byte, 2), make([]bool, 1)) })
	require.PanicsWithValue(t, text, func() { f.ContainsMany(make([][]byte, 2), make([]bool, 1)) })
	require.Zero(t, f.Stats().Ones, "nothing was added")
}
