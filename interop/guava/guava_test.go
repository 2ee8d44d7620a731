package guava

import (
	"math"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

func TestKnownSizes(t *testing.T) {
	for want, p := range map[bloom.Params]float64{
		{N: 1_000_000, M: 299_534 * 64, K: 13}: 1e-4,
		{N: 0, M: 64, K: 5}:                    0.03,
		{N: 1, M: 64, K: 5}:                    0.03,
		{N: 1000, M: 115 * 64, K: 5}:           0.03,
		{N: 1000, M: 170 * 64, K: 7}:           0.005524271728019906, // math.Log misses this k
	} {
		got, err := Params(want.N, p, Since334)
		require.NoError(t, err)
		want.P = p
		require.Equal(t, want, got)
	}
}

// TestFormulasDiffer checks the comment on Release.
func TestFormulasDiffer(t *testing.T) {
	for p, last := range map[float64]uint64{0.5: 0, 0.03: 0, 0.01: 3, 0.001: 0} {
		for n := uint64(1); n < 10_000; n++ {
			now, err := Params(n, p, Since334)
			before, errBefore := Params(n, p, Since18)
			require.Equal(t, []any{now.M, nil, nil}, []any{before.M, err, errBefore})
			require.LessOrEqual(t, now.K-before.K, 1)
			require.True(t, now.K == before.K || now.K == before.K+1 && n <= last, "p = %v, n = %d", p, n)
		}
	}
}

// TestNewRefuses what Guava refuses, and says so.
func TestNewRefuses(t *testing.T) {
	for text, c := range map[string]bloom.Params{
		"bloom: invalid parameter: p = 1e-80 needs k = 266, want at most 255":                    {N: 1000, P: 1e-80},
		"n = 1 keys at p = 0.9 need less than one bit, and Guava rounds that to none":            {N: 1, P: 0.9},
		"bloom: filter too large: n = 2147483647 keys at p = 5e-324 need m = 3327428144512 bits": {N: math.MaxInt32, P: math.SmallestNonzeroFloat64}, // as in Guava's tests
		"want at most 137438953408": {N: math.MaxUint64, P: 0.01},
	} {
		_, err := New(c.N, c.P, Since334)
		require.ErrorContains(t, err, text)
	}
	_, err := New(10, 0.01, Since334, bloom.WithStrategy(Mitz32))
	require.ErrorContains(t, err, `the options ask for strategy "guava-mitz-32"`)
	_, err = New(10, 0.01, Since334, bloom.WithSeed(0))
	require.NoError(t, err, "seed 0 is none")
	_, err = New(10, 0.01, 0)
	require.ErrorIs(t, err, bloom.ErrInvalid)
}

// TestInvalidUTF8 has the strings that Java cannot have; the golden files have others.
func TestInvalidUTF8(t *testing.T) {
	for s, want := range map[string]string{"a\xff": "a\x00\xfd\xff", "\xed\xa0\x80": "\xfd\xff\xfd\xff\xfd\xff"} { // a surrogate
		require.Equal(t, "x"+want, string(UnencodedCharsFunnel([]byte("x"), s)), "%q", s)
	}
}

func appendKey[K []byte | string](dst []byte, k K) []byte { return append(dst, k...) }
