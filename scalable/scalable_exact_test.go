package scalable

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestAgainstExactModel adds random keys, some of them again, to filters and to a map. It looks up
// all keys and measures the rate as the filters grow.
func TestAgainstExactModel(t *testing.T) {
	ops, probes := testkit.Times(40_000, 200_000, 10_000_000), testkit.Times(4000, 20_000, 20_000)
	for _, c := range []struct {
		n    uint64
		p    float64
		opts []bloom.Option
	}{
		{1000, 0.01, nil},
		{1, 0.001, nil},
		{1000, 0.01, []bloom.Option{bloom.WithStrategy(bloom.Blocked), bloom.WithHash(bloom.RapidHash)}},
	} {
		f := must(c.n, c.p, c.opts...)
		random := rand.New(rand.NewPCG(1, c.n))
		known, added := map[uint64]bool{}, []uint64{}
		var b [16]byte
		lied, check := 0, 100
		for op := 1; op <= ops; op++ {
			x := random.Uint64() >> 1 // Absent asks for others
			if op > 1 && x%4 == 0 {
				x = added[random.IntN(len(added))]
			}
			won, err := f.Add(key(&b, x))
			if err != nil || won && known[x] {
				t.Fatalf("%v: op %d: %v, %v", f, op, won, err)
			}
			if !known[x] {
				known[x], added = true, append(added, x)
				if !won {
					lied++
				}
			}
			if op == check || op == ops {
				check = check * 3 / 2
				for _, x := range added {
					if !f.Contains(key(&b, x)) {
						t.Fatalf("%v: op %d: a key is missing", f, op)
					}
				}
				wrong := layeredtest.Absent(f, 1<<63+uint64(op)<<32, probes)
				layeredtest.AtMost(t, f.String()+": absent keys found", wrong, probes, c.p, 5)
			}
		}
		t.Logf("%v: %d operations, %d of %d new keys not seen as new", f, ops, lied, len(added))
		layeredtest.AtMost(t, f.String()+": new keys not seen as new", lied, len(added), c.p, 4)
	}
}

// holdNoMore fails if a layer has more keys than it is for, by its bits.
func holdNoMore(t *testing.T, f *Filter) {
	t.Helper()
	for i, l := range *f.layers.Load() {
		if count, n := l.BloomFilter.Stats().EstimatedCount, float64(l.Params().N); float64(count) > n+4*math.Sqrt(n)+2 {
			t.Errorf("layer %d is for %v keys and has about %d", i, n, count)
		}
	}
}
