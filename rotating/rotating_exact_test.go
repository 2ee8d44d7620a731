package rotating

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestAgainstExactModel adds keys to filters and to a map: at random times, in bursts, after pauses,
// a tenth or ten times as many as planned. It looks up keys of the last window, keys that must be
// forgotten, and absent keys, and counts.
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
		added := map[uint64]time.Duration{}   // when each key was added; old ones are dropped
		counted := map[time.Duration]uint64{} // true answers of each generation
		speed := 1.0
		var b [16]byte
		call := f.Add
		if c.renew {
			call = f.Renew
		}
		next, lied, tried, asked, wrong, layers := uint64(0), 0, 0, 0, 0, 0
		for op := range ops {
			switch x := random.IntN(1000); {
			case x < 300: // time passes, so that about n keys come in a window
				clock.sleep(time.Duration(speed * float64(random.Int64N(int64(window)*6/int64(c.n)))))
			case x == 303 && random.IntN(10) == 0:
				speed = []float64{0.1, 1, 10}[random.IntN(3)]
			case x == 300 && random.IntN(20) == 0:
				clock.sleep(time.Duration(random.Int64N(int64(3 * window)))) // a pause
			case x == 301:
				clock.until((clock.elapsed()/length+1)*length - 1) // just before an end, for a burst
			case x == 302:
				clock.until((clock.elapsed()/length + 1) * length)
			}
			now := clock.elapsed()
			k := next
			if old := next - min(next, 1+random.Uint64N(2*c.n)); random.IntN(4) == 0 {
				if _, known := added[old]; known {
					k = old
				}
			}
			at, known := added[k]
			forgotten := !known || now-at > window+length
			next = max(next, k+1)
			won := yes(call(key(&b, k)))
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
				counted[now/length]++
			}
			layers = max(layers, len(*f.layers.Load()))
			if op%2000 == 0 {
				want := uint64(0)
				for g := range time.Duration(c.generations + 1) {
					want += counted[now/length-g]
				}
				if !c.renew && f.Count() != want {
					t.Fatalf("%v: op %d: Count = %d, want %d", f, op, f.Count(), want)
				}
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
	}
}

// TestStreams: whatever comes, also if n is wrong by 10,000, the rate of absent keys is at most p at every
// moment, no key is lost within its window, and Count is the number of true answers that are not forgotten.
func TestStreams(t *testing.T) {
	const p = 0.01
	n, few := testkit.Times(200, 200, 20_000), testkit.Times(4, 4, 100)
	random := rand.New(rand.NewPCG(4, 4))
	poisson := func(mean float64) int { return max(0, int(mean+math.Sqrt(mean)*random.NormFloat64()+0.5)) }
	for _, generations := range []int{1, 4, 100} {
		each, turns := float64(n)/float64(generations), min(6*(generations+1), 230)
		for _, s := range []struct {
			name string
			keys func(g int) int
			n    int // n of the filter if it is not n
		}{
			{"steady", func(int) int { return poisson(each) }, 0},
			{"ten times as many", func(int) int { return poisson(10 * each) }, 0},
			{"ten thousand times as many", func(int) int { return poisson(10_000 * float64(few) / float64(generations)) }, few},
			{"a ten-thousandth", func(int) int { return poisson(10 * float64(few) / float64(generations)) }, 100_000 * few},
			{"waves", func(g int) int { return poisson(each * math.Pow(10, math.Sin(float64(g)/2)-1)) }, 0},
			{"one burst", func(g int) int {
				if g == turns/2 {
					return 5 * n
				}
				return poisson(each / 10)
			}, 0},
			{"a burst every window", func(g int) int {
				if g%generations == 0 {
					return n
				}
				return 1
			}, 0},
			{"a burst every other window, else nothing", func(g int) int {
				if g%(2*generations) == 0 {
					return n
				}
				return 0
			}, 0},
			{"it ends, and begins again", func(g int) int { return g / (generations + 2) % 2 * poisson(each) }, 0},
		} {
			var c clock
			f := must(uint64(cmp.Or(s.n, n)), p, time.Hour, generations, c.option())
			var came []uint64
			var won [][]uint64 // keys of each generation
			next, busiest, most, layers := uint64(0), uint64(0), 0.0, 0
			probes, found := testkit.Times(200, 200, 20_000), 0
			var b [16]byte
			for g := range turns {
				c.until(time.Duration(g) * f.time.length)
				won, came = append(won, nil), append(came, next)
				for range s.keys(g) {
					if yes(f.Add(key(&b, next))) {
						won[g] = append(won[g], next)
					}
					next++
				}
				want := uint64(0)
				for _, keys := range won[max(0, g-generations):] {
					want += uint64(len(keys))
					for range min(len(keys), testkit.Times(500, 2000, 2000)/(generations+1)) {
						if !f.Contains(key(&b, keys[random.IntN(len(keys))])) {
							t.Fatalf("%d generations, %s: a key is missing", generations, s.name)
						}
					}
				}
				if got := f.Count(); got != want {
					t.Fatalf("%d generations, %s: Count = %d, want %d", generations, s.name, got, want)
				}
				found += layeredtest.Absent(f, 1<<40+uint64(g)<<20, probes)
				if g > generations {
					busiest = max(busiest, next-came[g-generations+1])
				}
				most, layers = max(most, float64(f.layers.Load().SizeBytes())), max(layers, len(*f.layers.Load()))
			}
			layeredtest.AtMost(t, s.name+": absent keys found", found, probes*turns, p, 4)
			plain := float64(bloom.MustNew(max(busiest, 1), p).SizeBytes())
			t.Logf("%d generations, %s: %.4f of absent keys found; %.2f times a plain filter for the busiest window's %d keys; at most %d layers",
				generations, s.name, float64(found)/float64(probes*turns), most/plain, busiest, layers)
		}
	}
}

