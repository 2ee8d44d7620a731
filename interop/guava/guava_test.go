package guava

import (
	"math"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// TestKnownFalsePositives has the counts of Guava's own tests: the even numbers below two million are added as
// decimal strings, and the odd ones are looked up. The counts are exact because the positions are frozen.
func TestKnownFalsePositives(t *testing.T) {
	for _, c := range []struct {
		name   string
		by     bloom.Strategy
		funnel func([]byte, string) []byte
		want   int
		first  []int // below 900
	}{
		{"mitz_32/unencodedChars", Mitz32, UnencodedCharsFunnel, 29_824,
			[]int{49, 51, 59, 163, 199, 321, 325, 363, 367, 469, 545, 561, 727, 769, 773, 781}},
		{"mitz_64/unencodedChars", Mitz64, UnencodedCharsFunnel, 30_104,
			[]int{15, 25, 287, 319, 381, 399, 421, 465, 529, 697, 767, 857}},
		{"mitz_64/string", Mitz64, appendString, 29_763,
			[]int{89, 129, 471, 723, 751, 835, 871}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.by == Mitz64 {
				t.Skip("NOT TESTED with -short: the same false positives as in tests of Guava")
			}
			params, err := Params(1_000_000, 0.03, Since33_4)
			require.NoError(t, err)
			f, err := bloom.NewWithParams(params, bloom.WithStrategy(c.by))
			require.NoError(t, err)
			var key []byte
			for i := 0; i < 2_000_000; i += 2 {
				key = c.funnel(key[:0], strconv.Itoa(i))
				f.Add(key)
				if !f.Contains(key) {
					t.Fatalf("%d is missed", i)
				}
			}
			count, first := 0, []int{}
			for i := 1; i < 2_000_000; i += 2 {
				if key = c.funnel(key[:0], strconv.Itoa(i)); f.Contains(key) {
					count++
					if i < 900 {
						first = append(first, i)
					}
				}
			}
			require.Equal(t, c.want, count)
			require.Equal(t, c.first, first)
			require.InEpsilon(t, 1_000_000, f.Stats().EstimatedCount, 0.01)
		})
	}
}

func TestKnownSizes(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		p     float64
		words uint64
		k     int
	}{
		{1_000_000, 1e-4, 299_534, 13},
		{0, 0.03, 1, 5},
		{1, 0.03, 1, 5},
		{1000, 0.03, 115, 5},
		{math.MaxInt32, math.SmallestNonzeroFloat64, 0, 0}, // k is too large, see below
	} {
		got, err := Params(c.n, c.p, Since33_4)
		if c.k == 0 {
			require.ErrorIs(t, err, bloom.ErrTooLarge)
			require.ErrorContains(t, err, "need m = 3327428144512 bits", "what Guava's test expects of optimalNumOfBits")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, bloom.Params{N: c.n, P: c.p, M: c.words * 64, K: c.k}, got)
	}
}

// TestFormulasDiffer checks the comment on Release.
func TestFormulasDiffer(t *testing.T) {
	last := map[float64]uint64{}
	for _, p := range []float64{0.5, 0.1, 0.05, 0.03, 0.02, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9} {
		for n := uint64(0); n < 10_000; n++ {
			now, err := Params(n, p, Since33_4)
			before, errBefore := Params(n, p, Since18)
			require.Equal(t, err == nil, errBefore == nil)
			if now.K != before.K {
				last[p] = n
				require.Equal(t, now.K, before.K+1)
			}
			require.Equal(t, now.M, before.M)
		}
	}
	t.Log(last)
	require.Equal(t, uint64(3), last[0.01])
	require.NotContains(t, last, 0.03)
	require.NotContains(t, last, 0.001)
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		p    float64
		opts []bloom.Option
		is   error
		text string
	}{
		{1000, 0, nil, bloom.ErrInvalid, "bloom: invalid parameter: p = 0, want 0 < p < 1"},
		{1000, 1, nil, bloom.ErrInvalid, "p = 1,"},
		{1000, -0.1, nil, bloom.ErrInvalid, "p = -0.1,"},
		{1000, math.NaN(), nil, bloom.ErrInvalid, "p = NaN,"},
		{1000, 1e-80, nil, bloom.ErrInvalid, "needs k = 266, want at most 255"},
		{1, 0.9, nil, bloom.ErrInvalid, "less than one bit, and Guava rounds that to none"},
		{1 << 40, 0.01, nil, bloom.ErrTooLarge, "want at most 137438953408"},
		{math.MaxUint64, 0.01, nil, bloom.ErrTooLarge, "want at most 137438953408"},
		{1 << 30, 0.01, []bloom.Option{bloom.WithMaxBytes(1 << 20)}, bloom.ErrTooLarge, "want at most 1048576"},
		{10, 0.01, []bloom.Option{bloom.WithStrategy(Mitz32)}, bloom.ErrInvalid, `the options ask for strategy "guava-mitz-32"`},
		{10, 0.01, []bloom.Option{bloom.WithSeed(1)}, bloom.ErrInvalid, "seed 1, want"},
		{10, 0.01, []bloom.Option{bloom.WithHash(bloom.MapHash)}, bloom.ErrInvalid, "maphash"},
		{10, 0.01, []bloom.Option{bloom.WithKey([16]byte{})}, bloom.ErrInvalid, "siphash"},
		{10, 0.01, []bloom.Option{bloom.WithHash(bloom.Hash{})}, bloom.ErrInvalid, "the hash is the zero Hash"},
	} {
		_, err := New(c.n, c.p, Since33_4, c.opts...)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, c.text)
		require.ErrorContains(t, err, "bloom: ")
	}
	_, err := New(10, 0.01, Since33_4, bloom.WithSeed(0))
	require.NoError(t, err, "seed 0 is none")
}

func TestFunnels(t *testing.T) {
	for s, want := range map[string]string{
		"":             "",
		"ab":           "a\x00b\x00",
		"ü€":           "\xfc\x00\xac\x20",
		"\x00\uffff":   "\x00\x00\xff\xff",
		"😀":            "\x3d\xd8\x00\xde",
		"\U0010ffff":   "\xff\xdb\xff\xdf",
		"\ufffd":       "\xfd\xff",
		"a\xff":        "a\x00\xfd\xff",
		"\xed\xa0\x80": "\xfd\xff\xfd\xff\xfd\xff", // a surrogate is not valid UTF-8
	} {
		require.Equal(t, "x"+want, string(UnencodedCharsFunnel([]byte("x"), s)), "%q", s)
	}
	require.Equal(t, []byte{0xfe, 0xff, 0xff, 0xff}, IntegerFunnel(nil, -2))
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 0x88}, LongFunnel(nil, -0x77f8f9fafbfcfdff))
}

// ties returns values of p at which k changes: 2^-(j+1/2), and the floats up to the given number of units away.
func ties(units int) (list []float64) {
	for j := range 255 {
		p := math.Exp2(-float64(j) - 0.5)
		for range units {
			p = math.Nextafter(p, 0)
		}
		for range 2*units + 1 {
			list = append(list, p)
			p = math.Nextafter(p, 1)
		}
	}
	return list
}

// TestKAtATie: the k of Guava 33.4.6 on a JVM, which math.Log would miss.
func TestKAtATie(t *testing.T) {
	for _, n := range []uint64{1, 2, 1000, 1e9} {
		params, err := Params(n, 0.005524271728019906, Since33_4)
		require.NoError(t, err)
		require.Equal(t, 7, params.K)
	}
}

func appendString(dst []byte, s string) []byte { return append(dst, s...) }

func appendBytes(dst, b []byte) []byte { return append(dst, b...) }
