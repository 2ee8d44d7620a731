package rotating

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

// A clock is set by the test. It is safe for concurrent use.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1_700_000_000, c.ns.Load()) }

func (c *clock) sleep(d time.Duration) { c.ns.Add(int64(d)) }

func (c *clock) elapsed() time.Duration { return time.Duration(c.ns.Load()) }

func (c *clock) until(at time.Duration) { c.ns.Store(int64(at)) }

func (c *clock) option() Option { return WithClock(c.now) }

func bloomOpts(o ...bloom.Option) Option { return WithBloom(o...) }

func must(n uint64, p float64, window time.Duration, generations int, opts ...Option) *Filter {
	f, err := New(n, p, window, append([]Option{WithGenerations(generations)}, opts...)...)
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
			f := must(100, 1e-9, window, generations, c.option())
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
	f := must(1000, 1e-9, time.Hour, 4, c.option())
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
	used := f.Stats().EstimatedCount
	for range 100 {
		f.RenewString("often")
	}
	if got := f.Stats().EstimatedCount; got != used+1 {
		t.Errorf("EstimatedCount = %d, want %d", got, used+1)
	}
}

// TestClockGoesBack: nothing is forgotten by that, and nothing breaks.
func TestClockGoesBack(t *testing.T) {
	var c clock
	f := must(100, 1e-9, time.Hour, 2, c.option())
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

// TestMemoryIsBounded: also when far more keys come than were promised, and no key is lost.
func TestMemoryIsBounded(t *testing.T) {
	const generations = 3
	var c clock
	f := must(30, 1e-6, time.Hour, generations, c.option())
	var b [16]byte
	next, most := uint64(0), 0
	for range 200 {
		for range 300 {
			f.Renew(key(&b, next)) // at a rate of nearly 1, Add would not add
			next++
			most = max(most, len(*f.live.Load()))
		}
		for i := range uint64(300) {
			if !f.Contains(key(&b, next-1-i)) {
				t.Fatalf("a key is missing")
			}
		}
		c.sleep(f.time.length)
	}
	if limit := f.plan.allLayers(); most > limit || most < 3*generations {
		t.Errorf("%d layers at most, want no more than %d and not much less", most, limit)
	}
}

// TestBatches: the answers are those of single calls, also while generations end.
func TestBatches(t *testing.T) {
	var c clock
	one := must(300, 0.01, time.Hour, 3, c.option())
	many := must(300, 0.01, time.Hour, 3, c.option())
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		c.sleep(time.Duration(random.Int64N(int64(20 * time.Minute))))
		keys := [][]byte{}
		for range random.IntN(300) {
			var b [16]byte
			keys = append(keys, key(&b, random.Uint64N(3000)))
		}
		want, got, count := make([]bool, len(keys)), make([]bool, len(keys)), 0
		for i, k := range keys {
			if want[i] = one.AddString(string(k)); want[i] {
				count++
			}
		}
		if n := many.AddMany(keys, got); n != count || !slices.Equal(got, want) {
			t.Fatalf("AddMany = %d, %v; want %d, %v", n, got, count, want)
		}
		count = 0
		for i := range keys {
			keys[i][0]++
			if want[i] = one.ContainsString(string(keys[i])); want[i] {
				count++
			}
		}
		if n := many.ContainsMany(keys, got); n != count || !slices.Equal(got, want) || many.ContainsMany(keys, nil) != count {
			t.Fatalf("ContainsMany = %d, %v; want %d, %v", n, got, count, want)
		}
	}
}

// TestNoText: a filter refuses to be marshaled to text.
func TestNoText(t *testing.T) {
	if data, err := json.Marshal(must(1, 0.1, time.Hour, 1)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("JSON: %s, %v", data, err)
	}
}

func TestAccessors(t *testing.T) {
	var c clock
	f := must(70, 0.021, time.Hour, 7, c.option(), bloomOpts(bloom.WithSeed(77)))
	if got, want := f.time.length, 514285714286*time.Nanosecond; got != want {
		t.Errorf("a generation is %v, want %v", got, want)
	}
	each := f.scheme.Params()
	if each.N != 10 || math.Abs(each.P-0.001) > 1e-9 { // three layers a generation
		t.Errorf("a layer has %+v, want n = 10 and p = 0.001", each)
	}
	if got, want := f.SizeBytes(), each.M/8; got != want {
		t.Errorf("SizeBytes = %d, want %d", got, want)
	}
	for range 20 { // seven generations and the present one
		c.sleep(f.time.length)
		f.Add([]byte(c.elapsed().String()))
	}
	if got, want := f.SizeBytes(), 8*each.M/8; got != want {
		t.Errorf("SizeBytes = %d after 20 generations, want %d", got, want)
	}
	if !f.Add([]byte("key")) || f.RenewString("key") || !f.ContainsString("key") {
		t.Error("a string and its bytes are different keys")
	}
	if f, err := New(100, 0.01, time.Hour); err != nil || f.plan.generations != 4 {
		t.Errorf("%v, %v, want 4 generations", f, err)
	}
}

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
			f.ContainsString("a string")
			keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
			f.AddMany(keys[:], answers[:])
			f.ContainsMany(keys[:], answers[:])
		}); allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	}
}

// TestForNoKeys: a filter for no keys takes keys.
func TestForNoKeys(t *testing.T) {
	var c clock
	f := must(0, 0.01, time.Hour, 4, c.option())
	var b [16]byte
	for i := range uint64(100) {
		if f.Renew(key(&b, i)); !f.Contains(key(&b, i)) {
			t.Fatalf("key %d is missing", i)
		}
	}
	g, err := Read(bytes.NewReader(written(t, f)), c.option())
	if err != nil || g.String() != f.String() {
		t.Errorf("read: %v, %v; want %v", g, err, f)
	}
}

// TestStats: what is in the layers that are remembered.
func TestStats(t *testing.T) {
	var c clock
	f := must(400, 0.01, time.Hour, 4, c.option())
	var b [16]byte
	for i := range uint64(250) { // in two generations of three layers
		f.Add(key(&b, i))
		if i == 120 {
			c.sleep(f.time.length)
		}
	}
	layers := *f.live.Load()
	ones := uint64(0)
	for _, e := range layers {
		ones += e.Stats().Ones
	}
	each := f.scheme.Params()
	m := uint64(len(layers)) * each.M
	want := bloom.Stats{
		N: 400, P: 0.01, M: m, K: each.K, Strategy: "double-hashing", Hash: "murmur3", SizeBytes: m / 8,
		Ones: ones, FillRatio: float64(ones) / float64(m), EstimatedCount: 250,
	}
	got := f.Stats()
	right := 1.0
	for _, e := range layers {
		right *= 1 - e.Stats().EstimatedFalsePositiveRate
	}
	if math.Abs(got.EstimatedFalsePositiveRate-(1-right)) > 1e-12 {
		t.Errorf("rate %v, want %v", got.EstimatedFalsePositiveRate, 1-right)
	}
	if got.EstimatedFalsePositiveRate = 0; got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	c.sleep(2 * time.Hour)
	if got := f.Stats(); got.EstimatedCount != 0 || got.Ones != 0 || got.M != 0 || got.FillRatio != 0 || got.EstimatedFalsePositiveRate != 0 {
		t.Errorf("Stats when all is forgotten = %+v", got)
	}
}
