package counting

import (
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
)

var all = flag.Bool("all", false, "run the large tests: millions of operations and races")

var strategies = []bloom.Strategy{
	bloom.DoubleHashing, bloom.SeededHashing, bloom.Blocked, bloom.Blocked1, bloom.Blocked8,
	bloom.NewStrategy("own", func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m }),
}

func must(n uint64, p float64, opts ...bloom.Option) *Filter {
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

func TestWordTricks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		word := random.Uint64() & random.Uint64()
		if random.Uint64()%2 == 0 {
			word |= random.Uint64() & random.Uint64() << 2
		}
		var zero, top uint64
		for i := range perWord {
			switch word >> (4 * i) & 15 {
			case 0:
				zero |= 1 << i
			case 15:
				top |= 1 << i
			}
		}
		if got := gather(nonzero(word)); got != ^zero&0xffff {
			t.Fatalf("gather(nonzero(%x)) = %x, want %x", word, got, ^zero&0xffff)
		}
		if got := gather(fulls(word)); got != top {
			t.Fatalf("gather(fulls(%x)) = %x, want %x", word, got, top)
		}
	}
}

// TestCountersStopAtBothEnds: neither end leaks into the neighbours.
func TestCountersStopAtBothEnds(t *testing.T) {
	c := make(counters, 2)
	for i := range uint64(32) {
		for n := range uint64(20) {
			if was := c.up(i); was != min(n, 15) {
				t.Fatalf("counter %d was %d after %d", i, was, n)
			}
		}
		if c.down(i) != 15 || c.get(i) != 15 {
			t.Fatalf("counter %d went back from 15 to %d", i, c.get(i))
		}
	}
	c = make(counters, 2)
	for i := range uint64(32) {
		if c.down(i) != 0 || c.get(i) != 0 {
			t.Fatalf("counter %d went below 0", i)
		}
		c.up(i)
		c.up(i)
		if c.down(i) != 2 || c.get(i) != 1 {
			t.Fatalf("counter %d is %d, want 1", i, c.get(i))
		}
	}
}

// TestRemoveTakesBackExactly: after the same keys were added and removed, in another
// order, every counter is 0 again; also where nearly all positions of a key coincide.
func TestRemoveTakesBackExactly(t *testing.T) {
	filters := []*Filter{}
	for _, s := range strategies {
		filters = append(filters, must(300, 0.01, bloom.WithStrategy(s)))
	}
	tiny, err := NewWithParams(bloom.Params{M: 5, K: 9})
	if err != nil {
		t.Fatal(err)
	}
	filters = append(filters, tiny)
	for _, f := range filters {
		n := 300
		if f == tiny {
			n = 7 // or counters fill up
		}
		order := rand.New(rand.NewPCG(3, 4)).Perm(n)
		var b [16]byte
		for i := range n {
			f.Add(key(&b, uint64(i)))
		}
		for _, i := range order {
			if !f.Remove(key(&b, uint64(i))) {
				t.Fatalf("%v: Remove of key %d = false", f, i)
			}
		}
		if ratio := f.FillRatio(); ratio != 0 {
			t.Errorf("%v: FillRatio = %v after everything was removed", f, ratio)
		}
	}
}

// TestRemoveAbsent changes nothing.
func TestRemoveAbsent(t *testing.T) {
	for _, s := range strategies {
		f := must(1000, 1e-6, bloom.WithStrategy(s))
		var b [16]byte
		for i := range uint64(1000) {
			f.Add(key(&b, i))
		}
		before := snapshot(f)
		for i := range uint64(2000) {
			if f.Remove(key(&b, 5000+i)) {
				t.Fatalf("%v: Remove of a key that was never added = true", f)
			}
		}
		for i, word := range snapshot(f) {
			if word != before[i] {
				t.Fatalf("%v: word %d was %x and is %x", f, i, before[i], word)
			}
		}
	}
}

