package bloom

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestFrozenSizes: every architecture chooses the same m and k, and predicts the
// same rate to the last bit. A third of the settings are ties: p is the rate of a filter that
// New might choose, or one unit in the last place more or less. A difference means that two
// machines cannot share a filter: mend the code, never the file.
func TestFrozenSizes(t *testing.T) {
	t.Parallel()
	settings, file := testkit.Times(1250, 1250, 250_000), "sizes"
	if settings > 1250 {
		file = "sizes-long"
	}
	var out strings.Builder
	for _, s := range builtins {
		sum := uint64(14695981039346656037) // FNV-1a
		add := func(n uint64, p float64) Params {
			got, err := sizeFor(n, p, s)
			if err != nil {
				sum *= 1099511628211
				return got
			}
			for _, x := range []uint64{got.M, uint64(got.K), math.Float64bits(s.FalsePositiveRate(got.M, got.K, n))} {
				sum = (sum ^ x) * 1099511628211
			}
			return got
		}
		for i := range uint64(settings) {
			n := 1 + mix(3*i)>>(24+mix(3*i+1)%40)
			x := mix(3*i + 2)
			p := math.Ldexp(1+float64(x>>12)/(1<<52), -1-int(x%44)) // down to 5e-14
			got := add(n, p)
			if got.M == 0 || i%3 != 0 {
				continue
			}
			unit := sizeUnit(s)
			tie := s.FalsePositiveRate(max(unit, got.M-unit*(x>>50%3)), got.K, n)
			add(n, tie)
			add(n, math.Nextafter(tie, 0))
			add(n, math.Nextafter(tie, 1))
		}
		fmt.Fprintf(&out, "%s: %016x\n", s, sum)
	}
	frozen(t, file, out.String())
}

// TestSizesKeepPAndAreMinimal: the rate is at most p, no k keeps it with a word or block less, and no
// smaller k with as much. Blocked takes more words per key only if that saves 3 % of the memory.
func TestSizesKeepPAndAreMinimal(t *testing.T) {
	for _, s := range builtins {
		unit := sizeUnit(s)
		words := func(k int) int {
			if s == Blocked {
				return s.wordsPerKey(k)
			}
			return 1
		}
		for _, n := range []uint64{1, 2, 3, 5, 10, 33, 50, 100, 1000, 100_001, 1 << 30, 1 << 40} {
			for _, p := range []float64{0.9, 0.5, 0.25, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9} {
				got, err := sizeFor(n, p, s)
				if s.checkP(p) != nil || n == 1<<40 && s == SplitBlock {
					require.Error(t, err)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, Params{N: n, P: p, M: got.M / unit * unit, K: got.K}, got)
				require.LessOrEqual(t, s.FalsePositiveRate(got.M, got.K, n), p, "%s n=%d p=%v %+v", s, n, p, got)
				for k := 1; k <= maxK; k++ {
					m := got.M - unit
					switch {
					case words(k) > words(got.K):
						m -= got.M / 28 / unit * unit
					case words(k) == words(got.K) && k < got.K:
						m += unit
					}
					if m > 0 && canHave(s, m, k) && s.FalsePositiveRate(m, k, n) <= p {
						t.Fatalf("%s n=%d p=%v: m = %d, k = %d would do, not %+v", s, n, p, m, k, got)
					}
				}
			}
		}
	}
}

// TestMemoryAboveTheBound: the figures of the documentation. The bound is for a k that
// is no whole number. A whole one costs most where k is 1 to 3: up to 3.7 % at p = 0.38, between
// k = 1 and k = 2. Below 0.11 it costs at most 0.7 %. The rounding to words adds up to 63 bits.
func TestMemoryAboveTheBound(t *testing.T) {
	t.Parallel()
	worst, worstP := 0.0, 0.0
	for _, n := range []uint64{1000, 1_000_000} {
		for p := 0.5; p > 1e-18; p *= 0.98 {
			got := must(sizeFor(n, p, DoubleHashing))
			over := (float64(got.M) - 63) / rate.OptimalM(n, p)
			limit := 1.038
			if p < 0.11 {
				limit = 1.007
			}
			require.Less(t, over, limit, "n=%d p=%v", n, p)
			if over > worst {
				worst, worstP = over, p
			}
		}
	}
	require.InDelta(t, 1.037, worst, 0.002)
	require.InDelta(t, 0.38, worstP, 0.02)
}

