package rotating

import (
	"bytes"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// fill adds a range of keys.
func fill(f *Filter, first, keys uint64) *Filter {
	var b [16]byte
	for i := range keys {
		f.Add(key(&b, first+i))
	}
	return f
}

func (c *clock) read(r io.Reader, opts ...bloom.Option) (io.WriterTo, error) {
	return Read(r, c.option(), WithBloom(opts...))
}

// formatOf returns the format with a golden file of layers in four generations, and two snapshots of one filter.
func formatOf(t testing.TB, c *clock) conformance.Format {
	f := must(16, 0.1, time.Minute, 2, c.option())
	for i := range uint64(2) {
		fill(f, i<<20, 4+i)
		c.sleep(f.time.length)
	}
	fill(f, 1<<40, 1)
	earlier := conformance.Written(t, f)
	later := conformance.Written(t, fill(f, 1<<41, 2))
	c.until(0)
	f = must(12, 0.1, time.Minute, 3, c.option(), WithBloom(bloom.WithSeed(7)))
	for i := range uint64(8) {
		fill(f, i, 1)
		c.sleep(5 * time.Second)
	}
	return conformance.Format{
		Values: []io.WriterTo{fill(f, 8, 2)}, Large: fill(must(8_000_000, 0.01, time.Hour, 2, c.option()), 0, 1000), Zero: []io.WriterTo{new(Filter)},
		Read: c.read, Sealed: true, Stream: true, Version: 7,
		Earlier: earlier, Later: later,
	}
}

func TestFormat(t *testing.T) {
	var c clock
	if f := formatOf(t, &c).TestGolden(t, "testdata/v2.golden").(*Filter); len(*f.layers.Load()) < 3 {
		t.Error(f)
	}
}

func FuzzRead(f *testing.F) { formatOf(f, new(clock)).Fuzz(f) }

// TestGoesOnAfterRead: a filter that is read remembers and forgets as the original does.
func TestGoesOnAfterRead(t *testing.T) {
	for _, opts := range [][]bloom.Option{
		nil, {bloom.WithSecret([16]byte{1, 2})}, {bloom.WithStrategy(bloom.Blocked), bloom.WithSeed(5)}, {bloom.WithHash(bloom.RapidHash), bloom.WithSeed(5)},
	} {
		var c clock
		f := must(100, 1e-6, time.Hour, 3, c.option(), WithBloom(opts...))
		next := uint64(0)
		add := func(filters ...*Filter) {
			for _, f := range filters {
				fill(f, next, 20)
			}
			next += 20
			c.sleep(13 * time.Minute)
		}
		for range 10 {
			add(f)
		}
		g, err := Read(bytes.NewReader(conformance.Written(t, f)), c.option(), WithBloom(opts...))
		if err != nil {
			t.Fatal(err)
		}
		var b [16]byte
		for range 20 {
			for i := range next {
				if f.Contains(key(&b, i)) != g.Contains(key(&b, i)) {
					t.Fatalf("%v: key %d: %v; the original: %v", g, i, g.Contains(key(&b, i)), f.Contains(key(&b, i)))
				}
			}
			add(f, g)
		}
		if !bytes.Equal(conformance.Written(t, f), conformance.Written(t, g)) {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

func TestOptions(t *testing.T) {
	conformance.Options(t, func(opts ...bloom.Option) (io.WriterTo, uint64) {
		f := must(10, 0.1, time.Hour, 2, WithBloom(opts...))
		return f, 3 * f.own
	}, new(clock).read)
	data := conformance.Written(t, must(10, 0.1, time.Hour, 2))
	_, err := Read(bytes.NewReader(data), WithGenerations(3))
	conformance.Refused(t, err, bloom.ErrIncompatible, "the data has 2 generations, want 3")
	if f, err := Read(bytes.NewReader(data), WithGenerations(2)); err != nil || f.Window() != time.Hour {
		t.Errorf("%v, %v", f, err)
	}
}

// TestOptionsAreKept: options of two calls add up, a caller that uses its slice again changes no later layer, and Read
// takes what is left out from the file.
func TestOptionsAreKept(t *testing.T) {
	var c clock
	opts := []bloom.Option{bloom.WithStrategy(bloom.Blocked)}
	with := func(opts ...bloom.Option) []Option {
		return []Option{c.option(), WithBloom(opts...), WithBloom(bloom.WithSeed(5))}
	}
	f := must(10, 0.01, time.Hour, 2, with(opts...)...)
	given, err := Read(bytes.NewReader(conformance.Written(t, f)), with(opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	opts[0] = bloom.WithStrategy(bloom.DoubleHashing)
	for _, f := range []*Filter{f, given, again(t, f, c.option())} {
		newest := fill(f, 0, 100).layers.Load().Newest()
		if s := newest.Scheme(); newest.Serial == 0 || s.Strategy() != bloom.Blocked || s.Seed() != 5 || !f.Contains(key(new([16]byte), 0)) {
			t.Errorf("layer %d is %v", newest.Serial, newest)
		}
	}
}

// TestReadLimit: the limit is for all layers together.
func TestReadLimit(t *testing.T) {
	var c clock
	f := fill(must(10, 0.01, time.Minute, 2, c.option()), 0, 500)
	data := conformance.Written(t, f)
	if _, err := c.read(bytes.NewReader(data), bloom.WithMaxBytes(f.SizeBytes())); err != nil {
		t.Error(err)
	}
	_, err := c.read(bytes.NewReader(data), bloom.WithMaxBytes(f.SizeBytes()-1))
	conformance.Refused(t, err, bloom.ErrTooLarge, "in layer ")
}

// TestForgedNumbers: a forged file can have the right checksums.
func TestForgedNumbers(t *testing.T) {
	const n, p, window, generations = 12, 0.1, uint64(time.Minute), 3 // a share of 0.025 for each generation
	made := func(n uint64, p float64, opts ...bloom.Option) any { return bloom.MustNew(n, p, opts...) }
	first, second := made(4, layered.Rate(0.025, 0)), made(7, layered.Rate(0.025, 1))
	few, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{N: 1 << 63, P: layered.Rate(0.025, 0), M: 64, K: 1}))
	if err != nil {
		t.Fatal(err)
	}
	const tinyP = 1e-18 // the first layer can have its rate, later ones cannot
	tiny := made(4, layered.Rate(tinyP/4, 0))
	numbers := func(generation, used, left uint64) []uint64 { return []uint64{generation, used, left} }
	forge := func(at int, x uint64, layers ...any) []byte {
		header := []uint64{n, math.Float64bits(p), window, generations, 0, 0, 5, 0, uint64(len(layers) / 2)}
		header[at] = x
		return conformance.Forge(t, magic, append([]any{header}, layers...)...)
	}
	layers := func(layers ...any) []byte { return forge(0, n, layers...) }
	header := func(at int, x uint64) []byte { return forge(at, x, first, numbers(2, 0, 4)) }
	var c clock
	if _, err := c.read(bytes.NewReader(layers(first, numbers(2, 4, 0), second, numbers(2, 3, 4), first, numbers(5, 0, 0)))); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	many := slices.Repeat([]any{first, numbers(2, 0, 0)}, maxLayers+1)
	for i := range maxLayers + 1 {
		many[2*i] = made(1, layered.Rate(0.025, i))
	}
	for _, c := range []struct {
		data []byte
		text string
	}{
		{header(1, math.Float64bits(math.NaN())), "p = NaN, want 0 < p < 1"},
		{forge(1, math.Float64bits(tinyP), tiny, numbers(2, 0, 4)), "in layer 12 of a filter for n = 12 keys at p = 1e-18"},
		{header(2, 0), "window = 0s, want more than 0"},
		{header(2, 1<<63), "want more than 0"},
		{header(2, 2), "window = 2ns, want at least 1 ns for each of 3 generations"},
		{header(3, 0), "generations = 0, want 1 to 1000"},
		{header(3, 1<<32), "generations = 1001, want 1 to 1000"},
		{header(5, 1e9), "1000000000 ns of a second, want less than 10^9"},
		{header(6, 1<<63), "generation 9223372036854775808, want at most"},
		{header(7, 20e9), "20000000000 ns of a generation, want less than 20000000000"},
		{header(8, 0), "0 layers, want 1 to 512"},
		{header(8, 513), "513 layers, want 1 to 512"},
		{header(8, 2), "it ends within the filter: unexpected EOF, in layer 1"},
		{header(3, 4), "it is for n = 4 and p = 0.0125, want 4 and 0.01, in layer 0"},
		{layers(first, numbers(6, 0, 4)), "generation 6, want 0 to 5, in layer 0"},
		{layers(first, numbers(1<<63, 0, 4)), "want 0 to 5"},
		{layers(first, numbers(2, 0, 4), first, numbers(1, 0, 4)), "generation 1, want 2 to 5, in layer 1"},
		{layers(first, numbers(1, 0, 4), first, numbers(5, 0, 4)), "generation 5, want 1 to 4, in layer 1"},
		{layers(first, numbers(2, 0, 5)), "0 keys and 5 more, want at most 4"},
		{layers(first, numbers(2, 2, 3)), "2 keys and 3 more, want at most 4"},
		{layers(first, numbers(2, 1<<63, 3)), "want at most 4"},
		{layers(first, numbers(2, 0, 4), first, numbers(2, 0, 4)), "it is for n = 4 and p = 0.0125, want 4 and 0.00416"},
		{layers(second, numbers(2, 0, 4)), "it is for n = 7 and p = 0.00416"},
		{layers(first, numbers(2, 0, 4), made(4, 0.0125, bloom.WithSeed(9)), numbers(3, 0, 4)), "in layer 1"},
		{layers(made(4, 0.0125, bloom.WithStrategy(bloom.SeededHashing)), numbers(2, 0, 4)), "needs the key itself"},
		{layers(few, numbers(2, 1<<63, 0), few, numbers(3, 1<<63, 0)), "it is for n = 9223372036854775808 keys in m = 64 bits, want at most a key per bit, in layer 0"},
		{layers(many...), "more than 128 layers in generation 2, in layer 128 of 129"},
	} {
		_, err := new(clock).read(bytes.NewReader(c.data))
		conformance.Refused(t, err, bloom.ErrCorrupt, c.text)
	}
}
