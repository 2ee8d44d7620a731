package scalable

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
)

// TestAgainstExactModel grows filters by random keys, new ones and old ones, next to a
// map of them, and measures the rate all along.
func TestAgainstExactModel(t *testing.T) {
	ops, probes := effort.Times(40_000, 200_000, 10_000_000), effort.Times(4000, 20_000, 20_000)
	for _, c := range []struct {
		n    uint64
		p    float64
		opts []Option
	}{
		{1000, 0.01, nil},
		{1, 0.001, nil},
		{100, 0.01, []Option{WithGrowth(4)}},
		{1000, 0.01, []Option{WithBloom(bloom.WithStrategy(bloom.Blocked), bloom.WithHash(bloom.MapHash))}},
	} {
		f := must(c.n, c.p, c.opts...)
		random := rand.New(rand.NewPCG(1, c.n))
		added := make([]uint64, 0, ops)
		known := map[uint64]bool{}
		var b [16]byte
		lied, asked, wrong, worst := 0, 0, 0, 0.0
		nextCheck := 100
		maphash := false // its seed is another in every run, so its bounds are wider
		if strings.Contains(f.scheme.String(), "maphash") {
			maphash = true
		}
		for op := range ops {
			x := random.Uint64()
			if len(added) > 0 && x%4 == 0 { // a key that is there
				x = added[random.IntN(len(added))]
			}
			yes, err := f.Add(key(&b, x))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case yes && known[x]:
				t.Fatalf("%v: op %d: a key is new for the second time", f, op)
			case !known[x]:
				known[x] = true
				added = append(added, x)
				if !yes {
					lied++
				}
			}
			if op == nextCheck || op == ops-1 {
				nextCheck = nextCheck * 3 / 2
				for range 1000 {
					if x := added[random.IntN(len(added))]; !f.Contains(key(&b, x)) {
						t.Fatalf("%v: op %d: a key is missing", f, op)
					}
				}
				here := 0
				for range probes {
					if x := random.Uint64(); f.Contains(key(&b, x)) {
						here++
					}
				}
				asked, wrong = asked+probes, wrong+here
				worst = max(worst, float64(here)/float64(probes))
			}
		}
		for _, x := range added {
			if !f.Contains(key(&b, x)) {
				t.Fatalf("%v: a key is missing", f)
			}
		}
		rate := f.Stats().EstimatedFalsePositiveRate
		t.Logf("%v: %d operations, %d of %d absent keys found (%.4f %%, at worst %.4f %%, by the fill now %.4f %%), %d of %d new ones not seen as new",
			f, ops, wrong, asked, 100*float64(wrong)/float64(asked), 100*worst, 100*rate, lied, len(added))
		sigmas := 4.0
		if maphash {
			sigmas = 7
		}
		atMost := func(what string, got, of int) {
			if limit := c.p*float64(of) + sigmas*math.Sqrt(c.p*float64(of)); float64(got) > limit {
				t.Errorf("%v: %s: %d of %d, want at most %.0f", f, what, got, of, limit)
			}
		}
		atMost("absent keys found", wrong, asked)
		atMost("new keys not seen as new", lied, len(added))
		// With half of its m bits set, the number of those varies by 0.28 √m, and with it the
		// rate by k times as much: that of the first layers, which are small, noticeably.
		variance := 0.0
		for _, l := range f.Layers() {
			variance += math.Pow(l.P*float64(l.K)*0.56, 2) / float64(l.M)
		}
		most := c.p + sigmas*math.Sqrt(variance)
		if rate > most {
			t.Errorf("%v: rate by the fill %v, want at most %v", f, rate, most)
		}
	}
}

// TestConcurrentGrowth: while goroutines add keys, partly the same, and layers are born,
// no key is lost, each has one winner, and no layer holds more than it is for.
func TestConcurrentGrowth(t *testing.T) {
	const goroutines = 4
	keys := effort.Times(2000, 20_000, 200_000)
	f := must(16, 1e-9)
	won := make([]atomic.Int32, keys)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			var b [16]byte
			for i := range keys {
				if yes, err := f.Add(key(&b, uint64(i))); err != nil {
					t.Error(err)
				} else if yes {
					won[i].Add(1)
				}
				if !f.Contains(key(&b, uint64(i))) {
					t.Errorf("goroutine %d: key %d is missing", g, i)
				}
			}
		})
	}
	wg.Wait()
	lost := 0
	for i := range won {
		switch n := won[i].Load(); n {
		case 1:
		case 0:
			lost++ // another key's add set its last bit
		default:
			t.Errorf("key %d has %d winners", i, n)
		}
	}
	if lost > keys/500 {
		t.Errorf("%d keys of %d have no winner", lost, keys)
	}
	for i, l := range *f.layers.Load() {
		if count, n := l.BloomFilter.Stats().EstimatedCount, l.Params().N; float64(count) > float64(n)+4*math.Sqrt(float64(n))+2 {
			t.Errorf("layer %d is for %d keys and has about %d", i, n, count)
		}
	}
}
