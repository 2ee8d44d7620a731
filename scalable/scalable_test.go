package scalable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

func key(b *[16]byte, i uint64) []byte { return layeredtest.Key(b, i) }

func must(n uint64, p float64, opts ...bloom.Option) *Filter {
	f, err := New(n, p, opts...)
	if err != nil {
		panic(err)
	}
	return f
}

// grow adds a layer.
func (f *Filter) grow() {
	next, err := f.withLayer(f.now(), 0)
	if err != nil {
		panic(err)
	}
	f.layers.Begin(next)
}

// oneLayer returns a filter that cannot grow.
func oneLayer(n uint64, p float64, opts ...bloom.Option) *Filter {
	return must(n, p, append(opts, bloom.WithMaxBytes(must(n, p, opts...).SizeBytes()))...)
}

// TestPlan: the layers' rates never sum to more than p, and not to much less.
func TestPlan(t *testing.T) {
	sum := 0.0
	for i := range 50 {
		n, p, err := plan(100, 0.01, i, bloom.ErrTooLarge)
		if err != nil || n != 100<<i {
			t.Fatalf("layer %d: n = %d, %v", i, n, err)
		}
		sum += p
	}
	if sum > 0.01*(1+1e-12) || sum < 0.0098 {
		t.Errorf("50 layers have a rate of %v together, want 0.01 or a little less", sum)
	}
	_, _, err := plan(1<<40, 0.01, 23, bloom.ErrTooLarge)
	conformance.Refused(t, err, bloom.ErrTooLarge, "layer 23 would be for 1099511627776·2^23 keys, want less than 2^63")
}

// TestMemory: the documented figures, the memory divided by that of a plain filter for the same keys: when the first
// layer is full, and from then on up to 511 n keys, when the newest layer is full and when it begins.
func TestMemory(t *testing.T) {
	const n, layers = 1000, 9
	f := must(n, 0.01)
	times := func(keys uint64) float64 {
		return float64(f.SizeBytes()) / float64(bloom.MustNew(keys, 0.01).SizeBytes())
	}
	first, least, most := times(n), math.Inf(1), 0.0
	for i := 1; i < layers; i++ {
		f.grow()
		least, most = min(least, times(n<<(i+1)-n)), max(most, times(n<<i-n+1))
	}
	if got := fmt.Sprintf("%.2f %.1f %.1f", first, least, most); got != "1.15 1.3 3.9" {
		t.Errorf("the memory is %s, want 1.15 1.3 3.9", got)
	}
}

// TestGrowthIsRefusedOrKept: with every strategy and hash, New refuses a filter of which something
// else than memory would end the growth before 20 layers or a size of 128 GiB.
func TestGrowthIsRefusedOrKept(t *testing.T) {
	var opts []bloom.Option
	for _, h := range conformance.Hashes() {
		opts = append(opts, bloom.WithHash(h))
	}
	for _, s := range bloom.Strategies() {
		if !s.NeedsKey() {
			opts = append(opts, bloom.WithStrategy(s))
		}
	}
	made, refused := 0, 0
	for _, opt := range opts {
		if _, err := New(1, 0.01, opt); err != nil {
			t.Error(err)
		}
		for _, n := range []uint64{1, 1000, 1e9} {
			for p := 0.5; p > 1e-15; p /= 7 {
				f := newFilter(n, p, []bloom.Option{opt})
				_, err := New(1, p, opt)
				if n > 1 { // without the memory
					err = f.checkGrowth()
				}
				if err != nil {
					conformance.Refused(t, err, bloom.ErrInvalid, "in layer ")
					refused++
					continue
				}
				made++
				for i := range promised {
					keys, rate, _ := plan(n, p, i, nil)
					if float64(keys)*-math.Log2(rate) > layered.PromisedBits {
						break
					}
					if _, err := bloom.NewScheme(keys, rate, opt); errors.Is(err, bloom.ErrInvalid) {
						t.Fatal(err)
					}
				}
			}
		}
	}
	t.Logf("%d filters made, %d refused", made, refused)
}

// TestLayersHoldWhatTheyAreFor: the first key that has no room adds a layer, no earlier key does.
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
		if s := f.Stats(); s.EstimatedCount != i+1 || f.Count() != i+1 || s.P != 1e-9 || s.N != 100<<len(f.Layers())-100 {
			t.Fatalf("after %d keys: %+v", i+1, s)
		}
	}
	if !slices.Equal(births, []uint64{100, 300, 700}) {
		t.Errorf("keys %v add layers, want 100, 300 and 700", births)
	}
}

