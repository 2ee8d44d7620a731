package rotating

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
)

// A clock is set by the test. It is safe for concurrent use.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1_700_000_000, c.ns.Load()) }

func (c *clock) sleep(d time.Duration) { c.ns.Add(int64(d)) }

func (c *clock) elapsed() time.Duration { return time.Duration(c.ns.Load()) }

func (c *clock) until(at time.Duration) { c.ns.Store(int64(at)) }

func (c *clock) option() Option { return WithClock(c.now) }

func must(n uint64, p float64, window time.Duration, generations int, opts ...Option) *Filter {
	f, err := New(n, p, window, append([]Option{WithGenerations(generations)}, opts...)...)
	if err != nil {
		panic(err)
	}
	return f
}

func key(b *[16]byte, i uint64) []byte { return layeredtest.Key(b, i) }

// yes returns the answer of an add that does not fail.
func yes(added bool, err error) bool {
	if err != nil {
		panic(err)
	}
	return added
}

// TestWindow: a key is found for exactly as long as its generation says, at each of the edges, and
// Add gives the same answer as Contains.
func TestWindow(t *testing.T) {
	for _, generations := range []int{1, 2, 3, 7} {
		const window = 100 * time.Second // 3 and 7 do not divide it
		length := plan{window: window, generations: generations}.generation()
		for _, added := range []time.Duration{0, 1, length - 1, length, length + 1, 3*length - 1, 1000 * length} {
			var c clock
			f := must(100, 1e-9, window, generations, c.option())
			c.until(added)
			if !yes(f.AddString("key")) || yes(f.AddString("key")) || !f.ContainsString("key") {
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
			if c.until(forgotten - 1); yes(f.AddString("key")) {
				t.Errorf("%d generations, added at %v: new at %v", generations, added, forgotten-1)
			}
			if c.until(forgotten); !yes(f.AddString("key")) || !f.ContainsString("key") {
				t.Errorf("%d generations, added at %v: not new at %v", generations, added, forgotten)
			}
		}
	}
}

// TestClockGoesBack: nothing is forgotten by that, and nothing breaks.
func TestClockGoesBack(t *testing.T) {
	var c clock
	f := must(100, 1e-9, time.Hour, 2, c.option())
	c.until(10 * time.Hour)
	f.AddString("a")
	c.until(-5 * time.Hour)
	if !f.ContainsString("a") || yes(f.AddString("a")) || !yes(f.AddString("b")) || !f.ContainsString("b") {
		t.Error("a key is missing while the clock is behind")
	}
	var b [16]byte
	for i := range uint64(90) { // more than a layer takes
		f.Add(key(&b, i))
	}
	c.until(10*time.Hour + f.plan.window)
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

// TestRenewedWhileItIsLookedUp: after a lookup has found the key in a layer, the key is renewed, and then the
// layer is forgotten. The lookup finds the key in its new layer.
func TestRenewedWhileItIsLookedUp(t *testing.T) {
	for name, found := range map[string]func(f *Filter) bool{
		"Contains":     func(f *Filter) bool { return f.ContainsString("key") },
		"ContainsMany": func(f *Filter) bool { return f.ContainsMany([][]byte{[]byte("key")}, nil) == 1 },
		"Count":        func(f *Filter) bool { return f.Count() > 0 },
	} {
		t.Run(name, func(t *testing.T) { renewedWhile(t, found) })
	}
}

func renewedWhile(t *testing.T, found func(f *Filter) bool) {
	var c clock
	var read func()
	f := must(100, 1e-9, time.Hour, 1, WithClock(func() time.Time {
		if hook := read; hook != nil {
			read = nil
			hook()
		}
		return c.now()
	}))
	f.AddString("key")
	read = func() {
		c.sleep(time.Hour)
		if yes(f.Renew([]byte("key"))) {
			t.Error("a second winner")
		}
		c.sleep(time.Hour)
	}
	if !found(f) || read != nil {
		t.Error("a key that was renewed in time is missing")
	}
}

// TestBatches: a false positive in a generation that is forgotten between an add and a lookup would look like
// a missing key, so p is low.
func TestBatches(t *testing.T) {
	var c clock
	made := func() layeredtest.Filter {
		return layeredtest.Unfailing{Growing: must(300, 1e-6, time.Hour, 3, c.option())}
	}
	layeredtest.Batches(t, made(), made(), func() { c.sleep(7 * time.Minute) })
}

func TestValues(t *testing.T) { layeredtest.Values(t, must(1, 0.1, time.Hour, 1)) }

func TestNoAllocations(t *testing.T) {
	var c clock
	for _, f := range []*Filter{must(100_000, 0.001, time.Hour, 4), must(100_000, 0.001, time.Hour, 4, c.option())} {
		i := uint64(0)
		if allocs := testing.AllocsPerRun(200, func() {
			var b [16]byte
			i++
			f.Add(key(&b, i))
			f.Add(binary.LittleEndian.AppendUint64(b[:0], i))
			f.Contains(b[:3])
			f.Renew(b[:3])
			f.AddString("a string")
			f.Renew([]byte("a string"))
			f.ContainsString("a string")
			keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
			f.AddMany(keys[:], answers[:])
			f.ContainsMany(keys[:], answers[:])
		}); allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	}
}

// TestStats: the numbers are those of the layers that are remembered.
func TestStats(t *testing.T) {
	var c clock
	f := must(70, 0.016, time.Hour, 7, c.option())
	each := f.layers.Load().Newest().Params()
	if each.N != 19 || math.Abs(each.P-0.001) > 1e-9 { // half the rate of a generation
		t.Errorf("a layer has %+v, want n = 10 + 3·3 and p = 0.001", each)
	}
	check := func(n, layers, bytes, keys uint64) {
		t.Helper()
		got, each := f.Stats(), f.layers.Load().Newest().Params() // generations of one key have equal layers
		want := bloom.Stats{Params: bloom.Params{N: n, P: 0.016, M: layers * each.M, K: each.K}, Strategy: "double-hashing", Hash: "murmur3", SizeBytes: bytes * each.M / 8, EstimatedCount: keys}
		if (got.Ones > 0) != (keys > 0) || (got.EstimatedFalsePositiveRate > 0) != (keys > 0) {
			t.Errorf("Stats = %+v", got)
		}
		want.Ones, want.EstimatedFalsePositiveRate = got.Ones, got.EstimatedFalsePositiveRate
		if got != want || f.Count() != keys {
			t.Errorf("Count = %d, Stats = %+v, want %+v", f.Count(), got, want)
		}
	}
	for range 20 {
		c.sleep(f.time.length)
		f.Add([]byte(c.elapsed().String()))
	}
	check(8*4, 8, 8, 8) // layers for 1 + 3·1 keys: seven generations and the present one
	for range 3 {
		f.Renew([]byte(c.elapsed().String())) // is in the present generation
	}
	c.sleep(3 * f.time.length)
	check(5*4, 5, 8, 5)
	c.sleep(2 * time.Hour)
	check(0, 0, 8, 0)
	if f, err := New(100, 0.01, time.Hour); err != nil || f.plan.generations != 4 {
		t.Errorf("%v, %v, want 4 generations", f, err)
	}
}

// TestForgottenLayersAreFreed: the next generation's first layer drops them, and the garbage collector frees them.
func TestForgottenLayersAreFreed(t *testing.T) {
	var c clock
	f := must(100_000, 0.01, time.Hour, 5, c.option()) // so many that an append would have spare room behind the layers
	old := weak.Make((*f.layers.Load())[0].BloomFilter)
	for range 6 {
		c.sleep(f.time.length)
		yes(f.AddString(c.now().String()))
	}
	runtime.GC()
	if old.Value() != nil {
		t.Error("a forgotten layer is in memory")
	}
	runtime.KeepAlive(f)
}

// TestEmptyGenerationsDoNotCount: the median and the largest number of keys are of generations that have keys.
func TestEmptyGenerationsDoNotCount(t *testing.T) {
	p := plan{n: 400, generations: 4}
	if got, want := p.next([]part{{}, {}, {keys: 1000}}, part{}), withMargin(100); got != want {
		t.Errorf("the first layer is for %d keys, want %d", got, want)
	}
	if got, want := p.next([]part{{keys: 500}, {keys: 300}}, part{}), withMargin(300); got != want {
		t.Errorf("the first layer is for %d keys, want %d", got, want)
	}
}
