package counting

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestAgainstExactModel adds and removes random keys, some of them several times, and looks up all
// that are present and as many absent keys.
func TestAgainstExactModel(t *testing.T) {
	ops := testkit.Times(20_000, 34_000, 10_000_000)
	const n, p, probes = 2000, 0.01, 10_000
	for _, s := range bloom.Strategies() {
		f := must(n, p, bloom.WithStrategy(s))
		random := rand.New(rand.NewPCG(5, uint64(len(s.Name()))))
		present := []uint64{} // keys, each as often as it was added
		var b [16]byte
		lied, asked, wrong, expected, next := 0, 0, 0, 0.0, uint64(0)
		for op := range ops {
			at := random.IntN(max(1, len(present)))
			switch x := random.Uint64() % 8; {
			case x < 4 && len(present) < n: // a new key
				if !f.Add(key(&b, next)) {
					lied++
				}
				present = append(present, next)
				next++
			case x == 4 && len(present) > 0 && len(present) < n:
				if f.Add(key(&b, present[at])) {
					t.Fatalf("%v: op %d: Add of a key that is present = true", f, op)
				}
				present = append(present, present[at])
			case len(present) > 0:
				if !f.Remove(key(&b, present[at])) {
					t.Fatalf("%v: op %d: Remove of a key that is present = false", f, op)
				}
				present[at] = present[len(present)-1]
				present = present[:len(present)-1]
			}
			if op%(n*8) == 0 {
				for _, k := range present {
					if !f.Contains(key(&b, k)) {
						t.Fatalf("%v: op %d: a key is missing", f, op)
					}
				}
				asked += probes
				expected += f.Stats().EstimatedFalsePositiveRate * probes
				wrong += layeredtest.Absent(f, 1<<40+uint64(op)<<20, probes)
			}
		}
		t.Logf("%v: %d operations, %d keys, %d of %d absent ones found, by the fill %.0f, %d new ones not seen as new",
			f, ops, next, wrong, asked, expected, lied)
		layeredtest.AtMost(t, f.String()+": absent keys found", wrong, asked, p, 4)
		layeredtest.AtMost(t, f.String()+": new keys not seen as new", lied, int(next), p, 4)
		if sigma := math.Sqrt(expected + 1); math.Abs(float64(wrong)-expected) > 5*sigma {
			t.Errorf("%v: %d false positives, by the fill %.0f ± %.0f", f, wrong, expected, sigma)
		}
	}
}
