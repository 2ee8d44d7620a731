package bloom

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchesEqualOneByOne: for all lengths around the group size, in filters on
// both sides of the size from which a batch looks ahead, with keys that repeat
// within a batch.
func TestBatchesEqualOneByOne(t *testing.T) {
	t.Parallel()
	for _, s := range allStrategies {
		for _, m := range []uint64{1 << 14, prefetchWords * 64, (scatteredWords + 8) * 64} {
			newFilter := func() *BloomFilter {
				f, err := NewWithParams(Params{M: m, K: 8}, WithStrategy(s))
				require.NoError(t, err)
				return f
			}
			one, many, strs := newFilter(), newFilter(), newFilter()
			next := uint64(0)
			for _, length := range []int{0, 1, 2, batchSize - 1, batchSize, batchSize + 1, 2 * batchSize, 3*batchSize + 5} {
				keys, names := make([][]byte, length), make([]string, length)
				for i := range keys {
					next++
					keys[i] = fmt.Appendf(nil, "key %d", mix(next)%(next/2+1)) // some new, some old, some twice
					names[i] = string(keys[i])
				}
				found, foundStrings := make([]bool, length), make([]bool, length)
				wantFound := 0
				for i := range keys {
					if one.Contains(keys[i]) {
						wantFound++
						found[i] = true
					}
				}
				require.Equal(t, wantFound, many.ContainsMany(keys, foundStrings))
				require.Equal(t, found, foundStrings)
				clear(foundStrings)
				require.Equal(t, wantFound, strs.ContainsStrings(names, foundStrings))
				require.Equal(t, found, foundStrings)

				want, got, gotStrings := make([]bool, length), make([]bool, length), make([]bool, length)
				wantAdded := 0
				for i := range keys {
					if one.Add(keys[i]) {
						wantAdded++
						want[i] = true
					}
				}
				for i := range got { // what was there is overwritten, with false too
					got[i], gotStrings[i] = true, true
				}
				require.Equal(t, wantAdded, many.AddMany(keys, got))
				require.Equal(t, want, got)
				require.Equal(t, wantAdded, strs.AddStrings(names, gotStrings))
				require.Equal(t, want, gotStrings)
				require.Equal(t, length, many.ContainsMany(keys, nil))
				require.Zero(t, many.AddMany(keys, nil))
			}
			require.True(t, one.Equal(many))
			require.True(t, one.Equal(strs))
		}
	}
}

// TestKeysAndTheirDigests: Add, Contains and batches of keys have kernels of their own for
// some hashes, strategies and k. They do what AddDigest and ContainsDigest do with the digests.
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