func snapshot(f *Filter) []uint64 {
	words := make([]uint64, len(f.counters))
	for i := range words {
		words[i] = f.counters[i].Load()
	}
	return words
}

// TestFullStaysFull: a key that was added too often to be counted never goes.
func TestFullStaysFull(t *testing.T) {
	f := must(100, 0.01)
	for range 40 {
		f.AddString("often")
	}
	f.AddString("once")
	for range 100 {
		f.RemoveString("often")
	}
	if !f.ContainsString("often") || !f.ContainsString("once") {
		t.Error("a key is missing")
	}
	if f.Full() == 0 || f.Full() > uint64(f.Params().K) {
		t.Errorf("Full = %d, want 1 to %d", f.Full(), f.Params().K)
	}
}

// TestSameAsPlain: a plain filter with the keys that are left is the same, bit by bit.
func TestSameAsPlain(t *testing.T) {
	for _, s := range strategies {
		for _, params := range []uint64{10, 1000} {
			f := must(params, 0.001, bloom.WithStrategy(s), bloom.WithSeed(7))
			plain := bloom.MustNew(params, 0.001, bloom.WithStrategy(s), bloom.WithSeed(7))
			var b [16]byte
			for i := range 2 * params {
				f.Add(key(&b, i))
			}
			for i := range params {
				f.Remove(key(&b, i))
				plain.Add(key(&b, i+params))
			}
			if !f.BloomFilter().Equal(plain) {
				t.Errorf("%v: differs from %v", f, plain)
			}
			if f.FillRatio() != plain.FillRatio() || f.EstimatedCount() != plain.EstimatedCount() ||
				f.EstimatedFalsePositiveRate() != plain.EstimatedFalsePositiveRate() {
				t.Errorf("%v: other estimates than %v", f, plain)
			}
			if got, want := f.SizeBytes(), 4*plain.SizeBytes(); got != want {
				t.Errorf("%v: %d bytes, want %d", f, got, want)
			}
		}
	}
}

// TestAgainstExactModel runs random adds and removes against a map that counts, and
// asks for every key that is there and for as many that are not.
func TestAgainstExactModel(t *testing.T) {
	ops := 300_000
	if testing.Short() || lockstep.RaceDetector {
		ops = 60_000
	}
	if *all {
		ops = 20_000_000
	}
	const n, p = 2000, 0.01
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		f := must(n, p, bloom.WithStrategy(s))
		random := rand.New(rand.NewPCG(5, uint64(len(s.Name()))))
		there := map[uint64]int{} // key: how often
		list := []uint64{}        // the keys of there
		at := map[uint64]int{}    // where in the list
		var b [16]byte
		asked, wrong, expected, next := 0, 0, 0.0, uint64(0)
		lied := 0 // keys that were new, and Add said no
		for op := range ops {
			switch x := random.Uint64() % 8; {
			case x < 4 && len(list) < n: // a new key
				if !f.Add(key(&b, next)) {
					lied++
				}
				there[next], at[next] = 1, len(list)
				list = append(list, next)
				next++
			case x == 4 && len(list) > 0: // one that is there, so that some counters are full at last
				k := list[random.IntN(len(list))]
				if there[k] < 3 {
					if f.Add(key(&b, k)) {
						t.Fatalf("%v: op %d: Add of a key that is there = true", f, op)
					}
					there[k]++
				}
			case len(list) > 0:
				k := list[random.IntN(len(list))]
				if !f.Remove(key(&b, k)) {
					t.Fatalf("%v: op %d: Remove of a key that is there = false", f, op)
				}
				if there[k]--; there[k] == 0 {
					delete(there, k)
					last := list[len(list)-1]
					list[at[k]], at[last] = last, at[k]
					list = list[:len(list)-1]
					delete(at, k)
				}
			}
			if op%(n*8) == 0 {
				for k := range there {
					if !f.Contains(key(&b, k)) {
						t.Fatalf("%v: op %d: a key is missing", f, op)
					}
				}
				rate := f.EstimatedFalsePositiveRate()
				for i := range uint64(20_000) {
					asked++
					expected += rate
					if f.Contains(key(&b, 1<<40+uint64(op)<<20+i)) {
						wrong++
					}
				}
			}
		}
		t.Logf("%v: %d operations, %d keys, %d at the end, %d of %d absent ones found (%.3f %%, by the fill %.3f %%), %d new ones not seen as new, %d counters full",
			f, ops, next, len(list), wrong, asked, 100*float64(wrong)/float64(asked), 100*expected/float64(asked), lied, f.Full())
		if limit := p*float64(asked) + 4*math.Sqrt(p*float64(asked)); float64(wrong) > limit {
			t.Errorf("%v: %d false positives of %d, want at most %.0f", f, wrong, asked, limit)
		}
		if sigma := math.Sqrt(expected + 1); math.Abs(float64(wrong)-expected) > 5*sigma {
			t.Errorf("%v: %d false positives, by the fill %.0f ± %.0f", f, wrong, expected, sigma)
		}
		if limit := p*float64(next) + 4*math.Sqrt(p*float64(next)); float64(lied) > limit {
			t.Errorf("%v: %d new keys of %d not seen as new, want at most %.0f", f, lied, next, limit)
		}
	}
}

