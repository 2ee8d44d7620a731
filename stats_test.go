package bloom

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"sort"
	"testing"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestStatsAreTheFilters: numbers that other methods have too, at several loads.
func TestStatsAreTheFilters(t *testing.T) {
	const n = 5000
	for _, s := range allStrategies {
		f := MustNew(n, 0.01, WithStrategy(s))
		var b [40]byte
		added := uint64(0)
		for _, load := range []uint64{0, 1, n / 2, n, 3 * n} {
			for ; added < load; added++ {
				f.Add(key40(&b, added))
			}
			st := f.Stats()
			require.Equal(t, f.Params(), st.Params)
			require.Equal(t, f.Scheme().Strategy().Name(), st.Strategy)
			require.Equal(t, f.SizeBytes(), st.SizeBytes)
			require.Equal(t, f.Scheme().Hash().Name(), st.Hash)
			require.Equal(t, f.bits.count(), st.Ones, "%s", s)
			require.InDelta(t, load, st.EstimatedCount, 4*math.Sqrt(n))
			require.Equal(t, load == 0, st.Ones == 0 && st.EstimatedCount == 0 && st.EstimatedFalsePositiveRate == 0)
		}
	}
}

func TestEstimatedCountOfFullFilter(t *testing.T) {
	f := MustNew(100, 0.01)
	for i := range f.Params().M {
		f.bits.set(i)
	}
	require.Equal(t, uint64(math.MaxUint64), f.Stats().EstimatedCount)
}

// TestOverPAtTheMargin: what OverP makes of numbers that filters rarely have.
func TestOverPAtTheMargin(t *testing.T) {
	for _, c := range []struct {
		keys uint64
		p    float64 // the rate
		m    uint64
		over bool
	}{
		{1052, 0.011, 10_240, false}, // six standard deviations are 52.4 keys, of which blocks add 4.3
		{1053, 0.011, 10_240, true},
		{2000, 0.01, 10_240, false}, // the rate is not above P
		{math.MaxUint64, 1, 64, true},
	} {
		s := Stats{Params: Params{N: 1000, P: 0.01, M: c.m, K: 8}, EstimatedCount: c.keys, EstimatedFalsePositiveRate: c.p}
		require.Equal(t, c.over, s.OverP(), "%+v", s)
		s.P = 0
		require.False(t, s.OverP(), "P is unknown")
	}
	full := Stats{Params: Params{N: 1_000_000, P: 0.01, M: 64, K: 1}, EstimatedCount: math.MaxUint64, EstimatedFalsePositiveRate: 1}
	require.True(t, full.OverP())
}

// TestOverP: filters with at most n keys are never over p. Filters for 10,000 keys or more are, with the keys that make
// the rate twice p, and with many more. The digests are fixed, so nothing depends on chance.
func TestOverP(t *testing.T) {
	key := uint64(0)
	add := func(f *BloomFilter, keys uint64) {
		for ; keys > 0; keys-- {
			key++
			f.AddDigest(mix(2*key), mix(2*key+1))
		}
	}
	for _, s := range allStrategies {
		if s.NeedsKey() {
			continue // has the bits of independent positions, as DoubleHashing has
		}
		for _, p := range []float64{0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9} {
			for _, n := range []uint64{0, 1, 2, 3, 5, 10, 30, 100, 1000, 10_000} {
				f, err := New(n, p, WithStrategy(s))
				if err != nil {
					require.ErrorIs(t, err, ErrInvalid) // SplitBlock does not reach p
					continue
				}
				m, k := f.Params().M, f.Params().K
				for range min(200, 20_000/(n+1)) {
					f.Clear()
					add(f, n)
					require.False(t, f.Stats().OverP(), "%v with n keys: %+v", f, f.Stats())
				}
				if n < 10_000 {
					continue
				}
				twice := n + uint64(sort.Search(int(4*n), func(more int) bool { return s.FalsePositiveRate(m, k, n+uint64(more)) >= 2*p }))
				if s.FalsePositiveRate(m, k, twice) < 2*p {
					continue // no number of keys has rate 1
				}
				f.Clear()
				add(f, twice)
				if st := f.Stats(); st.EstimatedFalsePositiveRate > p { // a filter of Blocked may be below by chance
					require.True(t, st.OverP(), "%v with %d keys: %+v", f, twice, st)
				}
				add(f, 3*n)
				require.True(t, f.Stats().OverP(), "%v far above n: %+v", f, f.Stats())
			}
		}
	}
	unknown := must(newWithParams(Params{M: 640, K: 3}))
	add(unknown, 1000)
	require.False(t, unknown.Stats().OverP())
	f := MustNew(100, 0.01)
	for i := range f.Params().M {
		f.bits.set(i)
	}
	require.True(t, f.Stats().OverP(), "full")
}

