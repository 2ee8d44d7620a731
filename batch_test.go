package bloom

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchesEqualOneByOne: for all lengths around the group size, in filters on both sides of
// the size from which a batch prefetches, with keys that repeat within a batch.
func TestBatchesEqualOneByOne(t *testing.T) {
	t.Parallel()
	for _, s := range allStrategies {
		for _, m := range []uint64{1 << 14, prefetchWords * 64, (scatteredWords + 8) * 64} {
			scheme := must(NewSchemeWithParams(Params{M: m, K: 8}, WithStrategy(s)))
			one, many, strs, digests := must(scheme.Filter()), must(scheme.Filter()), must(scheme.Filter()), must(scheme.Filter())
			next := uint64(0)
			for _, length := range []int{0, 1, 2, batchSize - 1, batchSize, batchSize + 1, 2 * batchSize, 3*batchSize + 5} {
				keys, names, hashed := make([][]byte, length), make([]string, length), make([][2]uint64, length)
				for i := range keys {
					next++
					keys[i] = fmt.Appendf(nil, "key %d", mix(next)%(next/2+1)) // some new, some old, some twice
					names[i] = string(keys[i])
					if !s.NeedsKey() {
						hashed[i][0], hashed[i][1] = one.Digest(keys[i])
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
					func(answers []bool) int { return strs.ContainsStrings(names, answers) },
					func(answers []bool) int { return digests.ContainsDigests(hashed, answers) },
				}
				add := []func(answers []bool) int{
					func(answers []bool) int { return many.AddMany(keys, answers) },
					func(answers []bool) int { return strs.AddStrings(names, answers) },
					func(answers []bool) int { return digests.AddDigests(hashed, answers) },
				}
				if s.NeedsKey() {
					require.Panics(t, func() { add[2](nil) })
					require.Panics(t, func() { contains[2](nil) })
					add, contains = add[:2], contains[:2]
				}
				batch("lookup", one.Contains, contains...)
				batch("add", one.Add, add...)
				for i := range add {
					require.Equal(t, length, contains[i](nil))
					require.Zero(t, add[i](nil))
				}
			}
			require.True(t, one.Equal(many))
			require.True(t, one.Equal(strs))
			require.True(t, s.NeedsKey() || one.Equal(digests))
		}
	}
}

// TestKeysAndTheirDigests: Add, Contains and batches of keys have code of their own for some
// hashes, strategies and k. They do what AddDigest and ContainsDigest do with the digests.
func TestKeysAndTheirDigests(t *testing.T) {
	t.Parallel()
	for _, hash := range []Hash{RapidHash, MapHash, Murmur3} {
		for _, s := range []Strategy{DoubleHashing, Blocked1, Blocked2, Blocked4, Blocked8, SplitBlock} {
			for _, k := range []int{1, 2, 4, 6, 8, 10, 12, 16} {
				params := Params{M: 1 << 11, K: k} // soon half full, so that one probe less shows
				digests, err := NewWithParams(params, WithStrategy(s), WithHash(hash))
				if err != nil { // the strategy has other k
					require.ErrorIs(t, err, ErrInvalid)
					continue
				}
				keys, batch := must(digests.Scheme().Filter()), must(digests.Scheme().Filter())
				what := fmt.Sprintf("%s, %s, k = %d", hash, s, k)
				for i := range uint64(2000 / k) {
					key := fmt.Appendf(nil, "key %0*d", mix(i)%60, mix(i)%(i/2+1)) // up to 63 bytes
					yes := make([]bool, 1)
					want := digests.ContainsDigest(digests.Digest(key))
					batch.ContainsMany([][]byte{key}, yes)
					require.Equal(t, []bool{want, want}, []bool{keys.Contains(key), yes[0]}, "Contains: %s", what)
					want = digests.AddDigest(digests.Digest(key))
					batch.AddMany([][]byte{key}, yes)
					require.Equal(t, []bool{want, want}, []bool{keys.Add(key), yes[0]}, "Add: %s", what)
				}
				require.True(t, digests.Equal(keys), what)
				require.True(t, digests.Equal(batch), what)
			}
		}
	}
}

func TestBatchOfWrongLengthPanics(t *testing.T) {
	f := MustNew(10, 0.1)
	const text = "bloom: room for 1 answers to 2 keys, want as many, or nil"
	require.PanicsWithValue(t, text, func() { f.AddMany(make([][]byte, 2), make([]bool, 1)) })
	require.PanicsWithValue(t, text, func() { f.ContainsStrings(make([]string, 2), make([]bool, 1)) })
	require.Zero(t, f.Stats().FillRatio, "nothing was added")
}
