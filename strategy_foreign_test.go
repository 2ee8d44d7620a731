package bloom

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// TestMitzOnSignedNumbers compares with Java's own expressions, on a digest whose
// halves are negative there.
func TestMitzOnSignedNumbers(t *testing.T) {
	// h1 = 0xe34bbc7bbc071b6c: both halves are negative as int32, the whole as int64.
	h1, h2 := murmur3.Sum128([]byte("The quick brown fox jumps over the lazy dog"))
	require.Equal(t, [2]uint64{0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347}, [2]uint64{h1, h2})
	const m = 7_298_432
	for i := range 20 {
		c := int64(h1) + int64(i)*int64(h2)
		require.Equal(t, uint64((c&math.MaxInt64)%m), mitz64Index(h1, h2, i, m))
		x := int32(h1&math.MaxUint32) + int32(i+1)*int32(h1>>32)
		if x < 0 {
			x = ^x
		}
		require.Equal(t, uint64(int64(x)%m), mitz32Index(h1, h2, i, m))
	}
}

// TestSum256 compares with the library's hash of the key that has the 1 behind it.
func TestSum256(t *testing.T) {
	key := make([]byte, 300)
	for i := range key {
		key[i] = byte(mix(uint64(i)))
	}
	for _, seed := range []uint64{0, 42, math.MaxUint64} {
		for n := range len(key) - 1 {
			var want digest256
			want[0], want[1] = murmur3.SeedSum128(seed, seed, key[:n])
			want[2], want[3] = murmur3.SeedSum128(seed, seed, append(key[:n:n], 1))
			if got := sum256(seed, key[:n]); got != want {
				t.Fatalf("%d bytes: %x, want %x", n, got, want)
			}
		}
	}
}

// TestMitz32BeyondItsReach: the rate and the estimates of a filter whose upper half
// no key can reach are those of the lower half.
func TestMitz32BeyondItsReach(t *testing.T) {
	_, err := New(300_000_000, 0.01, WithStrategy(GuavaMitz32))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `strategy "guava-mitz-32" reaches no more than 2147483648`)
	_, err = ParamsFor(200_000_000, 0.01, GuavaMitz32)
	require.NoError(t, err)

	const n = 200_000_000
	m := uint64(1) << 31
	require.Equal(t, GuavaMitz64.FalsePositiveRate(m, 7, n), GuavaMitz32.FalsePositiveRate(m, 7, n))
	require.Equal(t, GuavaMitz64.FalsePositiveRate(m, 7, n), GuavaMitz32.FalsePositiveRate(4*m, 7, n))
	require.Less(t, GuavaMitz64.FalsePositiveRate(4*m, 7, n), GuavaMitz32.FalsePositiveRate(4*m, 7, n))

	large, err := NewSchemeWithParams(Params{M: 4 * m, K: 7}, WithStrategy(GuavaMitz32))
	require.NoError(t, err, "there to be read")
	f := large.scheme.filter(makeWords(16)) // the words that are not 0
	for i := range uint64(1024) {
		f.bits.set(i)
	}
	require.Equal(t, uint64(math.Round(EstimatedN(m, 7, 1024))), f.EstimatedCount())
	require.Equal(t, math.Pow(1024.0/float64(m), 7), f.EstimatedFalsePositiveRate())
}

// TestSpread holds the rate and the estimates of uneven positions to a simulation, with
// fewer values than GuavaMitz32 has.
func TestSpread(t *testing.T) {
	const values, keys, k = 1 << 14, 1200, 4
	for _, share := range []float64{0.3, 0.5, 0.71, 0.9, 1, 1.5} {
		m := uint64(share * values)
		s := spreadOver(values, m)
		require.InEpsilon(t, 1, float64(s.low)*s.often+float64(s.m-s.low)*s.seldom, 1e-12)
		random := rand.New(rand.NewPCG(5, m))
		const filters, probes = 60, 20_000
		measured, estimate, fromBits := 0.0, 0.0, 0.0
		for range filters {
			b := makeWords(wordsFor(m))
			for range keys * k {
				b.set(random.Uint64N(values) % m)
			}
			low, high := b.countAround(s.low)
			require.Equal(t, b.count(), low+high)
			fromBits += s.rate(float64(low), float64(high), k) / filters
			estimate += s.estimatedN(k, low+high) / filters
			for range probes {
				found := uint64(1)
				for range k {
					found &= b.get(random.Uint64N(values) % m)
				}
				measured += float64(found) / (filters * probes)
			}
		}
		want := rate.Expanded(s.reach(), k, keys) * s.factor(k, keys)
		sigma := math.Sqrt(want / (filters * probes))
		require.InDelta(t, want, measured, 4*sigma, "m = %v of the values, factor %v", share, s.factor(k, keys))
		require.InDelta(t, fromBits, measured, 4*sigma)
		require.InEpsilon(t, keys, estimate, 0.005, "m = %v of the values", share)
	}
	require.True(t, math.IsInf(spreadOver(values, 10_000).estimatedN(k, 10_000), 1))
	require.Zero(t, spreadOver(values, 10_000).estimatedN(k, 0))
}

