package compare

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// numbered returns count keys, numbered from first.
func numbered(first, count uint64) Keys {
	k := NewKeys(int(count), true, 8)
	k.Fill(int(count), func(i uint64) uint64 { return first + i })
	return *k
}

func filled(t *testing.T, p *Peer, n uint64, rate float64) *Filter {
	t.Helper()
	f, err := p.Make(n, rate)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	f.add(numbered(0, n))
	if f.build != nil {
		f.build()
	}
	return f
}

// TestPeers checks every adapter: no key is missed, size and rate are near those of the arguments, and
// no name is used twice.
func TestPeers(t *testing.T) {
	const n, misses = 10_000, 100_000
	names := map[string]bool{}
	for _, p := range slices.Concat(Ours(), Others(), Variants()) {
		if names[p.Name] {
			t.Errorf("two filters are called %q", p.Name)
		}
		names[p.Name] = true
		for _, rate := range []float64{0.01, 0.001} {
			f := filled(t, p, n, rate)
			if found := f.contains(numbered(0, n)); found != n {
				t.Fatalf("%s: only %d of %d keys found", p.Name, found, n)
			}
			least := -math.Log2(rate)
			if perKey := float64(f.bits) / n; perKey > 0 && !(perKey > least && perKey < 5*least) {
				t.Errorf("%s: %.2f bits per key for p = %g, want %.2f to %.2f", p.Name, perKey, rate, least, 5*least)
			}
			if got := float64(f.contains(numbered(n, misses))) / misses; got > 20*rate {
				t.Errorf("%s: a rate of %g, promised %g", p.Name, got, rate)
			}
			if added := f.add(numbered(2*n, n)); strings.HasPrefix(p.Name, "ours") && added < n*9/10 {
				t.Errorf("%s: only %d of %d other keys were new", p.Name, added, n)
			}
		}
	}
}
