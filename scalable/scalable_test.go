package scalable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

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

// TestGrowsOnce: of those who find the same newest layer full, one makes the next.
func TestGrowsOnce(t *testing.T) {
	f := must(1, 0.1)
	now := f.layers.Load()
	for range 2 {
		if err := f.grow(now); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.Layers()); n != 2 {
		t.Errorf("%d layers, want 2", n)
	}
}

// TestFull: no key that gets an error is in, none that is in gets one.
func TestFull(t *testing.T) {
	for _, opts := range [][]Option{
		{WithMaxLayers(2)},
		{WithBloom(bloom.WithMaxBytes(must(100, 1e-6).SizeBytes() * 7 / 2))},
		{WithBloom(bloom.WithMaxBytes(must(100, 1e-6).SizeBytes() * 7 / 2)), WithGrowth(1)}, // no layer alone is too large
	} {
		f := must(100, 1e-6, opts...)
		var b [16]byte
		for i := range uint64(400) {
			added, err := f.Add(key(&b, i))
			if in := f.Contains(key(&b, i)); added != (i < 300) || (err == nil) != (i < 300) || in != (i < 300) {
				t.Fatalf("%v: key %d: %v, %v, contained %v", f, i, added, err, in)
			}
			if err != nil && (!errors.Is(err, ErrFull) || !errors.Is(err, bloom.ErrTooLarge) || !strings.HasPrefix(err.Error(), "scalable: filter full: ") || strings.Contains(err.Error(), "bloom")) {
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
		if n, err := strs.AddStrings(texts, gotStrs); n != count || err != nil {
			t.Fatalf("AddStrings = %d, %v, want %d", n, err, count)
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
		m := many.ContainsStrings(texts, gotStrs)
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

func TestAccessors(t *testing.T) {
	f := must(50, 0.01, WithBloom(bloom.WithSeed(77)))
	plain := bloom.MustNew(1, 0.5, bloom.WithSeed(77))
	h1, h2 := f.Digest([]byte("key"))
	s1, s2 := f.DigestString("key")
	if p1, p2 := plain.DigestString("key"); h1 != p1 || h2 != p2 || s1 != p1 || s2 != p2 {
		t.Error("another digest than that of a plain filter with the same seed")
	}
	if added, err := f.AddDigest(h1, h2); !added || err != nil || !f.ContainsString("key") {
		t.Errorf("AddDigest: %v, %v", added, err)
	}
}

func TestNoAllocations(t *testing.T) {
	f := must(100_000, 0.001, WithGrowth(1))
	i := uint64(0)
	if allocs := testing.AllocsPerRun(200, func() {
		var b [16]byte
		i++
		f.Add(key(&b, i))
		f.Add(binary.LittleEndian.AppendUint64(b[:0], i))
		addr, _ := netip.AddrFrom4([4]byte{byte(i)}).AppendBinary(b[:0])
		f.Add(addr)
		f.Contains(b[:3])
		f.AddString("a string")
		f.ContainsString("a string")
		keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
		f.AddMany(keys[:], answers[:])
		f.ContainsMany(keys[:], answers[:])
		texts := [1]string{"a string"}
		f.AddStrings(texts[:], nil)
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
		{1, 0, WithGrowth(2), bloom.ErrInvalid, "p = 0"},
		{1, 1, WithGrowth(2), bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), WithGrowth(2), bloom.ErrInvalid, "p = NaN"},
		{1, 0.1, WithGrowth(0.5), bloom.ErrInvalid, "growth = 0.5"},
		{1, 0.1, WithGrowth(math.NaN()), bloom.ErrInvalid, "growth = NaN"},
		{1, 0.1, WithGrowth(2000), bloom.ErrInvalid, "growth = 2000"},
		{1, 0.1, WithTightening(0), bloom.ErrInvalid, "tightening = 0"},
		{1, 0.1, WithTightening(1), bloom.ErrInvalid, "tightening = 1"},
		{1, 0.1, WithMaxLayers(0), bloom.ErrInvalid, "0 layers"},
		{1, 0.1, nil, bloom.ErrInvalid, "option 1 of 1 is nil"},
		{1000, 0.1, own(bloom.WithMaxBytes(10)), bloom.ErrTooLarge, "want at most 10"},
		{1, 0.1, own(bloom.WithStrategy(bloom.SeededHashing)), bloom.ErrInvalid, "seeded-hashing"},
		{1, 0.1, own(bloom.WithStrategy(bitsandblooms.Strategy)), bloom.ErrInvalid, "needs the key itself"},
		{1, 0.1, own(bloom.WithStrategy(bloom.Strategy{})), bloom.ErrInvalid, "strategy"},
		{1 << 50, 0.1, WithGrowth(2), bloom.ErrTooLarge, "bytes"},
		{1 << 60, 0.1, WithGrowth(2), bloom.ErrTooLarge, "in layer 0 of a filter for n = 1152921504606846976 keys at p = 0.1"},
		{7, 1e-19, WithGrowth(2), bloom.ErrInvalid, "in layer 0 of a filter for n = 7 keys at p = 1e-19"},
		{1 << 63, 0.1, WithGrowth(2), bloom.ErrTooLarge, "layer 0 would be for 9.22e+18 keys"},
	} {
		f, err := New(c.n, c.p, c.opt)
		if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Count(err.Error(), "bloom: ") != 1 {
			t.Errorf("New(%d, %v): %v, %v; want %v with %q", c.n, c.p, f, err, c.want, c.text)
		}
	}
}

// TestForNoKeys: a filter that is planned for no keys takes all the same.
func TestForNoKeys(t *testing.T) {
	f := must(0, 1e-9)
	var b [16]byte
	for i := range uint64(100) {
		if added, err := f.Add(key(&b, i)); !added || err != nil || !f.Contains(key(&b, i)) {
			t.Fatalf("key %d: %v, %v", i, added, err)
		}
	}
	if g, err := Read(bytes.NewReader(written(t, f))); err != nil || g.String() != f.String() {
		t.Errorf("read: %v, %v; want %v", g, err, f)
	}
}

// TestStats: what is in all layers.
func TestStats(t *testing.T) {
	f := must(100, 0.01, WithBloom(bloom.WithStrategy(bloom.Blocked)))
	var b [16]byte
	added := uint64(0)
	for i := range uint64(250) {
		if yes, _ := f.Add(key(&b, i)); yes {
			added++
		}
	}
	var m, ones uint64
	for _, l := range *f.layers.Load() {
		m += l.Params().M
		ones += l.Stats().Ones
	}
	want := bloom.Stats{
		N: 300, P: 0.01, M: m, K: f.Layers()[1].K, Strategy: "blocked-2", Hash: "murmur3", SizeBytes: m / 8,
		Ones: ones, FillRatio: float64(ones) / float64(m), EstimatedCount: added,
		EstimatedFalsePositiveRate: f.EstimatedFalsePositiveRate(),
	}
	if got := f.Stats(); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}
