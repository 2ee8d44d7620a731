package scalable

import (
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

var all = flag.Bool("all", false, "run the large tests: millions of operations")

func must(n uint64, p float64, opts ...Option) *Filter {
	f, err := New(n, p, opts...)
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

// TestPlan: whatever the series, the layers' rates never sum to more than p, and not to
// much less.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		opts   []Option
		layers int
		n      []uint64
		p      []float64
	}{
		{nil, 50, []uint64{100, 200, 400}, []float64{0.01 / 2, 0.01 / 6, 0.01 / 12}},
		{[]Option{WithGrowth(1)}, 2000, []uint64{100, 100, 100}, []float64{0.01 / 2, 0.01 / 6, 0.01 / 12}},
		{[]Option{WithTightening(0.5)}, 50, []uint64{100, 200, 400}, []float64{0.005, 0.0025, 0.00125}},
		{[]Option{WithTightening(0.9), WithGrowth(1.5)}, 90, []uint64{100, 150, 225, 338}, []float64{0.001, 0.0009, 0.00081}},
	} {
		config, err := newConfig(c.opts)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := range c.layers {
			n, p, err := config.plan(100, 0.01, i)
			if err != nil {
				t.Fatal(err)
			}
			if i < len(c.n) && n != c.n[i] || i < len(c.p) && math.Abs(p-c.p[i]) > 1e-12 {
				t.Errorf("layer %d: n = %d and p = %v, want %v and %v", i, n, p, c.n, c.p)
			}
			sum += p
		}
		if sum > 0.01*(1+1e-12) || sum < 0.0098 {
			t.Errorf("%d layers have a rate of %v together, want 0.01 or a little less", c.layers, sum)
		}
	}
	if _, _, err := (&config{growth: 1000}).plan(1<<40, 0.01, 10); err == nil {
		t.Error("no error for 1e42 keys")
	}
}

// TestLayersHoldWhatTheyAreFor: a layer is born with exactly the first key that has no
// room, not earlier and not later.
func TestLayersHoldWhatTheyAreFor(t *testing.T) {
	f := must(100, 1e-9)
	var b [16]byte
	births := []uint64{}
	for i := range uint64(1500) {
		layers := len(f.Layers())
		if added, err := f.Add(key(&b, i)); !added || err != nil {
			t.Fatalf("key %d: %v, %v", i, added, err)
		}
		if added, err := f.Add(key(&b, i)); added || err != nil {
			t.Fatalf("key %d again: %v, %v", i, added, err)
		}
		if len(f.Layers()) > layers {
			births = append(births, i)
		}
		if got := f.EstimatedCount(); got != i+1 {
			t.Fatalf("EstimatedCount = %d after %d keys", got, i+1)
		}
	}
	if len(births) != 3 || births[0] != 100 || births[1] != 300 || births[2] != 700 {
		t.Errorf("layers are born with keys %v, want 100, 300 and 700", births)
	}
}

// TestAgainstExactModel grows filters by random keys, new ones and old ones, next to a
// map of them, and measures the rate all along.
func TestAgainstExactModel(t *testing.T) {
	ops, probes := 400_000, 20_000
	if testing.Short() || lockstep.RaceDetector {
		ops, probes = 40_000, 4000
	}
	if *all {
		ops = 10_000_000
	}
	for _, c := range []struct {
		n    uint64
		p    float64
		opts []Option
	}{
		{1000, 0.01, nil},
		{1, 0.001, nil},
		{100, 0.01, []Option{WithTightening(0.5), WithGrowth(4)}},
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
		if strings.Contains(f.hasher.String(), "maphash") {
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
		rate := f.EstimatedFalsePositiveRate()
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
		most := c.p
		if maphash { // another seed in every run: what is expected to be at most p may be a little more
			most *= 1.1
		}
		if rate > most {
			t.Errorf("%v: rate by the fill %v, want at most %v", f, rate, most)
		}
	}
}

// TestConcurrentGrowth: while goroutines add keys, partly the same, and layers are born,
// no key is lost, each has one winner, and no layer holds more than it is for.
func TestConcurrentGrowth(t *testing.T) {
	const goroutines = 4
	keys := 20_000
	if testing.Short() || lockstep.RaceDetector {
		keys = 2000
	}
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
		if count, n := l.EstimatedCount(), l.Params().N; float64(count) > float64(n)+4*math.Sqrt(float64(n))+2 {
			t.Errorf("layer %d is for %d keys and has about %d", i, n, count)
		}
	}
}