// TestFull: a key that gets an error is absent, and a key that is present gets none. The limit is for
// all layers: the third alone would not exceed it.
func TestFull(t *testing.T) {
	grown := must(100, 1e-6)
	grown.grow()
	two := grown.SizeBytes()
	grown.grow()
	three := grown.SizeBytes()
	f := must(100, 1e-6, bloom.WithMaxBytes(three-1))
	text := fmt.Sprintf("bloom: filter full: filter too large: 400 keys at rate 8.33e-08 take %d bytes, want at most %d, in layer 2 of a filter for n = 100 keys at p = 1e-06, in addition to %d of at most %d bytes",
		three-two, three-two-1, two, three-1)
	var b [16]byte
	for i := range uint64(400) {
		added, err := f.Add(key(&b, i))
		if in := f.Contains(key(&b, i)); added != (i < 300) || (err == nil) != (i < 300) || in != (i < 300) {
			t.Fatalf("key %d: %v, %v, contained %v", i, added, err, in)
		}
		if err != nil && (!errors.Is(err, bloom.ErrFull) || !errors.Is(err, bloom.ErrTooLarge) || err.Error() != text) {
			t.Fatal(err)
		}
	}
	last := must(100, 1e-6, bloom.WithMaxBytes(three-1))
	for i := range uint64(299) {
		last.Add(key(&b, i))
	}
	if n, err := last.AddMany([][]byte{[]byte("a"), []byte("b")}, nil); n != 1 || !errors.Is(err, bloom.ErrFull) {
		t.Errorf("AddMany with room for one: %d, %v", n, err)
	}
	if added, err := f.Add(key(&b, 7)); added || err != nil {
		t.Errorf("a key that is present: %v, %v", added, err)
	}
	answers := []bool{true, true}
	if n, err := f.AddMany([][]byte{[]byte("a"), []byte("b")}, answers); n != 0 || !errors.Is(err, bloom.ErrFull) || answers[0] || answers[1] {
		t.Errorf("AddMany: %d, %v, %v", n, err, answers)
	}
}

func TestBatches(t *testing.T) {
	layeredtest.Batches(t, layeredtest.Unfailing{Growing: must(50, 0.01)}, layeredtest.Unfailing{Growing: must(50, 0.01)}, func() {})
}

func TestValues(t *testing.T) { layeredtest.Values(t, must(1, 0.1)) }

func TestNoAllocations(t *testing.T) {
	f := must(30_000, 0.001)
	f.grow()
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
	for _, c := range []struct {
		n    uint64
		p    float64
		opts []bloom.Option
		want error
		text string
	}{
		{1, 0, nil, bloom.ErrInvalid, "p = 0"},
		{1, 1, nil, bloom.ErrInvalid, "p = 1"},
		{1, math.NaN(), nil, bloom.ErrInvalid, "p = NaN"},
		{1, 0.1, []bloom.Option{nil}, bloom.ErrInvalid, "option 1 of 1 is nil"},
		{1000, 0.1, []bloom.Option{bloom.WithMaxBytes(10)}, bloom.ErrTooLarge, "want at most 10"},
		{1, 0.1, []bloom.Option{bloom.WithStrategy(bitsandblooms.Strategy)}, bloom.ErrInvalid, "needs the key itself"},
		{1 << 50, 0.1, nil, bloom.ErrTooLarge, "bytes"},
		{1 << 60, 0.1, nil, bloom.ErrTooLarge, "in layer 0 of a filter for n = 1152921504606846976 keys at p = 0.1"},
		{1000, 4.1e-5, []bloom.Option{bloom.WithStrategy(bloom.SplitBlock)}, bloom.ErrInvalid, "in layer 19 of a filter for n = 1000 keys at p = 4.1e-05"},
		{1000, 4.1e-10, []bloom.Option{bloom.WithStrategy(bloom.Blocked)}, bloom.ErrInvalid, "in layer 19 of a filter for n = 1000 keys at p = 4.1e-10"},
		{7, 1e-19, nil, bloom.ErrInvalid, "in layer 0 of a filter for n = 7 keys at p = 1e-19"},
		{1 << 63, 0.1, nil, bloom.ErrTooLarge, "layer 0 would be for 9223372036854775808·2^0 keys"},
	} {
		_, err := New(c.n, c.p, c.opts...)
		conformance.Refused(t, err, c.want, c.text)
	}
	must(1000, 4.3e-5, bloom.WithStrategy(bloom.SplitBlock)) // the documented limits
	must(1000, 4.3e-10, bloom.WithStrategy(bloom.Blocked))
}
