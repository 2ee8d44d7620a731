package guard

import (
	"context"
	"encoding/binary"
	"flag"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

var scaling = flag.Bool("scaling", false, "measure what a lookup costs, and how much more two processors look up than one")

// TestScaling measures, and holds nothing to it. It does so on a busy machine, too: of
// chunks of 2000 lookups only those count that nobody interrupted, and of two goroutines
// only those during all of which the other one was at work.
func TestScaling(t *testing.T) {
	if !*scaling {
		t.Skip("NOT TESTED without -scaling: what a lookup costs, which is measured only")
	}
	m := newMemStore()
	for i := range uint64(1_000_000) {
		m.put(string(binary.LittleEndian.AppendUint64(nil, i)))
	}
	g := must(New("", 1_000_000, 0.01, m))
	if err := g.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := bloom.MustNew(1_000_000, 0.01)
	if err := f.Union(g.state.Load().filter); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	asks := []func(key []byte){
		func(key []byte) { f.Contains(key) },
		func(key []byte) { g.Contains(key) },
		func(key []byte) { _, _, _ = uncounted(ctx, g, key, none64) },
		func(key []byte) { _, _, _ = Get(ctx, g, key, none64) },
	}
	var alone, both [4][]float64
	for range 24 { // in turn, so that what else the machine does is the same for all
		for i, ask := range asks {
			alone[i] = append(alone[i], lookups(ask, 1, 500)...)
			both[i] = append(both[i], lookups(ask, 2, 500)...)
		}
	}
	for i, name := range []string{"BloomFilter.Contains", "Guard.Contains", "Get that does not count", "Get"} {
		if len(both[i]) < 100 {
			t.Logf("%s: %.1f ns; two goroutines were never at work at the same time", name, median(alone[i]))
			continue
		}
		t.Logf("%s: %.1f ns, %.1f ns while another does the same (%d chunks): two look up %.2f times as much", name, median(alone[i]), median(both[i]), len(both[i]), 2*median(alone[i])/median(both[i]))
	}
}

const perChunk = 2000

// lookups lets goroutines look up absent keys, and returns the nanoseconds of each lookup
// in the chunks that count.
func lookups(ask func(key []byte), goroutines, chunks int) (ns []float64) {
	type span struct{ from, to time.Time }
	const interrupted = 75 * perChunk // ns: slower than any that was not
	spans := make([][]span, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			key := make([]byte, 8)
			x := uint64(time.Now().UnixNano())
			for range chunks {
				from := time.Now()
				for range perChunk {
					x += 0x9e3779b97f4a7c15
					binary.LittleEndian.PutUint64(key, x|1<<40)
					ask(key)
				}
				if to := time.Now(); to.Sub(from) < interrupted {
					spans[g] = append(spans[g], span{from, to})
				}
			}
		})
	}
	wg.Wait()
	for g, own := range spans {
		for _, s := range own {
			alone := s.to.Sub(s.from)
			for _, other := range spans[(g+1)%goroutines] {
				alone -= max(0, minTime(s.to, other.to).Sub(maxTime(s.from, other.from)))
			}
			if alone <= s.to.Sub(s.from)/50 {
				ns = append(ns, float64(s.to.Sub(s.from))/perChunk)
			}
		}
	}
	return ns
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func maxTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// uncounted is Get without what it counts of absent keys.
func uncounted[V any](ctx context.Context, g *Guard, key []byte, load func(ctx context.Context, key []byte) (value V, found bool, err error)) (value V, found bool, err error) {
	if filter := g.state.Load().filter; filter != nil && !filter.Contains(key) {
		return value, false, nil
	}
	value, found, err = load(ctx, key)
	switch {
	case err != nil:
		g.failed.add()
	case found:
		g.found.add()
	default:
		g.falsePositives.add()
	}
	return value, found, err
}