// TestMemory: the memory, divided by that of a plain filter for the keys of the busiest window, is at most
// the documented one.
func TestMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	const large = 150_000 // from here on the margin of a layer is small
	for _, c := range []struct {
		name  string
		n     int
		most  float64                    // after skip windows
		skip  int                        // windows
		comes func(g int, n int) float64 // the share of n that comes in a generation
	}{
		{"steady", 1000, 2.2, 0, func(g, n int) float64 { return 0.25 + math.Sqrt(0.25/float64(n))*random.NormFloat64() }},
		{"steady", large, 1.9, 0, func(g, n int) float64 { return 0.25 + math.Sqrt(0.25/float64(n))*random.NormFloat64() }},
		{"the first burst of a window", large, 5, 0, func(g, n int) float64 { return []float64{0, 0, 1, 0}[g%4] + 1/float64(n) }},
		{"a burst in every window", large, 3.5, 3, func(g, n int) float64 { return []float64{0, 0, 1, 0}[g%4] + 1/float64(n) }},
	} {
		var clock clock
		f := must(uint64(c.n), 0.01, time.Hour, 4, clock.option())
		next, busiest, most := uint64(0), uint64(0), uint64(0)
		var came []uint64
		for g := range 4 * (c.skip + 5) {
			came = append(came, next)
			for range int(c.comes(g, c.n)*float64(c.n) + 0.5) {
				yes(f.Add(key(new([16]byte), next)))
				next++
			}
			if g >= 4*c.skip {
				most = max(most, f.SizeBytes())
			}
			busiest = max(busiest, next-came[max(0, g-3)])
			clock.sleep(f.time.length)
		}
		times := float64(most) / float64(bloom.MustNew(busiest, 0.01).SizeBytes())
		t.Logf("%s, n = %d: %.3f times the memory of a plain filter for %d keys", c.name, c.n, times, busiest)
		if times > c.most {
			t.Errorf("%s, n = %d: %.3f times the memory of a plain filter, want at most %v", c.name, c.n, times, c.most)
		}
	}
}

// TestGuessTooLarge: if fewer keys come than n says, only the first generation is too large.
func TestGuessTooLarge(t *testing.T) {
	const n = 300_000
	var c clock
	f := must(n, 0.01, time.Hour, 4, c.option())
	plain, most := bloom.MustNew(n, 0.01).SizeBytes(), uint64(0)
	for g := range uint64(10) {
		yes(f.Add(key(new([16]byte), g)))
		most = max(most, f.SizeBytes())
		c.sleep(f.time.length)
	}
	if most > plain*4/10 || f.SizeBytes() > 100 {
		t.Errorf("at most %d bytes, at last %d; a plain filter takes %d", most, f.SizeBytes(), plain)
	}
}
