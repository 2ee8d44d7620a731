package bloom

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// filled returns a filter for 1000 keys that holds the keys from..to-1.
func filled(s Strategy, from, to uint64) *BloomFilter {
	f := MustNew(1000, 0.001, WithStrategy(s))
	for i := from; i < to; i++ {
		f.AddString(formatUint(i))
	}
	return f
}

func TestUnionIsTheFilterOfAllKeys(t *testing.T) {
	for _, s := range allStrategies {
		f, g := filled(s, 0, 500), filled(s, 300, 900)
		before := g.Clone()
		require.NoError(t, f.Union(g))
		require.True(t, f.Equal(filled(s, 0, 900)))
		require.True(t, g.Equal(before), "the other one is only read")
		require.NoError(t, f.Union(f))
		require.True(t, f.Equal(filled(s, 0, 900)))
	}
}

// TestCompatible: filters are compatible, and their schemes have one identity, if and only if
// m, k, strategy, hash, and seed or secret are equal. Union and Intersect refuse all others, say
// why, and change nothing.
func TestCompatible(t *testing.T) {
	otherKey := testKey
	otherKey[15]++
	byKey := NewStrategy("triple", definitionOf(customSeeded))
	nameless, other := NewStrategy("", tripleDefinition), NewStrategy("", tripleDefinition)
	hash, otherHash := NewHash64("", func(key []byte) uint64 { h1, _ := customHash64.sum(key); return h1 }), NewHash64("", func(key []byte) uint64 { h1, _ := customHash64.sum(key); return h1 })
	params := Params{M: 14_336, K: 8}
	kinds := []struct {
		params Params
		opts   []Option
		text   string // of the error of a union with the first
	}{
		{params, nil, ""},
		{Params{M: 13_824, K: 8}, nil, "m = 14336 and 13824"},
		{Params{M: 14_336, K: 16}, nil, "k = 8 and 16"},
		{params, []Option{WithSeed(13)}, "seeds 0 and 13"},
		{params, []Option{WithHash(RapidHash)}, "hashes murmur3 and rapidhash-v3"},
		{params, []Option{WithHash(RapidHash), WithSeed(13)}, "hashes murmur3 and rapidhash-v3"},
		{params, []Option{WithHash(MapHash)}, "hashes murmur3 and maphash"},
		{params, []Option{WithSecret(testKey)}, "hashes murmur3 and siphash"},
		{params, []Option{WithSecret(otherKey)}, "hashes murmur3 and siphash"},
		{params, []Option{WithHash(customHash64)}, `hashes murmur3 and "fnv-mixed"/64`},
		{params, []Option{WithHash(NewHash("fnv-mixed", func(key []byte) (h1, h2 uint64) { return customHash.sum(key) }))}, `hashes murmur3 and "fnv-mixed"`}, // 128 bits
		{params, []Option{WithHash(hash)}, `hashes murmur3 and ""#`},
		{params, []Option{WithHash(otherHash)}, `hashes murmur3 and ""#`},
		{params, []Option{WithStrategy(SeededHashing)}, `strategies "double-hashing" and "seeded-hashing"`},
		{params, []Option{WithStrategy(Blocked)}, `strategies "double-hashing" and "blocked"`},
		{params, []Option{WithStrategy(triple)}, `strategies "double-hashing" and "triple"`},
		{params, []Option{WithStrategy(byKey)}, `strategies "double-hashing" and "triple"`}, // positions by keys
		{params, []Option{WithStrategy(nameless)}, `strategies "double-hashing" and ""#`},
		{params, []Option{WithStrategy(other)}, `strategies "double-hashing" and ""#`},
	}
	for i, a := range kinds {
		for j, b := range kinds {
			f, g := must(newWithParams(a.params, a.opts...)), must(newWithParams(b.params, b.opts...))
			f.AddString("f")
			g.AddString("g")
			before := f.Clone()
			require.Equal(t, i == j, f.compatible(g) == nil, "%s and %s", f, g)
			require.Equal(t, i == j, f.Scheme().String() == g.Scheme().String(), "%s and %s", f, g)
			require.False(t, f.Equal(g))
			if i == j {
				require.NoError(t, f.Union(g))
				continue
			}
			for _, err := range []error{f.Union(g), f.Intersect(g)} {
				require.ErrorIs(t, err, ErrIncompatible)
				if i == 0 {
					require.ErrorContains(t, err, "bloom: incompatible filters: "+b.text)
				}
			}
			require.True(t, f.Equal(before), "unchanged")
		}
	}
	keyed := must(newWithParams(params, WithSecret(testKey)))
	require.EqualError(t, keyed.Union(must(newWithParams(params, WithSecret(otherKey)))), "bloom: incompatible filters: different secrets")
	f := MustNew(1000, 0.001)
	require.NoError(t, f.Union(must(newWithParams(Params{M: f.Params().M, K: f.Params().K}))), "n and p may differ")
	named := must(newWithParams(params, WithHash(NewHash64("fnv-mixed", func([]byte) uint64 { return 0 }))))
	require.NoError(t, named.compatible(must(newWithParams(params, WithHash(customHash64)))), "a hash is its name")
	_, err := Read(bytes.NewReader(marshal(t, MustNew(10, 0.1, WithStrategy(triple)))), WithStrategy(byKey))
	require.Error(t, err, "positions by keys instead of digests")
}

// TestRatesMultiply: the rates of two filters of the same keys multiply with different seeds, but not with one digest.
func TestRatesMultiply(t *testing.T) {
	const n, p, lookups = 10_000, 0.05, 200_000
	for _, s := range []Strategy{DoubleHashing, Blocked, SplitBlock} {
		for seed := range uint64(2) {
			f, g := MustNew(n, p, WithStrategy(s)), MustNew(n*6/5, p, WithStrategy(s), WithSeed(seed))
			var b [40]byte
			for i := range uint64(n) {
				f.Add(key40(&b, i))
				g.Add(b[:])
			}
			both := 0.0
			for i := range uint64(lookups) {
				if f.Contains(key40(&b, 1<<40+i)) && g.Contains(b[:]) {
					both++
				}
			}
			want := lookups * f.Stats().EstimatedFalsePositiveRate * g.Stats().EstimatedFalsePositiveRate
			if multiply := math.Abs(both-want) < 6*math.Sqrt(want); multiply != (seed == 1) || !multiply && both < 3*want {
				t.Errorf("%s, seeds 0 and %d: %.0f wrong in both, %.0f if independent", s, seed, both, want)
			}
		}
	}
}
