package counting

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

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

// small is what the golden file holds: every value of a counter is in it.
func small(t testing.TB) *Filter {
	f, err := NewWithParams(bloom.Params{M: 100, K: 3, N: 10, P: 0.1}, bloom.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	for i := range uint64(18) {
		for range i {
			f.Add(key(&b, i))
		}
	}
	f.Remove(key(&b, 3))
	return f
}

func TestGolden(t *testing.T) {
	f := small(t)
	golden := frametest.Golden(t, "testdata/v1.golden", written(t, f))
	g, err := Read(bytes.NewReader(golden))
	if err != nil {
		t.Fatal(err)
	}
	for i, word := range snapshot(f) {
		if got := g.counters[i].Load(); got != word {
			t.Fatalf("word %d is %x, want %x", i, got, word)
		}
	}
	frametest.Damage(t, golden, read)
	frametest.Failing(t, f.WriteTo)
}

func read(r io.Reader) error { _, err := Read(r); return err }

// snapshots returns two files of one filter, with some adds and removes between them.
func snapshots(t testing.TB, m uint64) (earlier, later []byte) {
	f, err := NewWithParams(bloom.Params{M: m, K: 3, N: m / 10, P: 0.1}, bloom.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	var b [16]byte
	for i := range m / 6 {
		for range 1 + i%9 {
			f.Add(key(&b, i))
		}
	}
	earlier = written(t, f)
	for i := range m / 10 {
		f.Remove(key(&b, i))
		f.Add(key(&b, 1000+i))
		f.Add(key(&b, 1000+i))
	}
	return earlier, written(t, f)
}

// TestCopies: no block of a file can be written over another one unnoticed.
func TestCopies(t *testing.T) {
	sizes := []uint64{40}
	if *effort.Long {
		sizes = []uint64{1, 64, 100, 700} // of 1 kB at most
	}
	for _, m := range sizes {
		data, _ := snapshots(t, m)
		frametest.Copies(t, data, read)
	}
}

// TestOtherDamage: nor anything else that storage does.
func TestOtherDamage(t *testing.T) {
	a, b := snapshots(t, 100)
	frametest.Damages(t, effort.Times(10_000, 100_000, 11_000_000), read, a, b)
}

// TestMixedSnapshots: every combination of the planes and the end of two snapshots but the
// two themselves is refused; so is every other order of the planes.
func TestMixedSnapshots(t *testing.T) {
	a, b := snapshots(t, 100)
	plane := (len(a) - len(magic) - 8) / counterBits
	part := func(data []byte, i int) []byte {
		return data[len(magic)+i*plane:][:min(plane, len(data)-len(magic)-i*plane)]
	}
	for mix := 1; mix < 31; mix++ {
		mixed := []byte(magic)
		for i := range counterBits + 1 {
			mixed = append(mixed, part([][]byte{a, b}[mix>>i&1], i)...)
		}
		if err := read(bytes.NewReader(mixed)); !errors.Is(err, bloom.ErrCorrupt) {
			t.Errorf("planes of two snapshots, %05b: %v", mix, err)
		}
	}
	for order := range 256 {
		mixed := []byte(magic)
		for i := range counterBits {
			mixed = append(mixed, part(a, order>>(2*i)&3)...)
		}
		mixed = append(mixed, part(a, counterBits)...)
		if err := read(bytes.NewReader(mixed)); (err == nil) != bytes.Equal(mixed, a) {
			t.Errorf("planes %d, %d, %d and %d: %v", order&3, order>>2&3, order>>4&3, order>>6, err)
		}
	}
}

func TestScatter(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for range 10_000 {
		if x := random.Uint64(); gather(scatter(x)) != x&0xffff || scatter(x)&^lowest != 0 {
			t.Fatalf("scatter(%x) = %x", x, scatter(x))
		}
	}
}

func TestRoundTrip(t *testing.T) {
	secret := [16]byte{1, 2, 3}
	for _, s := range strategies {
		opts := []bloom.Option{bloom.WithStrategy(s)}
		if s.Name() == "own" {
			opts = append(opts, bloom.WithKey(secret))
		} else if s == bloom.Blocked8 {
			opts = append(opts, bloom.WithHash(bloom.RapidHash), bloom.WithSeed(3))
		}
		f := must(500, 0.01, opts...)
		var b [16]byte
		for i := range uint64(600) {
			f.Add(key(&b, i))
		}
		g, err := Read(bytes.NewReader(written(t, f)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(600) {
			if !g.Remove(key(&b, i)) {
				t.Fatalf("%v: key %d is missing", g, i)
			}
		}
		if g.FillRatio() != 0 || g.Params() != f.Params() {
			t.Errorf("%v is not %v", g, f)
		}
	}
}

func TestWhatCannotBeWrittenOrRead(t *testing.T) {
	var b bytes.Buffer
	if n, err := must(10, 0.1, bloom.WithHash(bloom.MapHash)).WriteTo(&b); !errors.Is(err, bloom.ErrNotPortable) || n != 0 || b.Len() != 0 {
		t.Errorf("MapHash: %d bytes, %v", n, err)
	}
	keyed := written(t, must(10, 0.1, bloom.WithKey([16]byte{1})))
	for _, opts := range [][]bloom.Option{nil, {bloom.WithKey([16]byte{2})}, {bloom.WithKey([16]byte{1}), bloom.WithStrategy(bloom.Blocked)}} {
		if f, err := Read(bytes.NewReader(keyed), opts...); f != nil || !errors.Is(err, bloom.ErrIncompatible) {
			t.Errorf("with %d options: %v, %v", len(opts), f, err)
		}
	}
	if f, err := Read(bytes.NewReader(keyed), bloom.WithKey([16]byte{1}), bloom.WithMaxBytes(3)); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("with 3 bytes of memory: %v, %v", f, err)
	}
	// Planes of different filters, with the right checksum.
	a, c := bloom.MustNew(10, 0.1), bloom.MustNew(20, 0.1)
	for i := range counterBits {
		planes := []*bloom.BloomFilter{a, a, a, a}
		planes[i] = c
		var b bytes.Buffer
		out := frame.NewWriter(&b)
		out.Magic(magic)
		for _, plane := range planes {
			out.Filter(plane)
		}
		out.Numbers()
		if _, err := out.Result(); err != nil {
			t.Fatal(err)
		}
		if f, err := Read(&b); f != nil || !errors.Is(err, bloom.ErrCorrupt) {
			t.Errorf("mixed: %v, %v", f, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	golden := written(f, small(f))
	f.Add(golden)
	for i := 0; i < len(golden); i += 37 {
		damaged := bytes.Clone(golden)
		damaged[i] ^= 0x11
		f.Add(damaged)
		f.Add(golden[:i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
		if err != nil {
			return
		}
		if again := written(t, g); !bytes.HasPrefix(data, again) {
			t.Fatalf("%x was read and written as %x", data, again)
		}
	})
}

// FuzzAgainstMap reads its input as a program of operations and runs it on a filter and
// on a map that counts.
func FuzzAgainstMap(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 2, 1, 2, 1, 2, 1})
	f.Add([]byte("\x00a\x01b\x00a\x02a\x02b\x02c\x03\x00"))
	// So large for 256 keys that one false positive in all the fuzzing of a year would be
	// bad luck.
	params := bloom.Params{M: 1 << 15, K: 16}
	f.Fuzz(func(t *testing.T, program []byte) {
		for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked4} {
			c, err := NewWithParams(params, bloom.WithStrategy(s))
			if err != nil {
				t.Fatal(err)
			}
			there := map[byte]int{}
			for i := 0; i+1 < len(program); i += 2 {
				x := program[i+1]
				switch key := []byte{x}; program[i] % 4 {
				case 0, 1:
					if got := c.Add(key); got != (there[x] == 0) {
						t.Fatalf("%v: Add(%d) = %v, there %d times", c, x, got, there[x])
					}
					there[x]++
				case 2:
					if got := c.Remove(key); got != (there[x] > 0) {
						t.Fatalf("%v: Remove(%d) = %v, there %d times", c, x, got, there[x])
					}
					if there[x] > 0 && there[x] < full { // from 15 on it stays
						there[x]--
					}
				case 3:
					if c, err = Read(bytes.NewReader(written(t, c))); err != nil {
						t.Fatal(err)
					}
				}
			}
			for x := range 256 {
				if got := c.Contains([]byte{byte(x)}); got != (there[byte(x)] > 0) {
					t.Fatalf("%v: Contains(%d) = %v, there %d times", c, x, got, there[byte(x)])
				}
			}
		}
	})
}
