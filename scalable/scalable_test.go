package scalable

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
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

// oneLayer returns a filter that may not grow.
func oneLayer(n uint64, p float64, opts ...Option) *Filter {
	return must(n, p, append(opts, WithBloom(bloom.WithMaxBytes(must(n, p, opts...).SizeBytes())))...)
}

// TestPlan: the layers' rates never sum to more than p, and not to much less.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		growth float64
		layers int
		n      []uint64
	}{{2, 50, []uint64{100, 200, 400}}, {1, 2000, []uint64{100, 100, 100}}, {1.5, 90, []uint64{100, 150, 225, 338}}} {
		config := config{growth: c.growth}
		sum := 0.0
		for i := range c.layers {
			n, p, err := config.plan(100, 0.01, i)
			if err != nil {
				t.Fatal(err)
			}
			if i < len(c.n) && n != c.n[i] {
				t.Errorf("growth %v, layer %d: n = %d, want %v", c.growth, i, n, c.n[i])
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
		if got := f.Stats().EstimatedCount; got != i+1 {
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

// TestBatches: the answers are those of single calls, also while layers are added.
func TestBatches(t *testing.T) {
	one, many := must(50, 0.01), must(50, 0.01)
	random := rand.New(rand.NewPCG(2, 2))
	for range 40 {
		keys := [][]byte{}
		for range random.IntN(300) {
			var b [16]byte
			keys = append(keys, key(&b, random.Uint64N(3000)))
		}
		want, got, count := make([]bool, len(keys)), make([]bool, len(keys)), 0
		for i, k := range keys {
			want[i], _ = one.AddString(string(k))
			if want[i] {
				count++
			}
		}
		if n, err := many.AddMany(keys, got); n != count || err != nil || !slices.Equal(got, want) {
			t.Fatalf("AddMany = %d, %v, %v; want %d, %v", n, err, got, count, want)
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

func TestNoAllocations(t *testing.T) {
	f := must(100_000, 0.001, WithGrowth(1))
	i := uint64(0)
	if allocs := testing.AllocsPerRun(200, func() {
		var b [16]byte
		i++
		f.Add(key(&b, i))
		f.Add(binary.LittleEndian.AppendUint64(b[:0], i))
		f.Contains(b[:3])
		f.AddString("a string")
		f.ContainsString("a string")
		keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
		f.AddMany(keys[:], answers[:])
		f.ContainsMany(keys[:], answers[:])
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
	}
	got := f.Stats()
	right := 1.0
	for _, l := range *f.layers.Load() {
		right *= 1 - l.Stats().EstimatedFalsePositiveRate
	}
	if math.Abs(got.EstimatedFalsePositiveRate-(1-right)) > 1e-12 {
		t.Errorf("rate %v, want %v", got.EstimatedFalsePositiveRate, 1-right)
	}
	if got.EstimatedFalsePositiveRate = 0; got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
}

// TestNoText: a filter refuses to be marshaled to text, also inside another value.
func TestNoText(t *testing.T) {
	for _, v := range []any{must(1, 0.1), &struct{ Seen *Filter }{must(1, 0.1)}, &struct{ Seen Filter }{}} {
		if data, err := json.Marshal(v); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("JSON: %s, %v", data, err)
		}
	}
	if err := json.Unmarshal([]byte(`"text"`), must(1, 0.1)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("from JSON: %v", err)
	}
	if err := gob.NewEncoder(io.Discard).Encode(must(1, 0.1)); err == nil {
		t.Error("gob: no error")
	}
}
