package rotating

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/frame"
	"github.com/seed3447c163/bloom/internal/frame/frametest"
)

func written(t testing.TB, f *Filter) []byte {
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// small is what the golden file holds: four layers in three generations.
func small(c *clock) *Filter {
	f := must(12, 0.1, time.Minute, 3, c.option(), bloomOpts(bloom.WithSeed(7)))
	var b [16]byte
	for i := range uint64(8) {
		f.Add(key(&b, i))
		c.sleep(5 * time.Second)
	}
	f.Add(key(&b, 8))
	f.Add(key(&b, 9))
	return f
}

func TestGolden(t *testing.T) {
	var c clock
	f := small(&c)
	golden := frametest.Golden(t, "testdata/v1.golden", written(t, f))
	g, err := Read(bytes.NewReader(golden), c.option())
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != f.String() || len(*g.live.Load()) < 3 {
		t.Errorf("%v, want %v", g, f)
	}
	if again := written(t, g); !bytes.Equal(again, golden) {
		t.Error("written again, it is another")
	}
	frametest.Damage(t, golden, c.read)
	frametest.Failing(t, f.WriteTo)
}

func (c *clock) read(r io.Reader) error { _, err := Read(r, c.option()); return err }

// snapshots returns two files of one filter of equal length, with some adds between them.
func snapshots(t testing.TB, c *clock, n, generations uint64) (earlier, later []byte) {
	f := must(n*generations, 0.1, time.Minute, int(generations), c.option())
	var b [16]byte
	for i := range generations {
		for j := range n/2 + i%2 {
			f.Add(key(&b, i<<20+j))
		}
		c.sleep(f.time.length)
	}
	f.Add(key(&b, 1<<40))
	earlier = written(t, f)
	for i := range n / 3 {
		f.Add(key(&b, 1<<41+i))
	}
	return earlier, written(t, f)
}

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

// TestGoesOnAfterRead: a filter that is read remembers and forgets as the original does.
func TestGoesOnAfterRead(t *testing.T) {
	for _, opts := range [][]bloom.Option{nil, {bloom.WithKey([16]byte{1, 2})}, {bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(5)}} {
		var c clock
		f := must(100, 1e-6, time.Hour, 3, c.option(), bloomOpts(opts...))
		var b [16]byte
		next := uint64(0)
		add := func(filters ...*Filter) {
			for range 20 {
				for _, f := range filters {
					if !f.Add(key(&b, next)) {
						t.Fatalf("%v: key %d is not new", f, next)
					}
				}
				next++
			}
			c.sleep(13 * time.Minute)
		}
		for range 10 {
			add(f)
		}
		g, err := Read(bytes.NewReader(written(t, f)), c.option(), bloomOpts(opts...))
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			for i := range next {
				if f.Contains(key(&b, i)) != g.Contains(key(&b, i)) {
					t.Fatalf("%v: key %d: %v; the original: %v", g, i, g.Contains(key(&b, i)), f.Contains(key(&b, i)))
				}
			}
			add(f, g)
		}
		if !bytes.Equal(written(t, f), written(t, g)) {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

// TestTimePassesInTheFile: between writing and reading, keys get older; a clock that is
// behind the writer's does not make them younger or eternal.
func TestTimePassesInTheFile(t *testing.T) {
	var c clock
	f := must(100, 1e-6, time.Hour, 2, c.option())
	c.until(10 * time.Hour)
	f.AddString("key")
	c.sleep(40 * time.Minute)
	data := written(t, f)
	for _, x := range []struct {
		read, asked time.Duration
		want        bool
	}{
		{10*time.Hour + 40*time.Minute, 0, true},
		{11 * time.Hour, 0, true},
		{11*time.Hour + 30*time.Minute, 0, false},
		{11 * time.Hour, 29 * time.Minute, true},
		{11 * time.Hour, 30 * time.Minute, false},
		{1000 * time.Hour, 0, false},
		{time.Hour, 0, true},
		{time.Hour, 49 * time.Minute, true},
		{time.Hour, 50 * time.Minute, false},
	} {
		c.until(x.read)
		g, err := Read(bytes.NewReader(data), c.option())
		if err != nil {
			t.Fatal(err)
		}
		c.sleep(x.asked)
		if got := g.ContainsString("key"); got != x.want {
			t.Errorf("read at %v, asked %v later: %v, want %v", x.read, x.asked, got, x.want)
		}
		if got := g.AddString("key"); got == x.want {
			t.Errorf("read at %v, added %v later: %v, want %v", x.read, x.asked, got, !x.want)
		}
	}
	// The system's clock: far ahead of the one above.
	g, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if g.ContainsString("key") || !g.AddString("key") || !g.ContainsString("key") {
		t.Error("with the system's clock: wrong")
	}
}

func TestWhatCannotBeWrittenOrRead(t *testing.T) {
	var b bytes.Buffer
	if n, err := must(10, 0.1, time.Hour, 2, bloomOpts(bloom.WithHash(bloom.MapHash))).WriteTo(&b); !errors.Is(err, bloom.ErrNotPortable) || n != 0 || b.Len() != 0 {
		t.Errorf("MapHash: %d bytes, %v", n, err)
	}
	keyed := written(t, must(10, 0.1, time.Hour, 2, bloomOpts(bloom.WithKey([16]byte{1}))))
	for name, c := range map[string]struct {
		opts []bloom.Option
		want error
	}{
		"no key":           {nil, bloom.ErrIncompatible},
		"another key":      {[]bloom.Option{bloom.WithKey([16]byte{2})}, bloom.ErrIncompatible},
		"another strategy": {[]bloom.Option{bloom.WithKey([16]byte{1}), bloom.WithStrategy(bloom.Blocked)}, bloom.ErrIncompatible},
		"little memory":    {[]bloom.Option{bloom.WithKey([16]byte{1}), bloom.WithMaxBytes(3)}, bloom.ErrTooLarge},
	} {
		if f, err := Read(bytes.NewReader(keyed), bloomOpts(c.opts...)); f != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, f, err, c.want)
		}
	}
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

func FuzzRead(f *testing.F) {
	var c clock
	golden := written(f, small(&c))
	f.Add(golden)
	for i := 0; i < len(golden); i += 37 {
		damaged := bytes.Clone(golden)
		damaged[i] ^= 0x11
		f.Add(damaged)
		f.Add(golden[:i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c clock
		g, err := Read(bytes.NewReader(data), c.option(), bloomOpts(bloom.WithMaxBytes(1<<20)))
		if err != nil {
			return
		}
		written(t, g)
		if g.AddString("one more") && !g.ContainsString("one more") {
			t.Fatalf("%v: a key is missing", g)
		}
	})
}

// FuzzAgainstMap reads its input as keys and pauses and runs them on a filter and on a map
// of who was added when.
func FuzzAgainstMap(f *testing.F) {
	f.Add([]byte("abc\x80abc\x8fabc\xff"))
	f.Add([]byte{1, 2, 3, 130, 4, 129, 5, 140, 1, 2, 3, 255, 3, 4})
	const window, generations = 60, 4
	sized := must(40, 1e-12, window, generations) // takes longer than the fuzzing
	f.Fuzz(func(t *testing.T, program []byte) {
		var c clock
		r := &Filter{plan: sized.plan, scheme: sized.scheme, time: newTimeline(c.now, sized.time.length)}
		first, err := r.newLayer()
		if err != nil {
			t.Fatal(err)
		}
		r.live.Store(&live{{layer: first}})
		added := map[byte]int64{}
		for _, x := range program {
			switch {
			case x == 255:
				if r, err = Read(bytes.NewReader(written(t, r)), c.option()); err != nil {
					t.Fatal(err)
				}
				continue
			case x >= 128:
				c.sleep(time.Duration(x - 128))
				continue
			}
			// A generation is 15, a key goes with its own.
			at, known := added[x]
			now := int64(c.elapsed())
			there := known && now/15 <= at/15+generations
			if got := r.Contains([]byte{x}); got != there {
				t.Fatalf("%v: Contains(%d) = %v at %d, added at %d", r, x, got, now, at)
			}
			if got := r.Add([]byte{x}); got == there {
				t.Fatalf("%v: Add(%d) = %v at %d, added at %d", r, x, got, now, at)
			}
			if !there {
				added[x] = now
			}
		}
	})
}

// TestSnapshotWhileKeysCome: keys that come while the filter is written, and are in its
// bits, have taken their places, so that no layer of the copy gets more than it is for.
func TestSnapshotWhileKeysCome(t *testing.T) {
	const n = 800_000 // more than one write a layer
	var c clock
	f := must(n, 0.01, time.Hour, 4, c.option())
	var b [16]byte
	out := frametest.BusyWriter{Meanwhile: func() {
		for i := range uint64(n / 4) {
			f.Add(key(&b, i))
		}
	}}
	if _, err := f.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	g, err := Read(&out.Buffer, c.option())
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(n); i < n+n/4; i++ {
		g.Add(key(&b, i))
	}
	for i, e := range *g.live.Load() {
		if count, n := e.EstimatedCount(), e.Params().N; count > n+n/50 {
			t.Errorf("layer %d is for %d keys and has about %d", i, n, count)
		}
	}
}