func TestStatsMarshal(t *testing.T) {
	f := MustNew(1000, 0.01, WithSecret(testKey), WithStrategy(Blocked))
	f.AddString("x")
	got := must(json.Marshal(f.Stats()))
	require.JSONEq(t, fmt.Sprintf(`{"n":1000,"p":0.01,"m":%d,"k":%d,"strategy":"blocked","hash":"siphash","size_bytes":%d,
		"ones":%d,"estimated_count":1,"estimated_false_positive_rate":%v}`,
		f.Params().M, f.Params().K, f.SizeBytes(), f.bits.count(), f.Stats().EstimatedFalsePositiveRate), string(got))
	var back Stats
	require.NoError(t, json.Unmarshal(got, &back))
	require.Equal(t, f.Stats(), back)

	for i := range f.Params().M { // full: nothing in it may be unfit for JSON
		f.bits.set(i)
	}
	got = must(json.Marshal(f.Stats()))
	require.Contains(t, string(got), `"estimated_count":18446744073709551615`)
}

// TestEstimateCountOfStrategies: the formula for bits that are elsewhere.
func TestEstimateCountOfStrategies(t *testing.T) {
	for _, s := range allStrategies {
		f := MustNew(1000, 0.01, WithStrategy(s))
		for i := range uint64(700) {
			f.Add(binary.LittleEndian.AppendUint64(nil, i))
		}
		m, k, x := f.Params().M, f.Params().K, f.bits.count()
		require.Equal(t, f.Stats().EstimatedCount, uint64(math.Round(f.Scheme().Strategy().EstimateCount(m, k, x))), s)
		require.Zero(t, f.Scheme().Strategy().EstimateCount(m, k, 0), s)
		require.True(t, math.IsInf(f.Scheme().Strategy().EstimateCount(m, k, m), 1), s)
		for name, n := range map[string]float64{
			"x > m": f.Scheme().Strategy().EstimateCount(m, k, m+1),
			"m = 0": f.Scheme().Strategy().EstimateCount(0, k, 0),
			"k = 0": f.Scheme().Strategy().EstimateCount(m, 0, x),
		} {
			require.True(t, math.IsNaN(n), "%s, %s: %v", s, name, n)
		}
	}
	require.True(t, math.IsNaN(Blocked.EstimateCount(512, 7, 1)), "seven bits in two words")
	require.True(t, math.IsNaN(Blocked.EstimateCount(513, 8, 1)), "half a block")
	require.InEpsilon(t, 1000, DoubleHashing.EstimateCount(9600, 7, 4970), 0.01)
}

// TestSplitRateOfFewKeys: the rate that follows from the bits is that of all 2^32 values, which
// determine the bits of a key in its block, for blocks of one and two keys.
func TestSplitRateOfFewKeys(t *testing.T) {
	t.Parallel()
	blocks := uint64(testkit.Times(1, 1, 4))
	inverse := uint32(1) // of the first lane's multiplier, modulo 2^32
	for range 5 {
		inverse *= 2 - inverse*0x47b6137b
	}
	for keys := uint64(1); keys <= 2; keys++ {
		f := must(newWithParams(Params{M: blocks * splitBits, K: splitK}, WithStrategy(SplitBlock)))
		for i := range blocks * keys {
			f.AddDigest(i/keys<<62|mix(i)>>32, 0)
		}
		covered := 0
		for b := range blocks {
			words := f.bits[b*4:][:4]
			for lane0 := uint32(words[0].Load()); lane0 != 0; lane0 &= lane0 - 1 {
				first := uint32(bits.TrailingZeros32(lane0)) << 27
				for rest := range uint32(1 << 27) {
					x := uint64((first + rest) * inverse)
					lane1 := probe.SplitBit(x, 1)
					if words[0].Load()>>lane1&1 != 0 && f.ContainsDigest(b<<62|x, 0) {
						covered++
					}
				}
			}
		}
		want := f.Stats().EstimatedFalsePositiveRate * (1 << 32) * float64(blocks)
		sigma := math.Sqrt(math.Pow(float64(keys)/32, 8) * (1 << 32) * float64(blocks)) // of the values that no key has
		require.InDelta(t, want, covered, 4*sigma+0.1, "%d keys in each block", keys)
	}
}

