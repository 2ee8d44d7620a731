package bloom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/stretchr/testify/require"
)

// TestZeroValues: every method of a zero value returns an error that wraps ErrInvalid, panics with what to
// do about it, or gives one of these answers. Every function refuses zero values.
func TestZeroValues(t *testing.T) {
	var answers []string
	for _, v := range []any{bloom.BloomFilter{}, new(bloom.Scheme), (*bloom.Scheme)(nil), bloom.Strategy{}, new(bloom.Hash), (*bloom.Hash)(nil)} {
		answers = append(answers, fmt.Sprint(v))
	}
	require.Equal(t, []string{"bloom.BloomFilter(zero)", "bloom.Scheme(zero)", "bloom.Scheme(zero)", "none", "none", "none"}, answers)
	require.Equal(t, []string{
		"BloomFilter.GoString", "BloomFilter.LogValue", "BloomFilter.Scheme", "BloomFilter.String",
		"Scheme.LogValue", "Scheme.String",
		"Strategy.EstimateCount", "Strategy.FalsePositiveRate", "Strategy.Name", "Strategy.NeedsKey",
		"Strategy.String", "Hash.Name", "Hash.String", "Stats.OverP",
	}, zero.Values(t, new(bloom.BloomFilter), new(bloom.Builder), new(bloom.Scheme), bloom.Strategy{}, new(bloom.Hash), bloom.Stats{}))
	require.False(t, bloom.Strategy{}.NeedsKey())
	require.Equal(t, []string{"", ""}, []string{bloom.Strategy{}.Name(), (*bloom.Hash)(nil).Name()})

	for i, opt := range []bloom.Option{
		nil, bloom.WithStrategy(bloom.Strategy{}), bloom.WithHash(nil), bloom.WithHash(new(bloom.Hash)), bloom.WithSecret([16]byte{}),
		bloom.WithStrategy(bloom.NewStrategy("", bloom.Definition{})), bloom.WithHash(bloom.NewHash("", nil)), bloom.WithHash(bloom.NewHash64("", nil)),
	} {
		_, err := bloom.New(10, 0.1, opt)
		require.ErrorIs(t, err, bloom.ErrInvalid, i)
		_, err = bloom.Read(strings.NewReader(""), opt)
		require.ErrorIs(t, err, bloom.ErrInvalid, i)
		_, err = bloom.ReadScheme(strings.NewReader(""), opt)
		require.ErrorIs(t, err, bloom.ErrInvalid, i)
		require.NotPanics(t, func() { bloom.MaxBytes(opt) }, i)
	}
	f := bloom.MustNew(10, 0.1)
	require.False(t, f.Equal(nil) || f.Equal(new(bloom.BloomFilter)))
	_, err1 := bloom.New(0, 0)
	_, err2 := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{}))
	_, err3 := bloom.NewScheme(0, 0)
	_, err4 := bloom.ParamsForBits(0, 1, bloom.Strategy{})
	_, err5 := bloom.ParamsForBits(0, 0, bloom.DoubleHashing)
	for i, err := range []error{
		f.Union(nil), f.Intersect(nil), f.Union(new(bloom.BloomFilter)), f.Intersect(new(bloom.BloomFilter)), err1, err2, err3, err4, err5,
	} {
		require.ErrorIs(t, err, bloom.ErrInvalid, i)
	}
}