// TestFull: no key that gets an error is in, none that is in gets one.
func TestFull(t *testing.T) {
	for _, opts := range [][]Option{
		{WithMaxLayers(2)},
		{WithMaxBytes(must(100, 1e-6).SizeBytes() * 7 / 2)},
		{WithBloom(bloom.WithMaxBytes(must(100, 1e-6).SizeBytes() * 5 / 2))},
	} {
		f := must(100, 1e-6, opts...)
		var b [16]byte
		for i := range uint64(400) {
			added, err := f.Add(key(&b, i))
			if in := f.Contains(key(&b, i)); added != (i < 300) || (err == nil) != (i < 300) || in != (i < 300) {
				t.Fatalf("%v: key %d: %v, %v, contained %v", f, i, added, err, in)
			}
			if err != nil && !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
		}
		if added, err := f.Add(key(&b, 7)); added || err != nil {
			t.Errorf("%v: a key that is there: %v, %v", f, added, err)
		}
		keys := [][]byte{[]byte("a"), []byte("b")}
		answers := []bool{true, true}
		if n, err := f.AddMany(keys, answers); n != 0 || !errors.Is(err, ErrFull) || answers[0] || answers[1] {
			t.Errorf("%v: AddMany: %d, %v, %v", f, n, err, answers)
		}
	}
}

// TestBatches give the same answers as one by one, also across births.
func TestBatches(t *testing.T) {
	one, many, strs := must(50, 0.01), must(50, 0.01), must(50, 0.01)
	random := rand.New(rand.NewPCG(2, 2))
	for range 40 {
		keys, texts := [][]byte{}, []string{}
		for range random.IntN(200) {
			var b [16]byte
			k := key(&b, random.Uint64N(3000))
			keys, texts = append(keys, k), append(texts, string(k))
		}
		got, gotStrs, count := make([]bool, len(keys)), make([]bool, len(keys)), 0
		for i, k := range keys {
			want, _ := one.Add(k)
			if got[i] = want; want {
				count++
			}
		}
		added := make([]bool, len(keys))
		if n, err := many.AddMany(keys, added); n != count || err != nil {
			t.Fatalf("AddMany = %d, %v, want %d", n, err, count)
		}
		if n, err := strs.AddManyStrings(texts, gotStrs); n != count || err != nil {
			t.Fatalf("AddManyStrings = %d, %v, want %d", n, err, count)
		}
		for i := range keys {
			if added[i] != got[i] || gotStrs[i] != got[i] {
				t.Fatalf("key %d: %v and %v, want %v", i, added[i], gotStrs[i], got[i])
			}
		}
		for i := range keys {
			keys[i][0]++
			texts[i] = string(keys[i])
		}
		n := many.ContainsMany(keys, added)
		m := many.ContainsManyStrings(texts, gotStrs)
		count = 0
		for i, k := range keys {
			want := one.Contains(k)
			if want {
				count++
			}
			if added[i] != want || gotStrs[i] != want {
				t.Fatalf("ContainsMany of key %d: %v and %v, want %v", i, added[i], gotStrs[i], want)
			}
		}
		if n != count || m != count {
			t.Fatalf("ContainsMany = %d and %d, want %d", n, m, count)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	f := must(100_000, 0.001, WithGrowth(1))
	i := uint64(0)
	if allocs := testing.AllocsPerRun(200, func() {
		var b [16]byte
		i++
		f.Add(key(&b, i))
		f.Contains(b[:3])
		f.AddString("a string")
		f.ContainsString("a string")
		keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
		f.AddMany(keys[:], answers[:])
		f.ContainsMany(keys[:], answers[:])
		texts := [1]string{"a string"}
		f.AddManyStrings(texts[:], nil)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestBadParameters(t *testing.T) {
	own := func(o ...bloom.Option) Option { return WithBloom(o...) }
	for _, c := range []struct {
		n    uint64
		p    float64
		opt  Option
		want error
		text string
	}{
		{0, 0.01, WithGrowth(2), bloom.ErrInvalid, "n = 0"},
		{1, 0, WithGrowth(2), bloom.ErrInvalid, "p = 0"},
		{1, 1, WithGrowth(2), bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), WithGrowth(2), bloom.ErrInvalid, "p = NaN"},
		{1, 0.1, WithGrowth(0.5), bloom.ErrInvalid, "growth = 0.5"},
		{1, 0.1, WithGrowth(math.NaN()), bloom.ErrInvalid, "growth = NaN"},
		{1, 0.1, WithGrowth(2000), bloom.ErrInvalid, "growth = 2000"},
		{1, 0.1, WithTightening(0), bloom.ErrInvalid, "tightening = 0"},
		{1, 0.1, WithTightening(1), bloom.ErrInvalid, "tightening = 1"},
		{1, 0.1, WithMaxLayers(0), bloom.ErrInvalid, "0 layers"},
		{1, 0.1, WithMaxBytes(0), bloom.ErrInvalid, "0 bytes"},
		{1000, 0.1, WithMaxBytes(10), ErrFull, "10"},
		{1, 0.1, own(bloom.WithStrategy(bloom.SeededHashing)), bloom.ErrInvalid, "seeded-hashing"},
		{1, 0.1, own(bloom.WithStrategy(bloom.Strategy{})), bloom.ErrInvalid, "strategy"},
		{1 << 50, 0.1, WithGrowth(2), bloom.ErrTooLarge, "bytes"},
	} {
		f, err := New(c.n, c.p, c.opt)
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("New(%d, %v): %v, %v; want %v with %q", c.n, c.p, f, err, c.want, c.text)
		}
	}
}