// TestEstimatedCountIsUnbiased: over many filters the mean is the true count, and the standard
// error what the documentation says, from a tenth of n up to three times n. (At four times, that
// of eight words per key at p = 0.1 is 1.2/√n.)
func TestEstimatedCountIsUnbiased(t *testing.T) {
	sequential(t)
	t.Parallel()
	const n = 1000
	filters := testkit.Times(10, 10, 200)
	for _, s := range allStrategies {
		for _, p := range []float64{0.1, 1e-3} {
			f := MustNew(n, p, WithStrategy(s))
			loads := []float64{0.1, 0.5, 1, 2, 3}
			mean, squares := make([]float64, len(loads)), make([]float64, len(loads))
			var b [40]byte
			key := uint64(0)
			for range filters {
				f.Clear()
				added := uint64(0)
				for i, load := range loads {
					for ; added < uint64(load*n); added++ {
						f.Add(key40(&b, key))
						key++
					}
					ratio := float64(f.Stats().EstimatedCount) / float64(added)
					mean[i] += ratio / float64(filters)
					squares[i] += ratio * ratio / float64(filters)
				}
			}
			for i, load := range loads {
				sd := math.Sqrt(squares[i] - mean[i]*mean[i])
				if limit := 1 / math.Sqrt(n); sd > limit { // at most 0.71 of it, from 600 filters
					t.Errorf("%s p=%v load=%v: standard error %.4f of the count, want less than %.4f", s, p, load, sd, limit)
				}
				// The logarithm is not straight: a bias of the order of 1/n. A deviation
				// from ten filters may be far too small: it counts as at least the usual one.
				usual := 0.35 / math.Sqrt(n)
				if off := math.Abs(mean[i] - 1); off > 4*max(sd, usual)/math.Sqrt(float64(filters))+2/float64(n) {
					t.Errorf("%s p=%v load=%v: mean %.5f of the count ± %.5f", s, p, load, mean[i], sd/math.Sqrt(float64(filters)))
				}
			}
		}
	}
}

// TestEstimatesFollowTheTruth: count and rate from a hundredth of n up to a filter with hardly
// an unset bit.
func TestEstimatesFollowTheTruth(t *testing.T) {
	sequential(t)
	t.Parallel()
	const n = 10_000
	probes := uint64(testkit.Times(40_000, 40_000, 400_000))
	for _, s := range allStrategies {
		f := MustNew(n, 0.01, WithStrategy(s))
		params := f.Params()
		var b [40]byte
		added, asked := uint64(0), uint64(1<<40)
		for _, load := range []float64{0.01, 0.5, 1, 2, 4, 20} {
			for ; added < uint64(load*n); added++ {
				f.Add(key40(&b, added))
			}
			if load <= 4 { // four standard errors
				require.InEpsilon(t, load*n, f.Stats().EstimatedCount, 4/math.Sqrt(min(load, 1)*n)+0.5/(load*n), "%s load=%v", s, load)
			}
			estimate := f.Stats().EstimatedFalsePositiveRate
			hits := 0.0
			for range probes {
				if f.Contains(key40(&b, asked)) {
					hits++
				}
				asked++
			}
			want := estimate * float64(probes)
			sigma := math.Sqrt(want*(1-estimate) + 1)
			if math.Abs(hits-want) > 4*sigma {
				t.Errorf("%s load=%v: %.0f of %d lookups, the estimate gives %.0f ± %.0f", s, load, hits, probes, want, sigma)
			}
			// One filter differs from the mean of all by a few percent at half load, where the
			// bits vary most, and by less and less as they fill up.
			predicted := f.Scheme().Strategy().FalsePositiveRate(params.M, params.K, added)
			if math.Abs(estimate-predicted) > 0.1*predicted*(1-predicted)+1e-4 {
				t.Errorf("%s load=%v: the estimate is %.5g, predicted are %.5g", s, load, estimate, predicted)
			}
			if load == 20 && (estimate < 0.99 || estimate > 1) {
				t.Errorf("%s: the estimated rate is %v after 20 times n keys", s, estimate)
			}
		}
	}
}

// TestEstimatesOfAnyFill: whatever bits are set, the estimates are numbers, rise
// with the bits, and only a filter with every bit set is said to be saturated.
func TestEstimatesOfAnyFill(t *testing.T) {
	for _, s := range allStrategies {
		for _, k := range []int{1, 2, 4, 8, 16, maxK} {
			f, err := newWithParams(Params{M: 1024, K: k}, WithStrategy(s))
			if !canHave(s, 1024, k) {
				require.ErrorIs(t, err, ErrInvalid)
				continue
			}
			require.NoError(t, err)
			count, rate := uint64(0), 0.0
			for x := range uint64(1024) {
				f.bits.set(x * 421 % 1024) // 421 is odd: each bit once
				c, r := f.Stats().EstimatedCount, f.Stats().EstimatedFalsePositiveRate
				if c < count || !(r >= rate && r <= 1) {
					t.Fatalf("%s k=%d, %d bits set: count %d after %d, rate %v after %v", s, k, x+1, c, count, r, rate)
				}
				if full := x == 1023; full != (c == math.MaxUint64) || full != (r == 1) {
					t.Fatalf("%s k=%d, %d bits set: count %d, rate %v", s, k, x+1, c, r)
				}
				count, rate = c, r
			}
		}
	}
}

func BenchmarkStats(b *testing.B) {
	for _, n := range []uint64{1_000_000, 10_000_000} {
		for _, s := range benchSchemes(n) {
			b.Run(benchName(s), func(b *testing.B) {
				f := full(s)
				b.SetBytes(int64(f.SizeBytes()))
				for b.Loop() {
					f.Stats()
				}
			})
		}
	}
}
