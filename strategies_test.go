package bloom

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBuiltinStrategyIsItsDefinition: a strategy of this package is complete with its definition in
// the list of built-ins.
func TestBuiltinStrategyIsItsDefinition(t *testing.T) {
	positions := func(b *bitset, dst []uint64, h1, h2 uint64) {
		for i := range dst {
			dst[i] = mix(h1+uint64(i)*h2) % b.units
		}
	}
	find := func(b *bitset, h1, h2 uint64) []uint64 {
		dst := make([]uint64, b.k)
		positions(b, dst, h1, h2)
		return dst
	}
	code := kernel{
		add:          func(b *bitset, h1, h2 uint64) bool { return addAll(b.bits, find(b, h1, h2)) },
		contains:     func(b *bitset, h1, h2 uint64) bool { return containsAll(b.bits, find(b, h1, h2)) },
		positions:    positions,
		prefetch:     func(*bitset, []digest, bool) {},
		prefetchFrom: prefetchWords,
	}
	dummy := Strategy{&definition{name: "dummy", code: &code}}
	defer func(before []*definition) { builtins = before }(builtins)
	builtins = append(builtins[:len(builtins):len(builtins)], dummy.def)

	for _, n := range []uint64{1000, 1_000_000} {
		for _, opt := range []Option{WithSeed(7), WithHash(RapidHash), WithKey(testKey), WithHash(customHash64)} {
			f := MustNew(n, 0.01, WithStrategy(dummy), opt)
			require.Equal(t, must(ParamsFor(n, 0.01, SeededHashing)), f.Params(), "sized by independent positions")
			batch := f.Clone()
			keys := make([][]byte, 1000)
			won := 0
			for i := range keys {
				keys[i] = []byte(formatUint(uint64(i)))
				if f.Add(keys[i]) {
					won++
				}
				require.True(t, f.Contains(keys[i]))
				require.Len(t, f.Scheme().AppendPositions(nil, keys[i]), f.Params().K)
			}
			require.Equal(t, won, batch.AddMany(keys, nil))
			require.True(t, batch.Equal(f))
			require.Equal(t, len(keys), f.ContainsMany(keys, nil))
			require.InDelta(t, 1000, float64(f.Stats().EstimatedCount), 40)
			back, err := Read(bytes.NewReader(marshal(t, f)), WithKey(testKey))
			if opt := f.scheme.hash.id; opt != idSipHash {
				back, err = Read(bytes.NewReader(marshal(t, f)), WithHash(f.Scheme().Hash()))
			}
			require.NoError(t, err, "found by its name")
			require.True(t, back.Equal(f))
			_, err = f.FoldTo(0.5)
			require.ErrorIs(t, err, ErrInvalid)
		}
	}
	_, err := New(10, 0.1, WithStrategy(NewStrategy("dummy", tripleDefinition)))
	require.ErrorContains(t, err, "has a name that is taken by this package")
}
