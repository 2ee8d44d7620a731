package rotating

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
)

// TestCopies: no block of a file can be written over another one unnoticed.
func TestCopies(t *testing.T) {
	sizes := [][2]uint64{{8, 1}}
	if *effort.Long {
		sizes = [][2]uint64{{1, 1}, {8, 2}, {4, 3}, {150, 1}} // of 1 kB at most
	}
	for _, size := range sizes {
		var c clock
		data, _ := snapshots(t, &c, size[0], size[1])
		frametest.Copies(t, data, c.read)
	}
}

// TestOtherDamage: nor anything else that storage does.
func TestOtherDamage(t *testing.T) {
	var c clock
	a, b := snapshots(t, &c, 8, 3)
	frametest.Damages(t, effort.Times(10_000, 100_000, 11_000_000), c.read, a, b)
}

// TestMixedSnapshots: every combination of the header, the layers and the numbers of two
// snapshots of one filter but the two themselves is refused; so is every other order of the
// layers.
func TestMixedSnapshots(t *testing.T) {
	var c clock
	const head, numbers = 8 + 9*8 + 8, 3 * 8
	a, b := snapshots(t, &c, 8, 2)
	layer := (len(a) - head) / 3
	cuts := []int{0, head, head + layer - numbers, head + layer, head + 2*layer - numbers, head + 2*layer, len(a) - numbers, len(a)}
	if len(a) != len(b) || len(a) != head+3*layer {
		t.Fatal("the snapshots have not three layers each")
	}
	tried := 0
	for mix := range 1 << (len(cuts) - 1) {
		var mixed []byte
		for i := range len(cuts) - 1 {
			mixed = append(mixed, [][]byte{a, b}[mix>>i&1][cuts[i]:cuts[i+1]]...)
		}
		if bytes.Equal(mixed, a) || bytes.Equal(mixed, b) {
			continue
		}
		tried++
		if err := c.read(bytes.NewReader(mixed)); !errors.Is(err, bloom.ErrCorrupt) {
			t.Errorf("parts of two snapshots, %07b: %v", mix, err)
		}
	}
	for order := range 27 {
		mixed := bytes.Clone(a[:head])
		for _, i := range []int{order % 3, order / 3 % 3, order / 9} {
			mixed = append(mixed, a[head+i*layer:][:layer]...)
		}
		if err := c.read(bytes.NewReader(mixed)); (err == nil) != bytes.Equal(mixed, a) {
			t.Errorf("layers %d, %d and %d: %v", order%3, order/3%3, order/9, err)
		}
	}
	t.Logf("%d mixtures of two snapshots", tried)
}

// TestForgedNumbers: whoever makes up a file can make its checksums right, too.
func TestForgedNumbers(t *testing.T) {
	const n, p, window, generations = 12, 0.1, uint64(time.Minute), 3 // 4 keys a layer, 12 layers at most
	right := must(n, p, time.Minute, generations).scheme
	type layer struct {
		generation, left uint64
		filter           *bloom.BloomFilter
	}
	made := func(s bloom.Scheme, err error) *bloom.BloomFilter {
		f, err2 := s.Filter()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return f
	}
	a, b := made(right, nil), made(right, nil)
	each := right.Params()
	forge := func(change func(h *[9]uint64), layers ...layer) []byte {
		h := [9]uint64{n, math.Float64bits(p), window, generations, 0, 0, 2, 0, uint64(len(layers))}
		change(&h)
		var b bytes.Buffer
		out := frame.NewWriter(&b)
		out.Magic(magic)
		out.Numbers(h[:]...)
		for _, l := range layers {
			out.Filter(l.filter)
			out.Numbers(l.generation, l.left)
		}
		if _, err := out.Result(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	same := func(*[9]uint64) {}
	set := func(i int, x uint64) func(*[9]uint64) { return func(h *[9]uint64) { h[i] = x } }
	if _, err := Read(bytes.NewReader(forge(same, layer{0, 4, a}, layer{2, 0, b}))); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	one := layer{0, 4, a}
	for _, c := range []struct {
		data []byte
		text string
	}{
		{forge(set(1, math.Float64bits(math.NaN())), one), "p = NaN, want 0 < p < 1"},
		{forge(set(2, 0), one), "window = 0s, want more than 0"},
		{forge(set(2, 1<<63), one), "want more than 0"},
		{forge(set(2, 2), one), "window = 2ns, want at least 1 ns for each of 3 generations"},
		{forge(set(3, 0), one), "generations = 0, want 1 to 1000"},
		{forge(set(3, 1<<32), one), "generations = 1001, want 1 to 1000"},
		{forge(set(5, 1e9), one), "1000000000 ns of a second, want less than 10^9"},
		{forge(set(6, 1<<63), one), "generation 9223372036854775808, want at most"},
		{forge(set(7, 20e9), one), "20000000000 ns of a generation, want less than 20000000000"},
		{forge(set(8, 0), one), "0 layers, want 1 to 12"},
		{forge(set(8, 13), one), "13 layers, want 1 to 12"},
		{forge(set(8, 2), one), "it ends within the filter: unexpected EOF, in layer 1"},
		{forge(same, layer{3, 4, a}), "generation 3, want 0 to 2, in layer 0"},
		{forge(same, layer{1 << 63, 4, a}), "want 0 to 2"},
		{forge(same, layer{2, 4, a}, layer{1, 4, b}), "generation 1, want 2 to 2, in layer 1"},
		{forge(same, layer{0, 5, a}), "5 more keys, want at most 4"},
		{forge(set(0, 0), one), "4 more keys, want at most 1"},
		{forge(same, layer{0, 4, made(bloom.NewScheme(5, each.P))}), "it is for n = 5 keys, want 4"},
		{forge(same, layer{0, 4, made(bloom.NewScheme(4, p))}), "it is for p = 0.1, want 0.011"},
		{forge(same, one, layer{0, 4, made(bloom.NewScheme(each.N, each.P, bloom.WithSeed(9)))}), "in layer 1"},
		{forge(same, layer{0, 4, made(bloom.NewScheme(each.N, each.P, bloom.WithStrategy(bloom.SeededHashing)))}), "needs the key itself"},
	} {
		var clock clock
		f, err := Read(bytes.NewReader(c.data), clock.option())
		if f != nil || !errors.Is(err, bloom.ErrCorrupt) || !strings.Contains(err.Error(), c.text) || strings.Count(err.Error(), "bloom: ") != 1 {
			t.Errorf("%v, %v, want %q", f, err, c.text)
		}
	}
}
