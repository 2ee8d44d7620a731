package rotating

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestAgainstExactModel adds keys to filters and to a map: at random times, in bursts, after pauses,
// and up to n in any window. It looks up keys of the last window, keys that must be forgotten, and
// absent keys.
func TestAgainstExactModel(t *testing.T) {
	ops := testkit.Times(60_000, 100_000, 10_000_000)
	for _, c := range []struct {
		generations int
		n           uint64
		p           float64
		renew       bool
		opts        []Option
	}{
		{1, 1000, 0.01, false, nil},
		{4, 1000, 0.01, false, nil},
		{4, 1000, 0.01, true, nil},
		{10, 100, 0.05, false, nil},
		{3, 10, 0.01, false, nil},
		{2, 1000, 0.01, false, []Option{WithBloom(bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(3))}},
	} {
		const window = time.Minute
		var clock clock
		f := must(c.n, c.p, window, c.generations, append(c.opts, clock.option())...)
		length := f.plan.generation()
		random := rand.New(rand.NewPCG(uint64(c.generations), c.n))
		added := map[uint64]time.Duration{} // when each key was added; old ones are dropped
		var recent []time.Duration          // when keys took room, in the last window
		var b [16]byte
		call := f.Add
		if c.renew {
			call = f.Renew
		}
		next, lied, tried, asked, wrong, layers := uint64(0), 0, 0, 0, 0, 0
		for op := range ops {
			switch x := random.IntN(1000); {
			case x < 300: // time passes, so that about n keys come in a window
				clock.sleep(time.Duration(random.Int64N(int64(window) * 6 / int64(c.n))))
			case x == 300 && random.IntN(20) == 0:
				clock.sleep(time.Duration(random.Int64N(int64(3 * window)))) // a pause
			case x == 301:
				clock.until((clock.elapsed()/length+1)*length - 1) // just before an end, for a burst
			case x == 302:
				clock.until((clock.elapsed()/length + 1) * length)
			}
			now := clock.elapsed()
			for len(recent) > 0 && now-recent[0] > window {
				recent = recent[1:]
			}
			k := next
			if old := next - min(next, 1+random.Uint64N(2*c.n)); random.IntN(4) == 0 {
				if _, known := added[old]; known {
					k = old
				}
			}
			at, known := added[k]
			forgotten := !known || now-at > window+length
			if uint64(len(recent)) >= c.n && (!known || now-at > window || c.renew) {
				continue // the filter is for n keys
			}
			next = max(next, k+1)
			won := call(key(&b, k))
			if won && known && now-at <= window {
				t.Fatalf("%v: op %d: a key is new after %v", f, op, now-at)
			}
			if forgotten {
				if tried++; !won {
					lied++
				}
			}
			if won || c.renew {
				added[k] = now
				recent = append(recent, now)
			}
			layers = max(layers, len(*f.live.Load()))
			if op%2000 == 0 {
				for k, at := range added {
					switch age := now - at; {
					case age <= window && !f.Contains(key(&b, k)):
						t.Fatalf("%v: op %d: a key is missing after %v", f, op, age)
					case age > window+length:
						if asked++; f.Contains(key(&b, k)) {
							wrong++
						}
						delete(added, k)
					}
				}
				const probes = 10_000
				here := layeredtest.Absent(f, 1<<40+uint64(op)<<16, probes)
				layeredtest.AtMost(t, f.String()+": absent keys found at one moment", here, probes, c.p, 6)
				asked, wrong = asked+probes, wrong+here
			}
		}
		t.Logf("%v: %d operations, %d keys in %.0f windows, %d of %d absent keys found, %d of %d new ones not seen as new, at most %d layers",
			f, ops, next, clock.elapsed().Minutes(), wrong, asked, lied, tried, layers)
		layeredtest.AtMost(t, f.String()+": absent keys found", wrong, asked, c.p, 4)
		layeredtest.AtMost(t, f.String()+": new keys not seen as new", lied, tried, c.p, 4)
		if limit := f.plan.maxLayers() - 1; layers > limit {
			t.Errorf("%v: %d layers, want at most %d", f, layers, limit)
		}
	}
}

// TestBursts: the worst arrival that New allows. All n keys of a window come just before the end of
// a generation, and n more just after the window.
func TestBursts(t *testing.T) {
	const n, p, window = 10_000, 0.01, time.Hour
	for _, generations := range []int{1, 2, 4, 10} {
		var c clock
		f := must(n, p, window, generations, c.option())
		length := f.plan.generation()
		next := uint64(0)
		burst := func(at time.Duration, keys int) {
			c.until(at)
			fill(f, next, uint64(keys))
			next += uint64(keys)
		}
		burst(length-1, n-generations)
		for g := range generations - 1 { // a layer for a single key, too
			burst(length+time.Duration(g)*length, 1)
		}
		burst(length+window-1, n-generations) // the first burst is just not forgotten
		if times := timesPlain(f); generations == 4 && math.Abs(times-4.2) > 0.05 {
			t.Errorf("%v: %.2f times the memory of a plain filter, want the documented 4.2", f, times)
		}
		probes := testkit.Times(40_000, 200_000, 400_000)
		layeredtest.AtMost(t, f.String()+": absent keys found", layeredtest.Absent(f, 1<<40, probes), probes, p, 4)
		if found := layeredtest.Absent(f, 0, int(next)); found != int(next) {
			t.Errorf("%v: %d of %d keys are missing", f, int(next)-found, next)
		}
	}
}

// TestMemory: the filter has the documented size if as many keys come in each generation.
func TestMemory(t *testing.T) {
	var c clock
	f := must(100_000, 0.01, time.Hour, 4, c.option())
	for g := range uint64(8) {
		fill(f, g<<32, 25_000)
		c.sleep(f.time.length)
	}
	times := timesPlain(f)
	t.Logf("%v: %.2f times the memory of a plain filter", f, times)
	if math.Abs(times-1.92) > 0.01 {
		t.Error("want the documented 1.92 times")
	}
}

// timesPlain returns the memory divided by that of a plain filter.
func timesPlain(f *Filter) float64 {
	return float64(f.Stats().SizeBytes) / float64(bloom.MustNew(f.plan.n, f.plan.p).SizeBytes())
}
