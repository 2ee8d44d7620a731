package bloom

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom/internal/lockstep"

	"github.com/stretchr/testify/require"
)

// TestFilterForNoKeys: n = 0 is the smallest filter, and no less of a filter.
func TestFilterForNoKeys(t *testing.T) {
	for _, s := range append([]Strategy{Blocked}, allStrategies...) {
		for _, p := range []float64{0.5, 0.01, 1e-9} {
			if s == SplitBlock {
				p = max(p, minSplitP)
			}
			f, err := New(0, p, WithStrategy(s))
			require.NoError(t, err, "%s p=%v", s, p)
			params, err := ParamsFor(0, p, s)
			require.NoError(t, err)
			require.Equal(t, params, f.Params())
			require.Zero(t, params.N)
			require.Equal(t, p, params.P)
			require.Equal(t, s.get().sizedUnit(), params.M)
			require.Zero(t, f.Strategy().FalsePositiveRate(params.M, params.K, 0))
			require.False(t, f.ContainsString("x"))
			for i := range 200 {
				key := fmt.Append(nil, i)
				f.Add(key)
				require.True(t, f.Contains(key))
			}
			require.Zero(t, f.Stats().Load())

			again, err := NewWithParams(params, WithStrategy(s))
			require.NoError(t, err)
			require.True(t, again.Compatible(f))
			encoded, err := f.MarshalBinary()
			require.NoError(t, err)
			var back BloomFilter
			if s.get().own() {
				continue
			}
			require.NoError(t, back.UnmarshalBinary(encoded))
			require.True(t, back.Equal(f))
			require.Equal(t, params, back.Params())
		}
	}
	_, err := New(0, 1)
	require.ErrorIs(t, err, ErrInvalid)
}

// TestSmallFiltersAllocateLittle: their number of allocations, whether the scheme is
// found or made, and the memory that a filter of 100 keys lives in.
func TestSmallFiltersAllocateLittle(t *testing.T) {
	if lockstep.RaceDetector {
		t.Skip("NOT TESTED with the race detector: allocations, of which it makes some itself")
	}
	for _, s := range []Strategy{DoubleHashing, SeededHashing, Blocked} {
		option := WithStrategy(s)
		p := 0.01
		require.LessOrEqual(t, testing.AllocsPerRun(500, func() {
			p = math.Nextafter(p, 1)
			MustNew(100, p, option)
		}), 4.0, "%s: options, scheme, filter and bits", s)
		require.LessOrEqual(t, testing.AllocsPerRun(500, func() { MustNew(100, 0.01, option) }), 3.0, "%s", s)
	}
	const filters = 20_000
	kept := make([]*BloomFilter, filters)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		kept[i] = MustNew(100, 0.01)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / filters
	require.LessOrEqual(t, each, 240.0)
	runtime.KeepAlive(kept)
	t.Logf("%.0f bytes for each filter, %d of them bits", each, kept[0].SizeBytes())
}

// TestRecentSchemes: what is remembered is what would be made anew, for every request, in
// whatever order and by however many goroutines they come.
func TestRecentSchemes(t *testing.T) {
	var hashes = [][]Option{nil, {WithSeed(7)}, {WithHash(MapHash)}}
	strategies := []Strategy{DoubleHashing, Blocked, Blocked4, NewStrategy("", Definition{Index: doubleIndex}), NewStrategy("", Definition{Index: doubleIndex})}
	fresh := map[string]string{}
	request := func(i int) (name string, s Scheme) {
		n, p := uint64(1+i%97), []float64{0.1, 0.01, 1e-3}[i%3]
		strategy, hash := i/3%len(strategies), i/15%len(hashes)
		s, err := NewScheme(n, p, append([]Option{WithStrategy(strategies[strategy])}, hashes[hash]...)...)
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprint(n, p, strategy, hash), s
	}
	describe := func(s Scheme) string { return fmt.Sprint(s.Params(), s.Identity()) }
	const requests = 5000
	for i := range requests {
		for place := range recentSchemes {
			recentSchemes[place].Store(nil)
		}
		name, s := request(i)
		fresh[name] = describe(s)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range requests {
				name, s := request(i * (1 + 2*g) % requests / (1 + i%3))
				if got := describe(s); got != fresh[name] {
					t.Errorf("%s: %s, want %s", name, got, fresh[name])
				}
			}
		})
	}
	wg.Wait()
	if same, again := MustNew(9, 0.2), MustNew(9, 0.2); same.scheme != again.scheme {
		t.Error("the same request, and nothing between, made a new scheme")
	}
	if keyed, again := MustNew(9, 0.2, WithKey(testKey)), MustNew(9, 0.2, WithKey(testKey)); keyed.scheme == again.scheme {
		t.Error("a scheme with a secret key was kept")
	}
	_, err := New(9, 0.2, WithMaxBytes(1))
	require.ErrorIs(t, err, ErrTooLarge)
}

func BenchmarkNewSmall(b *testing.B) {
	for _, s := range []Strategy{DoubleHashing, SeededHashing, Blocked} {
		for _, n := range []uint64{16, 100, 1000} {
			b.Run(fmt.Sprintf("strategy=%s/n=%d/asked=again", s, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					MustNew(n, 0.01, WithStrategy(s))
				}
			})
			b.Run(fmt.Sprintf("strategy=%s/n=%d/asked=first", s, n), func(b *testing.B) {
				b.ReportAllocs()
				p := 0.01
				for b.Loop() {
					p = math.Nextafter(p, 1)
					MustNew(n, p, WithStrategy(s))
				}
			})
		}
	}
	b.Run("strategy=default/n=100/asked=again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			MustNew(100, 0.01)
		}
	})
}
