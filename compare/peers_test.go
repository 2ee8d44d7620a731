package main

import (
	"math"
	"sync"
	"testing"

	"github.com/ipfs/bbloom"
)

// filled returns a peer's filter with n keys, the first of which is base.
func filled(t *testing.T, p *peer, n uint64, rate float64, base uint64) filter {
	t.Helper()
	f, err := p.make(n, rate)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	fill(newCrew(1), f, n, base, new(stopwatch))
	return f
}

// TestPeers holds every adapter to what a filter is: it misses nothing, is about as
// large as it must be and about as often wrong as it says.
func TestPeers(t *testing.T) {
	const n = 10_000
	for _, p := range goPeers() {
		for _, rate := range []float64{0.01, 0.001} {
			f := filled(t, p, n, rate, 0)
			asked := 0
			newCrew(1).run(n, fresh(0), func(s *slab) int {
				asked += len(s.keys)
				if found := f.containsAll(s.keys); found != len(s.keys) {
					t.Fatalf("%s: only %d of %d keys found", p.name, found, len(s.keys))
				}
				return 0
			})
			if asked != n {
				t.Fatalf("asked for %d keys, want %d", asked, n)
			}

			least := -math.Log2(rate)
			if perKey := float64(f.bits()) / n; !(perKey > least && perKey < 5*least) {
				t.Errorf("%s: %.2f bits a key for p = %g, want %.2f to %.2f", p.name, perKey, rate, least, 5*least)
			}
			const misses = 200_000
			_, yes := newCrew(1).run(misses, fresh(absentBit), func(s *slab) int { return f.containsAll(s.keys) })
			if got := float64(yes) / misses; got > 20*rate {
				t.Errorf("%s: a rate of %g, promised %g", p.name, got, rate)
			}
		}
	}
}

// TestOursReport checks that our adapters' counts are the filter's.
func TestOursReport(t *testing.T) {
	for _, p := range ourPeers() {
		f := filled(t, p, 1000, 0.01, 0)
		s := newSlab()
		fresh(0)(s, 0, 1000)
		if added := f.addAll(s.keys); added != 0 {
			t.Errorf("%s: %d keys were new the second time", p.name, added)
		}
		fresh(absentBit)(s, 0, 1000)
		if added := f.addAll(s.keys); added < 900 {
			t.Errorf("%s: only %d of 1000 other keys were new", p.name, added)
		}
	}
}

// TestPeersConcurrently uses each peer as its table entry says one may; the race
// detector tells whether that is so.
func TestPeersConcurrently(t *testing.T) {
	const n = 10_000
	for _, p := range goPeers() {
		if p.safe == safeNone {
			continue
		}
		f := filled(t, p, n, 0.01, 0)
		var wg sync.WaitGroup
		for w := range uint64(4) {
			wg.Go(func() {
				s := newSlab()
				fresh(w<<20|absentBit)(s, 0, 500)
				if p.safe == safeFull && !p.static {
					f.addAll(s.keys)
					if found := f.containsAll(s.keys); found != 500 {
						t.Errorf("%s: only %d of 500 keys found", p.name, found)
					}
				}
				fresh(0)(s, w*500, 500)
				if found := f.containsAll(s.keys); found != 500 {
					t.Errorf("%s: only %d of 500 keys found", p.name, found)
				}
			})
		}
		wg.Wait()
	}
}

// TestPeerNames: series are found by name.
func TestPeerNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range append(goPeers(), floorPeers()...) {
		if seen[p.name] {
			t.Errorf("two peers are called %q", p.name)
		}
		seen[p.name] = true
	}
	if !seen[referencePortable] || !seen[referenceFastest] {
		t.Error("a row that others are divided by is missing")
	}
}

// TestBbloomBits compares the size that the adapter works out with the bytes of
// the filter's own JSON, four base64 characters to three of them.
func TestBbloomBits(t *testing.T) {
	for _, n := range []uint64{1, 1000, 12_345} {
		f, err := bbloom.New(float64(n), 0.01)
		if err != nil {
			t.Fatal(err)
		}
		marshalled, want := float64(len(f.JSONMarshal()))*0.75, float64(bbloomBits(n, 0.01))/8
		if marshalled < want || marshalled > want+200 {
			t.Errorf("n = %d: %v bytes marshalled, worked out %v", n, marshalled, want)
		}
	}
}