// FuzzParams: for any n and p New has parameters whose predicted rate is at most p, or an
// error that says why not. The seeds are all strategies with ordinary n and p.
func FuzzParams(f *testing.F) {
	strategies := append([]Strategy{Blocked}, allStrategies...)
	uniform := func(i uint64) float64 { return float64(mix(i)>>11) / (1 << 53) }
	for s := range strategies {
		for i := range uint64(10) { // p from 0.5 down to 5e-14
			f.Add(uint8(s), i%2 == 0, uint64(math.Exp2(40*uniform(2*i))), math.Pow(10, -13*uniform(2*i+1))/2)
		}
	}
	f.Add(uint8(1), false, uint64(0), 2.0)
	f.Add(uint8(1), true, uint64(1)<<63, 1e-300)
	f.Fuzz(func(t *testing.T, which uint8, short bool, n uint64, p float64) {
		s, hash := strategies[int(which)%len(strategies)], Murmur3
		if short && !s.NeedsKey() {
			hash = MapHash
		}
		opts := []Option{WithStrategy(s), WithHash(hash)}
		if s.NeedsKey() {
			opts = opts[:1]
		}
		scheme, err := NewScheme(n, p, opts...)
		if err != nil {
			require.True(t, errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge), "%v", err)
			least := max(1e-16, s.limits().minP)
			if short {
				least += 1.1 * float64(n) / (1 << 64)
			}
			if p > least && p <= 0.5 && (n <= 1<<30 || s != SplitBlock && n <= 1<<40) {
				t.Fatalf("%s, %s, n=%d p=%v: %v", s, hash, n, p, err)
			}
			return
		}
		got := scheme.Params()
		predicted := s.FalsePositiveRate(got.M, got.K, n) + scheme.hash.equalDigests(n)
		if !(predicted <= p*(1+1e-12)) || got.M%sizeUnit(s) != 0 {
			t.Fatalf("%s, %s, n=%d: predicted rate %v, want at most p = %v, with %+v", s, hash, n, predicted, p, got)
		}
	})
}

// TestRateIsMonotoneForEveryStrategy: more keys never lower the rate, more bits
// never raise it.
func TestRateIsMonotoneForEveryStrategy(t *testing.T) {
	for _, s := range builtins {
		for _, k := range []int{6, 8, 24} {
			if !canHave(s, 512, k) {
				continue
			}
			for _, m := range []uint64{512, 5120, 512 * 997} {
				before := 0.0
				for n := uint64(1); n < 1<<26; n += 1 + n/2 {
					rate := s.FalsePositiveRate(m, k, n)
					if rate < before*(1-1e-8) || rate > 1+1e-12 || math.IsNaN(rate) {
						t.Fatalf("%s m=%d k=%d n=%d: rate %v after %v", s, m, k, n, rate, before)
					}
					before = rate
				}
			}
			for _, n := range []uint64{1, 3, 17, 50, 1000, 1001, 1 << 22, 1 << 30} {
				before := 1.0
				for m := uint64(512); m < 1<<40; m += 512 * (1 + m>>15) {
					rate := s.FalsePositiveRate(m, k, n)
					if rate > before*(1+1e-9) || rate < 0 || math.IsNaN(rate) {
						t.Fatalf("%s m=%d k=%d n=%d: rate %v after %v", s, m, k, n, rate, before)
					}
					before = rate
				}
			}
		}
	}
}

func TestParamsRejects(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		p    float64
		s    Strategy
		want error
		text string
	}{
		{1, 0, DoubleHashing, ErrInvalid, "p = 0"},
		{1, 1, DoubleHashing, ErrInvalid, "p = 1"},
		{1, -0.5, DoubleHashing, ErrInvalid, "p = -0.5"},
		{1, math.NaN(), DoubleHashing, ErrInvalid, "p = NaN"},
		{1, math.Inf(1), DoubleHashing, ErrInvalid, "p = +Inf"},
		{1, 1e-20, DoubleHashing, ErrInvalid, "p = 1e-20 needs k = 67"},
		{1, 5e-324, DoubleHashing, ErrInvalid, "p = 5e-324 needs"},
		{math.MaxUint64, 0.01, DoubleHashing, ErrTooLarge, "n = 18446744073709551615 keys at p = 0.01 need 2.21e+19 bytes"},
		{1, 0.01, Strategy{}, ErrInvalid, "zero Strategy"},
		{1, 0.01, NewStrategy("x", Definition{}), ErrInvalid, `strategy "x" has both or neither of Positions and KeyPositions, want one`},
		{1, 0.01, NewStrategy("double-hashing", Definition{Positions: testkit.ByIndex(doubleIndex)}), ErrInvalid, `strategy "double-hashing" has a name that is taken`},
	} {
		_, err := sizeFor(c.n, c.p, c.s)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
		_, err = New(c.n, c.p, WithStrategy(c.s))
		require.ErrorIs(t, err, c.want)
		require.Panics(t, func() { MustNew(c.n, c.p, WithStrategy(c.s)) })
	}
	// The smallest p that k <= 64 reaches with half of the bits set.
	got := must(sizeFor(1_000_000, 0x1p-64, SeededHashing))
	require.Equal(t, maxK, got.K)
	// There, DoubleHashing makes room for digests with few different positions.
	double := must(sizeFor(1_000_000, 0x1p-64, DoubleHashing))
	require.Greater(t, double.M, got.M)
}

