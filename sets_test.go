package bloom

import (
	"bytes"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/byindex"
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

func TestIntersectKeepsCommonKeys(t *testing.T) {
	for _, s := range allStrategies {
		f, g := filled(s, 0, 600), filled(s, 400, 900)
		rate := min(f.Stats().EstimatedFalsePositiveRate, g.Stats().EstimatedFalsePositiveRate)
		require.NoError(t, f.Intersect(g))
		for i := uint64(400); i < 600; i++ {
			require.True(t, f.ContainsString(formatUint(i)))
		}
		lost := 0
		for i := range uint64(400) {
			if !f.ContainsString(formatUint(i)) {
				lost++
			}
		}
		require.Greater(t, lost, 370, "keys of only one are gone, but for false positives")
		require.LessOrEqual(t, f.Stats().EstimatedFalsePositiveRate, rate)
		require.NoError(t, f.Intersect(MustNew(1000, 0.001, WithStrategy(s))))
		require.Zero(t, f.Stats().FillRatio)
	}
}

func TestCompatible(t *testing.T) {
	f := filled(DoubleHashing, 0, 10)
	same, err := NewWithParams(Params{M: f.Params().M, K: f.Params().K})
	require.NoError(t, err)
	require.True(t, f.Compatible(same), "n and p may differ")
	require.NoError(t, f.Union(same))

	m, k := f.Params().M, f.Params().K
	for _, c := range []struct {
		params Params
		opts   []Option
		text   string
	}{
		{Params{M: m - 1, K: k}, nil, "m = 14400 and 14399"},
		{Params{M: m, K: k + 1}, nil, "k = 10 and 11"},
		{Params{M: m, K: k}, []Option{WithSeed(13)}, "seeds 0 and 13"},
		{Params{M: m, K: k}, []Option{WithStrategy(SeededHashing)}, `strategies "double-hashing" and "seeded-hashing"`},
		{Params{M: m, K: k}, []Option{WithStrategy(triple)}, `strategies "double-hashing" and "triple"`},
	} {
		other, err := NewWithParams(c.params, c.opts...)
		require.NoError(t, err)
		other.AddString("not in f")
		before := f.Clone()
		require.False(t, f.Compatible(other))
		require.False(t, f.Equal(other))
		for _, err := range []error{f.Union(other), f.Intersect(other)} {
			require.ErrorIs(t, err, ErrIncompatible)
			require.ErrorContains(t, err, c.text)
		}
		require.True(t, f.Equal(before), "unchanged")
	}
	a, b := MustNew(9, 0.1, WithStrategy(NewStrategy("a", Definition{Positions: byindex.Positions(doubleIndex)}))), MustNew(9, 0.1, WithStrategy(NewStrategy("b", Definition{Positions: byindex.Positions(doubleIndex)})))
	require.False(t, a.Compatible(b), "a custom strategy is its name")

	own, another := NewStrategy("", Definition{Positions: byindex.Positions(doubleIndex)}), NewStrategy("", tripleDefinition)
	a, b = MustNew(9, 0.1, WithStrategy(own)), MustNew(9, 0.1, WithStrategy(another))
	require.False(t, a.Compatible(b), "without a name it is only itself")
	require.ErrorIs(t, a.Union(b), ErrIncompatible)
	require.NotEqual(t, a.Scheme().Identity(), b.Scheme().Identity())
	b = MustNew(5, 0.01, WithStrategy(own))
	c, err := NewWithParams(Params{M: b.Params().M, K: b.Params().K}, WithStrategy(own))
	require.NoError(t, err)
	require.NoError(t, b.Union(c))
	require.Equal(t, b.Scheme().Identity(), c.Scheme().Identity())
}

// TestKindsOfOneName: a custom strategy by positions is not one by keys, nor a hash of 128 bits
// one of 64, whatever their names.
func TestKindsOfOneName(t *testing.T) {
	byKey := NewStrategy("triple", customSeeded.def.Definition)
	wide := NewHash(customHash64.Name(), func([]byte) (h1, h2 uint64) { return 1, 2 })
	for _, pair := range [][2]Option{{WithStrategy(triple), WithStrategy(byKey)}, {WithHash(customHash64), WithHash(wide)}} {
		params := Params{M: 640, K: 7}
		a, b := must(NewWithParams(params, pair[0])), must(NewWithParams(params, pair[1]))
		require.False(t, a.Compatible(b))
		require.ErrorIs(t, a.Union(b), ErrIncompatible)
		require.NotEqual(t, a.Scheme().Identity(), b.Scheme().Identity())
	}
	_, err := Read(bytes.NewReader(marshal(t, MustNew(10, 0.1, WithStrategy(triple)))), WithStrategy(byKey))
	require.Error(t, err)
}

func TestCloneIsIndependent(t *testing.T) {
	for _, s := range allStrategies {
		f := filled(s, 0, 100)
		c := f.Clone()
		require.True(t, c.Equal(f))
		require.Equal(t, f.Params(), c.Params())
		require.Equal(t, f.String(), c.String())
		c.AddString("only in the clone")
		require.False(t, f.ContainsString("only in the clone"))
		require.False(t, c.Equal(f))
		f.Clear()
		require.True(t, c.ContainsString("7"))
	}
}

func TestClearForgets(t *testing.T) {
	for _, s := range allStrategies {
		f := filled(s, 0, 100)
		f.Clear()
		require.Zero(t, f.Stats().FillRatio)
		require.True(t, f.Equal(MustNew(1000, 0.001, WithStrategy(s))))
		require.True(t, f.AddString("7"), "new again")
	}
}
