package rotating

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
)

// A clock goes only when it is told to. It is safe for concurrent use.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1_700_000_000, c.ns.Load()) }
func (c *clock) sleep(d time.Duration)   { c.ns.Add(int64(d)) }
func (c *clock) elapsed() time.Duration  { return time.Duration(c.ns.Load()) }
func (c *clock) until(at time.Duration)  { c.ns.Store(int64(at)) }
func (c *clock) option() Option          { return WithClock(c.now) }
func bloomOpts(o ...bloom.Option) Option { return WithBloom(o...) }

func must(n uint64, p float64, window time.Duration, generations int, opts ...Option) *Filter {
	f, err := New(n, p, window, generations, opts...)
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

// TestMemoryIsBoundedAndReused: also when far more keys come than were promised, in every
// generation, and no key is lost for that.
func TestMemoryIsBoundedAndReused(t *testing.T) {
	const generations = 3
	var c clock
	f := must(30, 1e-6, time.Hour, generations, c.option())
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
		c.sleep(f.time.length)
	}
	if limit := 4*generations + 1; len(seen) > limit {
		t.Errorf("%d layers were made, want at most %d", len(seen), limit)
	}
	if len(seen) < 3*generations {
		t.Errorf("%d layers were made: this test does not try the limit", len(seen))
	}
}

func TestBatches(t *testing.T) {
	var c clock
	one := must(300, 0.01, time.Hour, 3, c.option())
	many := must(300, 0.01, time.Hour, 3, c.option())
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

func TestAccessors(t *testing.T) {
	var c clock
	f := must(70, 0.021, time.Hour, 7, c.option(), bloomOpts(bloom.WithSeed(77)))
	plain := bloom.MustNew(1, 0.5, bloom.WithSeed(77))
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
	for range 20 { // seven generations, the present one, and one that is clean
		c.sleep(f.time.length)
		f.Add([]byte(c.elapsed().String()))
	}
	if got, want := f.SizeBytes(), 9*each.M/8; got != want {
		t.Errorf("SizeBytes = %d after 20 generations, want %d", got, want)
	}
	h1, h2 := f.Hash([]byte("key"))
	s1, s2 := f.HashString("key")
	if p1, p2 := plain.HashString("key"); h1 != p1 || h2 != p2 || s1 != p1 || s2 != p2 {
		t.Error("another digest than that of a plain filter with the same seed")
	}
	if !f.AddHash(h1, h2) || f.RenewHash(h1, h2) || !f.ContainsString("key") {
		t.Error("what is added by its digest is another key")
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
			addr, _ := netip.AddrFrom4([4]byte{byte(i)}).AppendBinary(b[:0])
			f.Add(addr)
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
		n           uint64
		p           float64
		window      time.Duration
		generations int
		opts        []Option
		want        error
		text        string
	}{
		{1, 0.1, 0, 1, nil, bloom.ErrInvalid, "window = 0s"},
		{1, 0.1, -1, 1, nil, bloom.ErrInvalid, "window = -1ns"},
		{1, 0.1, time.Hour, 0, nil, bloom.ErrInvalid, "generations = 0"},
		{1, 0.1, time.Hour, 1001, nil, bloom.ErrInvalid, "generations = 1001"},
		{1, 0.1, 9, 10, nil, bloom.ErrInvalid, "window = 9ns"},
		{1, 0, time.Hour, 1, nil, bloom.ErrInvalid, "p = 0"},
		{1, 1, time.Hour, 1, nil, bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), time.Hour, 1, nil, bloom.ErrInvalid, "p = NaN"},
		{1, 0.1, time.Hour, 1, []Option{bloomOpts(bloom.WithStrategy(bloom.SeededHashing))}, bloom.ErrInvalid, "seeded-hashing"},
		{1, 0.1, time.Hour, 1, []Option{nil}, bloom.ErrInvalid, "option 1 of 1 is nil"},
		{1 << 50, 0.1, time.Hour, 1, nil, bloom.ErrTooLarge, "bytes"},
		{1, 1e-300, time.Hour, 1, nil, bloom.ErrInvalid, "p = "},
		{1000, 0.1, time.Hour, 1, []Option{bloomOpts(bloom.WithMaxBytes(1000))}, bloom.ErrTooLarge, "want at most 1000"},
	} {
		f, err := New(c.n, c.p, c.window, c.generations, c.opts...)
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Count(err.Error(), "bloom: ") != 1 {
			t.Errorf("New(%d, %v, %v, %d): %v, %v; want %v with %q", c.n, c.p, c.window, c.generations, f, err, c.want, c.text)
		}
	}
}

// TestForNoKeys: a filter that is planned for no keys takes all the same.
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

// TestMaxBytes: a filter takes no more than it may, however many keys come.
func TestMaxBytes(t *testing.T) {
	var c clock
	all := 13 * must(30, 0.01, time.Hour, 3).SizeBytes() // four for each generation, and a clean one
	limit := func(bytes uint64) Option { return bloomOpts(bloom.WithMaxBytes(bytes)) }
	if f, err := New(30, 0.01, time.Hour, 3, limit(all-1)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("with a byte too few: %v, %v", f, err)
	}
	f := must(30, 0.01, time.Hour, 3, c.option(), limit(all))
	var b [16]byte
	most := uint64(0)
	for i := range uint64(20_000) {
		f.Renew(key(&b, i))
		if i%300 == 0 {
			c.sleep(f.time.length)
		}
		most = max(most, f.SizeBytes())
	}
	if most > all || most < all*3/4 {
		t.Errorf("%d bytes at most, want no more than %d and not much less", most, all)
	}
	data := written(t, f)
	if f, err := Read(bytes.NewReader(data), c.option(), limit(all-1)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("read with a byte too few: %v, %v", f, err)
	}
	if _, err := Read(bytes.NewReader(data), c.option(), limit(all)); err != nil {
		t.Errorf("read with enough: %v", err)
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
		EstimatedFalsePositiveRate: f.EstimatedFalsePositiveRate(),
	}
	if got := f.Stats(); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	c.sleep(2 * time.Hour)
	if got := f.Stats(); got.EstimatedCount != 0 || got.Ones != 0 || got.M != 0 || got.FillRatio != 0 || got.EstimatedFalsePositiveRate != 0 {
		t.Errorf("Stats when all is forgotten = %+v", got)
	}
}