// TestSizesEndAtTheirLimits: with p near 1, a filter has much fewer bits than keys, and every step of a
// search is a small one. With a small p, few bits per key can take more blocks than a uint64 counts.
func TestSizesEndAtTheirLimits(t *testing.T) {
	nearOne := math.Nextafter(1, 0)
	for _, s := range Strategies() {
		for _, n := range []uint64{1000, 1 << 40, 2e14, 9e14, 1 << 50, 1 << 60, math.MaxUint64} {
			for _, p := range []float64{1e-12, 1e-9, 0.1, 0.5, 0.6, 0.999999, nearOne} {
				got, err := sizeFor(n, p, s)
				if errors.Is(err, ErrInvalid) {
					require.True(t, p < s.limits().minP || p > s.limits().maxP, "%s n=%d p=%v: %v", s, n, p, err)
					continue
				}
				if err != nil {
					require.ErrorIs(t, err, ErrTooLarge, "%s n=%d p=%v", s, n, p)
					require.Greater(t, float64(n)*-math.Log1p(-p)/p, min(1e13, float64(s.limits().maxM)), "%s n=%d p=%v", s, n, p)
					continue
				}
				require.Less(t, got.M, uint64(1<<53), "%s n=%d p=%v", s, n, p)
				require.LessOrEqual(t, s.FalsePositiveRate(got.M, got.K, n), p, "%s n=%d p=%v", s, n, p)
			}
		}
	}
}

// TestStrategyRateOfOddShapes: every strategy, at shapes that New never chooses.
func TestStrategyRateOfOddShapes(t *testing.T) {
	for _, s := range allStrategies {
		for _, shape := range []Params{{M: 0, K: 1}, {M: 512, K: 0}, {M: 512, K: -8}, {M: 512, K: maxCustomK + 1}} {
			require.True(t, math.IsNaN(s.FalsePositiveRate(shape.M, shape.K, 10)), "%s %+v", s, shape)
		}
		require.Zero(t, s.FalsePositiveRate(1024, 8, 0))
		for _, n := range []uint64{1 << 20, 1 << 50, math.MaxUint64} { // full, at once
			require.InDelta(t, 1, s.FalsePositiveRate(1024, 8, n), 1e-9, "%s n=%d", s, n)
		}
	}
	require.InDelta(t, 1.0/64, DoubleHashing.FalsePositiveRate(64, 1, 1), 1e-15)
	require.Equal(t, 1.0, DoubleHashing.FalsePositiveRate(1, 3, 1001))
	for _, refused := range []Strategy{{}, NewStrategy("of no function", Definition{})} {
		require.True(t, math.IsNaN(refused.FalsePositiveRate(512, 8, 10)), "%+v", refused)
		require.True(t, math.IsNaN(refused.EstimateCount(512, 8, 10)), "%+v", refused)
	}
	require.True(t, math.IsNaN(Blocked.FalsePositiveRate(100, 8, 10)))
	require.True(t, math.IsNaN(Blocked.FalsePositiveRate(512, 7, 10)))
}

// A rateCase measures the rate of several independent filters, each filled with
// n keys, on keys that were never added.
type rateCase struct {
	n       uint64
	p       float64
	filters uint64
	probes  uint64 // over all filters
}

