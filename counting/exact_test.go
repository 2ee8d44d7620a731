package counting

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
)

// TestAgainstExactModel runs random adds and removes against a map that counts, and
// asks for every key that is there and for as many that are not.
func TestAgainstExactModel(t *testing.T) {
	ops := effort.Times(60_000, 200_000, 20_000_000)
	const n, p = 2000, 0.01
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		f := must(n, p, bloom.WithStrategy(s))
		random := rand.New(rand.NewPCG(5, uint64(len(s.Name()))))
		there := map[uint64]int{} // key: how often
		list := []uint64{}        // the keys of there
		at := map[uint64]int{}    // where in the list
		var b [16]byte
		asked, wrong, expected, next := 0, 0, 0.0, uint64(0)
		lied := 0 // keys that were new, and Add said no
		for op := range ops {
			switch x := random.Uint64() % 8; {
			case x < 4 && len(list) < n: // a new key
				if !f.Add(key(&b, next)) {
					lied++
				}
				there[next], at[next] = 1, len(list)
				list = append(list, next)
				next++
			case x == 4 && len(list) > 0: // one that is there, so that some counters are full at last
				k := list[random.IntN(len(list))]
				if there[k] < 3 {
					if f.Add(key(&b, k)) {
						t.Fatalf("%v: op %d: Add of a key that is there = true", f, op)
					}
					there[k]++
				}
			case len(list) > 0:
				k := list[random.IntN(len(list))]
				if !f.Remove(key(&b, k)) {
					t.Fatalf("%v: op %d: Remove of a key that is there = false", f, op)
				}
				if there[k]--; there[k] == 0 {
					delete(there, k)
					last := list[len(list)-1]
					list[at[k]], at[last] = last, at[k]
					list = list[:len(list)-1]
					delete(at, k)
				}
			}
			if op%(n*8) == 0 {
				for k := range there {
					if !f.Contains(key(&b, k)) {
						t.Fatalf("%v: op %d: a key is missing", f, op)
					}
				}
				rate := f.Stats().EstimatedFalsePositiveRate
				for i := range uint64(20_000) {
					asked++
					expected += rate
					if f.Contains(key(&b, 1<<40+uint64(op)<<20+i)) {
						wrong++
					}
				}
			}
		}
		t.Logf("%v: %d operations, %d keys, %d at the end, %d of %d absent ones found (%.3f %%, by the fill %.3f %%), %d new ones not seen as new, %d counters full",
			f, ops, next, len(list), wrong, asked, 100*float64(wrong)/float64(asked), 100*expected/float64(asked), lied, f.Full())
		if limit := p*float64(asked) + 4*math.Sqrt(p*float64(asked)); float64(wrong) > limit {
			t.Errorf("%v: %d false positives of %d, want at most %.0f", f, wrong, asked, limit)
		}
		if sigma := math.Sqrt(expected + 1); math.Abs(float64(wrong)-expected) > 5*sigma {
			t.Errorf("%v: %d false positives, by the fill %.0f ± %.0f", f, wrong, expected, sigma)
		}
		if limit := p*float64(next) + 4*math.Sqrt(p*float64(next)); float64(lied) > limit {
			t.Errorf("%v: %d new keys of %d not seen as new, want at most %.0f", f, lied, next, limit)
		}
	}
}

// TestConcurrent: goroutines add and remove keys of their own, which share counters with
// those of the others. None may ever miss one, and in the end all counters are 0.
func TestConcurrent(t *testing.T) {
	rounds := effort.Times(300, 300, 20_000)
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		f := must(64, 0.01, bloom.WithStrategy(s))
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Go(func() {
				var b [16]byte
				for range rounds {
					for i := range uint64(16) {
						f.Add(key(&b, g<<32+i))
					}
					for i := range uint64(16) {
						if !f.Contains(key(&b, g<<32+i)) {
							t.Errorf("%v: a key is missing", f)
							return
						}
					}
					for i := range uint64(16) {
						if !f.Remove(key(&b, g<<32+i)) {
							t.Errorf("%v: Remove of a key that is there = false", f)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if ones := f.Stats().Ones; ones != 0 {
			t.Errorf("%v: %d counters are not 0 after everything was removed", f, ones)
		}
	}
}
