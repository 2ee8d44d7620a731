package rotating

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

// A clock goes only when it is told to. It is safe for concurrent use.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1_700_000_000, c.ns.Load()) }
func (c *clock) sleep(d time.Duration)   { c.ns.Add(int64(d)) }
func (c *clock) elapsed() time.Duration  { return time.Duration(c.ns.Load()) }
func (c *clock) until(at time.Duration)  { c.ns.Store(int64(at)) }
func (c *clock) option() Option          { return WithClock(c.now) }
func bloomOpts(o ...bloom.Option) Option { return WithBloom(o...) }

func must(window time.Duration, generations int, n uint64, p float64, opts ...Option) *Filter {
	f, err := New(window, generations, n, p, opts...)
	if err != nil {
		panic(err)
	}
	return f
}

// key writes the i-th of a sequence of different keys into b.
func key(b *[16]byte, i uint64) []byte {
	binary.LittleEndian.PutUint64(b[:], i)
	binary.LittleEndian.PutUint64(b[8:], i*0x9e3779b97f4a7c15)
	return b[:]
}

// TestWindow: a key is there for exactly as long as its generation says, at each of the
// edges, and Add says the same as Contains.
func TestWindow(t *testing.T) {
	for _, generations := range []int{1, 2, 3, 7} {
		const window = 100 * time.Second // 3 and 7 do not divide it
		length := plan{window: window, generations: generations}.generation()
		for _, added := range []time.Duration{0, 1, length - 1, length, length + 1, 3*length - 1, 1000 * length} {
			var c clock
			f := must(window, generations, 100, 1e-9, c.option())
			c.until(added)
			if !f.AddString("key") || f.AddString("key") || !f.ContainsString("key") {
				t.Fatalf("%d generations, added at %v: wrong from the beginning", generations, added)
			}
			forgotten := (added/length + time.Duration(generations) + 1) * length
			if forgotten <= added+window || forgotten > added+window+length+time.Duration(generations) {
				t.Fatalf("%d generations, added at %v: forgotten at %v", generations, added, forgotten)
			}
			for _, at := range []time.Duration{added + window, forgotten - 1, forgotten, forgotten + window} {
				c.until(at)
				want := at < forgotten
				if got := f.ContainsString("key"); got != want {
					t.Errorf("%d generations, added at %v: Contains at %v = %v, want %v", generations, added, at, got, want)
				}
			}
			if c.until(forgotten - 1); f.AddString("key") {
				t.Errorf("%d generations, added at %v: new at %v", generations, added, forgotten-1)
			}
			if c.until(forgotten); !f.AddString("key") || !f.ContainsString("key") {
				t.Errorf("%d generations, added at %v: not new at %v", generations, added, forgotten)
			}
		}
	}
}

// TestRenew: a window since the key was last seen.
func TestRenew(t *testing.T) {
	var c clock
	f := must(time.Hour, 4, 1000, 1e-9, c.option())
	if !f.RenewString("renewed") || f.RenewString("renewed") || !f.AddString("added") {
		t.Fatal("wrong from the beginning")
	}
	for range 20 {
		c.sleep(30 * time.Minute)
		if f.RenewString("renewed") {
			t.Fatalf("new after %v", c.elapsed())
		}
		f.AddString("added")
	}
	c.sleep(time.Hour)
	if !f.ContainsString("renewed") {
		t.Error("forgotten an hour after it was renewed")
	}
	c.sleep(15 * time.Minute)
	if f.ContainsString("renewed") {
		t.Error("not forgotten")
	}
	// It takes room once in a generation, not each time.
	used := f.EstimatedCount()
	for range 100 {
		f.RenewString("often")
	}
	if got := f.EstimatedCount(); got != used+1 {
		t.Errorf("EstimatedCount = %d, want %d", got, used+1)
	}
}

// TestClockGoesBack: nothing is forgotten by that, and nothing breaks.
func TestClockGoesBack(t *testing.T) {
	var c clock
	f := must(time.Hour, 2, 100, 1e-9, c.option())
	c.until(10 * time.Hour)
	f.AddString("a")
	c.until(-5 * time.Hour)
	if !f.ContainsString("a") || f.AddString("a") || !f.AddString("b") || !f.ContainsString("b") {
		t.Error("a key is missing while the clock is behind")
	}
	var b [16]byte
	for i := range uint64(90) { // more than a layer takes
		f.Add(key(&b, i))
	}
	c.until(10*time.Hour + f.Window())
	for i := range uint64(90) {
		if !f.Contains(key(&b, i)) {
			t.Fatalf("key %d is missing when the clock has caught up", i)
		}
	}
	c.until(12 * time.Hour)
	if f.ContainsString("a") || f.ContainsString("b") {
		t.Error("not forgotten when the clock has caught up")
	}
}