// TestRateIsKept compares the measured rate with three numbers: the rate that the
// filters' bits give (both sides), the rate that FalsePositiveRate predicts (both sides), and
// the promised p (one side). The keys are fixed: a failure repeats.
func TestRateIsKept(t *testing.T) {
	cases := []rateCase{
		{1, 0.01, 20_000, 400_000},
		{2, 1e-3, 20_000, 2_000_000},
		{10, 0.5, 2000, 200_000},
		{10, 1e-4, 2000, 4_000_000},
		{100, 0.1, 400, 200_000},
		{100, 1e-3, 400, 2_000_000},
		{1000, 0.03, 40, 400_000},
		{10_000, 1e-4, 8, 4_000_000},
		{100_000, 0.01, 2, 400_000},
		// The textbook's double hashing has 50 to 90 times this p, and Blocked sized by the
		// textbook's formula 30 times.
		{3, 1e-6, 2000, 20_000_000},
		{100, 1e-6, 400, 20_000_000},
	}
	if *testkit.Long {
		cases = append(cases, rateCase{1_000_000, 0.1, 1, 10_000_000}, rateCase{1_000_000, 1e-3, 4, 40_000_000},
			rateCase{1_000_000, 1e-5, 4, 200_000_000}, rateCase{10_000_000, 0.01, 1, 100_000_000})
	}
	for _, s := range builtins {
		for _, c := range cases {
			if c.p == 1e-6 && s.NeedsKey() {
				continue // k hashes a key: too slow
			}
			t.Run(fmt.Sprintf("strategy=%s/n=%d/p=%g", s, c.n, c.p), func(t *testing.T) {
				t.Parallel()
				part := uint64(testkit.Times(20, 10, 1))
				c.filters, c.probes = max(1, c.filters/part), c.probes/part
				c.check(t, s)
			})
		}
	}
}

func (c rateCase) check(t *testing.T, s Strategy) {
	var b [40]byte
	add := func(f *BloomFilter, i uint64) { f.Add(key40(&b, i)) }
	contains := func(f *BloomFilter, i uint64) bool { return f.Contains(key40(&b, i)) }
	if !s.NeedsKey() {
		add = func(f *BloomFilter, i uint64) { f.AddDigest(digestOf(i)) }
		contains = func(f *BloomFilter, i uint64) bool { return f.ContainsDigest(digestOf(i)) }
	}
	f := MustNew(c.n, c.p, WithStrategy(s))
	params, s := f.Params(), f.Scheme().Strategy()
	predicted := s.FalsePositiveRate(params.M, params.K, c.n)
	if predicted > c.p {
		t.Fatalf("%+v: the predicted rate %v is above p", params, predicted)
	}
	each := c.probes / c.filters
	next := uint64(0) // no key twice, in all filters together
	measured, realised, variance := 0.0, 0.0, 0.0
	for range c.filters {
		f.Clear()
		for range c.n {
			add(f, next)
			next++
		}
		rate := f.Stats().EstimatedFalsePositiveRate
		realised += rate * float64(each)
		variance += math.Pow(rate-predicted, 2) * float64(each) * float64(each)
		for range each {
			if contains(f, next) {
				measured++
			}
			next++
		}
	}
	total := float64(c.filters * each)
	noise := math.Sqrt(realised + 1)              // of the probes, given the bits
	spread := math.Sqrt(variance + realised + 1)  // with that of the bits
	limit := c.p*total + 4*math.Sqrt(c.p*total+1) // what p allows
	t.Logf("m=%d k=%d measured=%.3g realised=%.3g predicted=%.3g (%+.1f sigma)",
		params.M, params.K, measured/total, realised/total, predicted, (measured-predicted*total)/spread)
	if math.Abs(measured-realised) > 4*noise {
		t.Errorf("measured %.0f false positives, the bits give %.1f ± %.1f", measured, realised, noise)
	}
	if math.Abs(measured-predicted*total) > 4*spread {
		t.Errorf("measured %.0f false positives, predicted are %.1f ± %.1f", measured, predicted*total, spread)
	}
	if measured > limit+4*(spread-noise) {
		t.Errorf("measured %.0f false positives, p = %v allows %.1f", measured, c.p, limit)
	}
}

// BenchmarkParams sizes for an n and p that nobody has asked for before.
func BenchmarkParams(b *testing.B) {
	for _, s := range Strategies() {
		for _, n := range []uint64{16, 1000, 1_000_000} {
			for _, p := range []float64{0.1, 0.01, 1e-6} {
				b.Run(fmt.Sprintf("strategy=%s/n=%d/p=%v", s, n, p), func(b *testing.B) {
					b.ReportAllocs()
					p := p
					for b.Loop() {
						p = math.Nextafter(p, 1)
						if _, err := sizeFor(n, p, s); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