// TestConcurrent: goroutines add and remove keys of their own, which share counters with
// those of the others. None may ever miss one, and in the end all counters are 0.
func TestConcurrent(t *testing.T) {
	rounds := 300
	if *all {
		rounds = 20_000
	}
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked} {
		f := must(64, 0.01, bloom.WithStrategy(s))
		var wg sync.WaitGroup
		for g := range uint64(4) {
			wg.Go(func() {
				var b [16]byte
				for range rounds {
					for i := range uint64(16) {
						f.Add(key(&b, g<<32+i))
					}
					for i := range uint64(16) {
						if !f.Contains(key(&b, g<<32+i)) {
							t.Errorf("%v: a key is missing", f)
							return
						}
					}
					for i := range uint64(16) {
						if !f.Remove(key(&b, g<<32+i)) {
							t.Errorf("%v: Remove of a key that is there = false", f)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if ratio := f.FillRatio(); ratio != 0 {
			t.Errorf("%v: FillRatio = %v after everything was removed", f, ratio)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, s := range strategies {
		f := must(10_000, 0.001, bloom.WithStrategy(s))
		i := byte(0)
		if allocs := testing.AllocsPerRun(200, func() {
			var b [8]byte
			i++
			b[0] = i
			f.Add(b[:])
			f.Contains(b[:])
			f.Remove(b[:])
			f.AddString("a string")
			f.ContainsString("a string")
			f.RemoveString("a string")
			keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
			f.AddMany(keys[:], answers[:])
			f.ContainsMany(keys[:], answers[:])
			f.RemoveMany(keys[:], answers[:])
		}); allocs != 0 {
			t.Errorf("%v: %v allocations", f, allocs)
		}
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
		{0, 0.01, nil, bloom.ErrInvalid, "n = 0"},
		{1, 0, nil, bloom.ErrInvalid, "p = 0"},
		{1, math.NaN(), nil, bloom.ErrInvalid, "p = NaN"},
		{1, 0.5, []bloom.Option{bloom.WithStrategy(bloom.Strategy{})}, bloom.ErrInvalid, "strategy"},
		{1 << 50, 0.01, nil, bloom.ErrTooLarge, "bytes"},
		{1 << 60, 0.01, nil, bloom.ErrInvalid, "n = "},
	} {
		f, err := New(c.n, c.p, c.opts...)
		if f != nil || err == nil || !errors.Is(err, c.want) && !errors.Is(err, bloom.ErrTooLarge) || !strings.Contains(err.Error(), c.text) && c.n < 1<<50 {
			t.Errorf("New(%d, %v) = %v, %v; want %v with %q", c.n, c.p, f, err, c.want, c.text)
		}
	}
}