// TestAgainstExactModel lets keys come at random times, in bursts, with pauses, and up to
// n in any window, next to an exact model of who is remembered. It asks for keys that
// must be there, for those that must be forgotten, and measures the rate.
func TestAgainstExactModel(t *testing.T) {
	ops := 300_000
	if testing.Short() || lockstep.RaceDetector {
		ops = 60_000
	}
	if *all {
		ops = 10_000_000
	}
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
		f := must(window, c.generations, c.n, c.p, append(c.opts, clock.option())...)
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
		f.turning.Lock()
		if made := len(*f.live.Load()) + len(f.retired) + len(f.clean); made > f.plan.maxLayers() {
			t.Errorf("%v: %d layers in memory, want at most %d", f, made, f.plan.maxLayers())
		}
		f.turning.Unlock()
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
		f := must(window, generations, n, p, c.option())
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
		probes := 400_000.0
		if testing.Short() || lockstep.RaceDetector {
			probes = 40_000
		}
		for i := range uint64(probes) {
			if f.Contains(key(&b, 1<<40+i)) {
				wrong++
			}
		}
		t.Logf("%v: %d of %.0f absent keys found (%.3f %%), by the fill %.3f %%", f, wrong, probes, 100*float64(wrong)/probes, 100*f.EstimatedFalsePositiveRate())
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

// TestMemoryIsBoundedAndReused: also when far more keys come than were promised, in every
// generation, and no key is lost for that.
func TestMemoryIsBoundedAndReused(t *testing.T) {
	const generations = 3
	var c clock
	f := must(time.Hour, generations, 30, 1e-6, c.option())
	seen := map[*layer]bool{}
	var b [16]byte
	next := uint64(0)
	for range 200 {
		for range 300 {
			f.Renew(key(&b, next)) // at a rate of nearly 1, Add would not add
			next++
			for _, e := range *f.live.Load() {
				seen[e.layer] = true
			}
		}
		for i := range uint64(300) {
			if !f.Contains(key(&b, next-1-i)) {
				t.Fatalf("a key is missing")
			}
		}
		c.sleep(f.length)
	}
	if limit := 4*generations + 1; len(seen) > limit {
		t.Errorf("%d layers were made, want at most %d", len(seen), limit)
	}
	if len(seen) < 3*generations {
		t.Errorf("%d layers were made: this test does not try the limit", len(seen))
	}
}

// TestConcurrent: goroutines add keys of their own and common ones while the clock runs
// through generations. None may miss a key younger than the window, and no key has two
// winners within one.
func TestConcurrent(t *testing.T) {
	rounds := 30_000
	if testing.Short() || lockstep.RaceDetector {
		rounds = 5000
	}
	if *all {
		rounds = 2_000_000
	}
	const window, goroutines = time.Minute, 4
	var c clock
	f := must(window, 3, 2000, 1e-6, c.option())
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

func TestBatches(t *testing.T) {
	var c clock
	one := must(time.Hour, 3, 300, 0.01, c.option())
	many := must(time.Hour, 3, 300, 0.01, c.option())
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		c.sleep(time.Duration(random.Int64N(int64(20 * time.Minute))))
		keys, texts := [][]byte{}, []string{}
		for range random.IntN(200) {
			var b [16]byte
			k := key(&b, random.Uint64N(3000))
			keys, texts = append(keys, k), append(texts, string(k))
		}
		want, got, count := make([]bool, len(keys)), make([]bool, len(keys)), 0
		for i, k := range keys {
			if want[i] = one.Add(k); want[i] {
				count++
			}
		}
		half := len(keys) / 2
		n := many.AddMany(keys[:half], got[:half]) + many.AddManyStrings(texts[half:], got[half:])
		for i := range keys {
			if got[i] != want[i] || n != count {
				t.Fatalf("AddMany: key %d of %d: %v, want %v; %d new, want %d", i, len(keys), got[i], want[i], n, count)
			}
		}
		count = 0
		for i := range keys {
			keys[i][0]++
			texts[i] = string(keys[i])
			if want[i] = one.Contains(keys[i]); want[i] {
				count++
			}
		}
		n = many.ContainsMany(keys[:half], got[:half]) + many.ContainsManyStrings(texts[half:], got[half:])
		for i := range keys {
			if got[i] != want[i] || n != count {
				t.Fatalf("ContainsMany: key %d of %d: %v, want %v; %d found, want %d", i, len(keys), got[i], want[i], n, count)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	var c clock
	for _, f := range []*Filter{must(time.Hour, 4, 100_000, 0.001), must(time.Hour, 4, 100_000, 0.001, c.option())} {
		i := uint64(0)
		if allocs := testing.AllocsPerRun(200, func() {
			var b [16]byte
			i++
			f.Add(key(&b, i))
			f.Contains(b[:3])
			f.Renew(b[:3])
			f.AddString("a string")
			f.ContainsString("a string")
			keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
			f.AddMany(keys[:], answers[:])
			f.ContainsMany(keys[:], answers[:])
		}); allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	}
}

func TestBadParameters(t *testing.T) {
	for _, c := range []struct {
		window      time.Duration
		generations int
		n           uint64
		p           float64
		opts        []bloom.Option
		want        error
		text        string
	}{
		{0, 1, 1, 0.1, nil, bloom.ErrInvalid, "window = 0s"},
		{-1, 1, 1, 0.1, nil, bloom.ErrInvalid, "window = -1ns"},
		{time.Hour, 0, 1, 0.1, nil, bloom.ErrInvalid, "generations = 0"},
		{time.Hour, 1001, 1, 0.1, nil, bloom.ErrInvalid, "generations = 1001"},
		{9, 10, 1, 0.1, nil, bloom.ErrInvalid, "window = 9ns"},
		{time.Hour, 1, 0, 0.1, nil, bloom.ErrInvalid, "n = 0"},
		{time.Hour, 1, 1, 0, nil, bloom.ErrInvalid, "p = 0"},
		{time.Hour, 1, 1, 1, nil, bloom.ErrInvalid, "p = 1"},
		{time.Hour, 1, 1, math.NaN(), nil, bloom.ErrInvalid, "p = NaN"},
		{time.Hour, 1, 1, 0.1, []bloom.Option{bloom.WithStrategy(bloom.SeededHashing)}, bloom.ErrInvalid, "seeded-hashing"},
		{time.Hour, 1, 1 << 50, 0.1, nil, bloom.ErrTooLarge, "bytes"},
	} {
		f, err := New(c.window, c.generations, c.n, c.p, bloomOpts(c.opts...))
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("New(%v, %d, %d, %v): %v, %v; want %v with %q", c.window, c.generations, c.n, c.p, f, err, c.want, c.text)
		}
	}
}
