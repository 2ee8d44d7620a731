package rotating

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
)

// TestAgainstExactModel lets keys come at random times, in bursts, with pauses, and up to
// n in any window, next to an exact model of who is remembered. It asks for keys that
// must be there, for those that must be forgotten, and measures the rate.
func TestAgainstExactModel(t *testing.T) {
	ops := effort.Times(60_000, 200_000, 10_000_000)
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
		{2, 1000, 0.01, false, []Option{bloomOpts(bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(3))}},
	} {
		const window = time.Minute
		var clock clock
		f := must(c.n, c.p, window, c.generations, append(c.opts, clock.option())...)
		length := f.plan.generation()
		random := rand.New(rand.NewPCG(uint64(c.generations), c.n))
		added := map[uint64]time.Duration{} // when, for those that may still be there
		var recent []time.Duration          // when keys took room, in the last window
		var order []uint64                  // the keys of added, oldest first, with some twice
		var b [16]byte
		lied, tried, asked, wrong, old, again := 0, 0, 0, 0, 0, 0
		layers, worst := 0, 0.0
		next := uint64(0)
		call := f.Add
		if c.renew {
			call = f.Renew
		}
		for op := range ops {
			switch x := random.IntN(1000); {
			case x < 300: // time goes by, so that some n keys come in a window
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
			for len(order) > 0 && now-added[order[0]] > window+2*length {
				delete(added, order[0])
				order = order[1:]
			}
			k := next
			if len(order) > 0 && random.IntN(4) == 0 {
				k = order[random.IntN(len(order))]
			}
			at, known := added[k]
			if uint64(len(recent)) >= c.n && !(known && now-at <= window && !c.renew) {
				continue // n is what was promised
			}
			if k == next {
				next++
			}
			yes := call(key(&b, k))
			switch {
			case yes && known && now-at <= window:
				t.Fatalf("%v: op %d: a key is new after %v", f, op, now-at)
			case !yes && !known:
				lied++
			case !yes && known && now-at > window+length+time.Duration(c.generations):
				lied++
				again++
			}
			if !known || now-at > window+length+time.Duration(c.generations) {
				tried++
			}
			if yes || c.renew {
				if !known {
					order = append(order, k)
				}
				added[k] = now
				recent = append(recent, now)
				if known { // keep the order by age
					order = moveToEnd(order, k)
				}
			}
			layers = max(layers, len(*f.live.Load()))
			if op%2000 == 0 {
				for k, at := range added {
					switch age := now - at; {
					case age <= window && !f.Contains(key(&b, k)):
						t.Fatalf("%v: op %d: a key is missing after %v", f, op, age)
					case age > window+length+time.Duration(c.generations):
						if old++; f.Contains(key(&b, k)) {
							again++
						}
					}
				}
				here := 0
				const probes = 10_000
				for i := range uint64(probes) {
					if f.Contains(key(&b, 1<<40+uint64(op)<<16+i)) {
						here++
					}
				}
				asked, wrong = asked+probes, wrong+here
				worst = max(worst, float64(here)/probes)
			}
		}
		t.Logf("%v: %d operations, %d keys in %.0f windows, %d of %d absent keys found (%.4f %%, at worst %.4f %%), %d of %d new ones not seen as new, at most %d layers",
			f, ops, next, clock.elapsed().Minutes(), wrong, asked, 100*float64(wrong)/float64(asked), 100*worst, lied, tried, layers)
		atMost := func(what string, got, of int, p, sigmas float64) {
			if limit := p*float64(of) + sigmas*math.Sqrt(p*float64(of)) + 1; float64(got) > limit {
				t.Errorf("%v: %s: %d of %d, want at most %.0f", f, what, got, of, limit)
			}
		}
		atMost("absent keys found", wrong, asked, c.p, 4)
		atMost("absent keys found at the worst moment", int(worst*10_000), 10_000, c.p, 6)
		atMost("new keys not seen as new", lied, tried, c.p, 4)
		atMost("old keys not forgotten", again, old+tried, c.p, 4)
		if limit := f.plan.maxLayers() - 1; layers > limit {
			t.Errorf("%v: %d layers, want at most %d", f, layers, limit)
		}
	}
}