// TestMitz32KeepsItsRateNearItsReach: sized as if its positions were even, 106.8 million
// keys at 0.1 % would have 1.67 times their rate.
func TestMitz32KeepsItsRateNearItsReach(t *testing.T) {
	const n, p = 106_800_000, 1e-3
	even, err := ParamsFor(n, p, GuavaMitz64)
	require.NoError(t, err)
	require.InEpsilon(t, 1.673*p, GuavaMitz32.FalsePositiveRate(even.M, even.K, n), 0.001)
	params, err := ParamsFor(n, p, GuavaMitz32)
	require.NoError(t, err)
	require.InDelta(t, 1.08, float64(params.M)/float64(even.M), 0.01)
	require.LessOrEqual(t, GuavaMitz32.FalsePositiveRate(params.M, params.K, n), p)
	require.Greater(t, GuavaMitz32.FalsePositiveRate(params.M-64, params.K, n), p)
	low, high := spreadOver(mitz32Values, params.M).ones(params.K, n)
	require.InEpsilon(t, n, GuavaMitz32.EstimatedN(params.M, params.K, uint64(low+high)), 1e-6)
	_, err = ParamsFor(n, 1e-6, GuavaMitz32)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestLargeKIsForForeignStrategies(t *testing.T) {
	for _, s := range allStrategies {
		p := Params{M: 512 * 64, K: 64}
		if !canHave(s, p.M, p.K) {
			continue
		}
		_, err := NewWithParams(p, WithStrategy(s))
		require.NoError(t, err)
		p.K = 72
		_, err = NewWithParams(p, WithStrategy(s))
		if s.get().MaxK != maxOwnK {
			require.ErrorIs(t, err, ErrInvalid)
			require.ErrorContains(t, err, "k = 72 bits a key, want 1 to 64")
			continue
		}
		require.NoError(t, err)
		p.K = 256
		_, err = NewWithParams(p, WithStrategy(s))
		require.ErrorContains(t, err, "k = 256 bits a key, want 1 to 255")
		p.K = 255
		f, err := NewWithParams(p, WithStrategy(s))
		require.NoError(t, err)
		for i := range uint64(80) {
			f.AddString(formatUint(i))
		}
		require.InEpsilon(t, 80, f.EstimatedCount(), 0.02)
		require.InEpsilon(t, s.FalsePositiveRate(p.M, 255, 80), f.EstimatedFalsePositiveRate(), 0.9)
	}
}

// BenchmarkForeign is of the other systems' strategies in the first-level cache; add
// is of keys that are new to a filter that is emptied when it is full.
func BenchmarkForeign(b *testing.B) {
	const n = 10_000
	for _, s := range foreigns {
		run := func(name string, setup func(Strategy, uint64) *BloomFilter, number func(i, n uint64) uint64, op func(f *BloomFilter, key []byte) bool) {
			b.Run("strategy="+s.Name()+"/op="+name, func(b *testing.B) {
				f := setup(s, n)
				var keys keyRing
				b.ReportAllocs()
				for i := uint64(0); b.Loop(); i++ {
					if name == "add" && i%n == 0 {
						f.Clear()
					}
					op(f, keys.next(i, number(i, n)))
				}
			})
		}
		empty := func(s Strategy, n uint64) *BloomFilter { return MustNew(n, 0.01, WithStrategy(s)) }
		run("add", empty, absent, (*BloomFilter).Add)
		run("duplicate", full, present, (*BloomFilter).Add)
		run("hit", full, present, (*BloomFilter).Contains)
		run("miss", full, func(i, _ uint64) uint64 { return 1<<40 + i }, (*BloomFilter).Contains)
	}
}
