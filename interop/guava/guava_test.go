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

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		p    float64
		opt  bloom.Option
		is   error
		text string
	}{
		{1000, 0, bloom.WithSeed(0), bloom.ErrInvalid, "bloom: invalid parameter: p = 0, want 0 < p < 1"},
		{1000, 1, bloom.WithSeed(0), bloom.ErrInvalid, "p = 1,"},
		{1000, math.NaN(), bloom.WithSeed(0), bloom.ErrInvalid, "p = NaN,"},
		{1000, 1e-80, bloom.WithSeed(0), bloom.ErrInvalid, "needs k = 266, want at most 255"},
		{1, 0.9, bloom.WithSeed(0), bloom.ErrInvalid, "less than one bit, and Guava rounds that to none"},
		{math.MaxInt32, math.SmallestNonzeroFloat64, bloom.WithSeed(0), bloom.ErrTooLarge, "need m = 3327428144512 bits"}, // as in Guava's tests
		{math.MaxUint64, 0.01, bloom.WithSeed(0), bloom.ErrTooLarge, "want at most 137438953408"},
		{1 << 30, 0.01, bloom.WithMaxBytes(1 << 20), bloom.ErrTooLarge, "want at most 1048576"},
		{10, 0.01, bloom.WithStrategy(Mitz32), bloom.ErrInvalid, `the options ask for strategy "guava-mitz-32"`},
		{10, 0.01, bloom.WithSeed(1), bloom.ErrInvalid, "seed 1, want"},
		{10, 0.01, bloom.WithHash(bloom.MapHash), bloom.ErrInvalid, "maphash"},
		{10, 0.01, bloom.WithSecret([16]byte{1}), bloom.ErrInvalid, "siphash"},
	} {
		_, err := New(c.n, c.p, Since334, c.opt)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, c.text)
		require.ErrorContains(t, err, "bloom: ")
	}
	_, err := New(10, 0.01, Since334, bloom.WithSeed(0))
	require.NoError(t, err, "seed 0 is none")
}

// TestInvalidUTF8 has the strings that Java cannot have; the golden files have others.
func TestInvalidUTF8(t *testing.T) {
	for s, want := range map[string]string{"a\xff": "a\x00\xfd\xff", "\xed\xa0\x80": "\xfd\xff\xfd\xff\xfd\xff"} { // a surrogate
		require.Equal(t, "x"+want, string(UnencodedCharsFunnel([]byte("x"), s)), "%q", s)
	}
}

func appendKey[K []byte | string](dst []byte, k K) []byte { return append(dst, k...) }