func moveToEnd(order []uint64, k uint64) []uint64 {
	for i, x := range order {
		if x == k {
			copy(order[i:], order[i+1:])
			order[len(order)-1] = k
			break
		}
	}
	return order
}

// TestBursts: the worst arrival that the promise allows. All n keys of a window come just
// before the end of a generation, and n more just after the window.
func TestBursts(t *testing.T) {
	const n, p, window = 10_000, 0.01, time.Hour
	for _, generations := range []int{1, 2, 4, 10} {
		var c clock
		f := must(n, p, window, generations, c.option())
		length := f.plan.generation()
		var b [16]byte
		next := uint64(0)
		burst := func(at time.Duration, keys int) {
			c.until(at)
			for range keys {
				f.Add(key(&b, next))
				next++
			}
		}
		burst(length-1, n-generations)
		for g := range generations - 1 { // a layer for a single key, too
			burst(length+time.Duration(g)*length, 1)
		}
		burst(length+window-1, n-generations) // the first burst is just not forgotten
		wrong := 0
		probes := float64(effort.Times(40_000, 200_000, 400_000))
		for i := range uint64(probes) {
			if f.Contains(key(&b, 1<<40+i)) {
				wrong++
			}
		}
		t.Logf("%v: %d of %.0f absent keys found (%.3f %%), by the fill %.3f %%", f, wrong, probes, 100*float64(wrong)/probes, 100*f.Stats().EstimatedFalsePositiveRate)
		if limit := p*probes + 4*math.Sqrt(p*probes); float64(wrong) > limit {
			t.Errorf("%v: %d of %.0f absent keys found, want at most %.0f", f, wrong, probes, limit)
		}
		for i := range next {
			if !f.Contains(key(&b, i)) {
				t.Fatalf("%v: key %d is missing", f, i)
			}
		}
	}
}

// TestConcurrent: goroutines add keys of their own and common ones while the clock runs
// through generations. None may miss a key younger than the window, and no key has two
// winners within one.
func TestConcurrent(t *testing.T) {
	rounds := effort.Times(5000, 30_000, 2_000_000)
	const window, goroutines = time.Minute, 4
	var c clock
	f := must(2000, 1e-6, window, 3, c.option())
	type win struct{ before, after time.Duration }
	wins := make([]map[uint64][]win, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wins[g] = map[uint64][]win{}
		wg.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(g)))
			var b [16]byte
			own := map[uint64]time.Duration{}
			for i := range rounds {
				c.sleep(time.Duration(random.Int64N(int64(window / 500))))
				if i%16 == 0 {
					k := uint64(g+1)<<32 + uint64(i)
					before := c.elapsed()
					if f.Add(key(&b, k)) {
						own[k] = before
					}
				}
				k := uint64(i / 64) // what all add at about the same time, again and again
				before := c.elapsed()
				if f.Add(key(&b, k)) {
					wins[g][k] = append(wins[g][k], win{before, c.elapsed()})
				}
				if i%64 == 0 {
					for k, at := range own {
						there := f.Contains(key(&b, k))
						age := c.elapsed() - at // at least what it was when Contains looked
						if !there && age <= window {
							t.Errorf("a key is missing after %v", age)
							return
						}
						if age > 2*window {
							delete(own, k)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	total, twice := 0, 0
	for k := range uint64(rounds / 64) {
		var of []win
		for g := range goroutines {
			of = append(of, wins[g][k]...)
		}
		total += len(of)
		for i, x := range of {
			for _, y := range of[:i] {
				if max(x.after-y.before, y.after-x.before) <= window {
					twice++
				}
			}
		}
	}
	t.Logf("%v: %d wins of %d keys in %.0f windows, %d pairs within a window", f, total, rounds/64, c.elapsed().Minutes(), twice)
	if twice > 0 {
		t.Errorf("%d pairs of winners within a window", twice)
	}
}
