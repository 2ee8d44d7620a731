package counting

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
)

var strategies = []bloom.Strategy{
	bloom.DoubleHashing, bloom.SeededHashing, bloom.Blocked, bloom.Blocked1, bloom.Blocked8, bloom.SplitBlock,
	bitsandblooms.Strategy, guava.Mitz32, guava.Mitz64,
	bloom.NewStrategy("own", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m })}),
}

// custom is the index of the first strategy that is not built in.
const custom = 6

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
		if ones := f.Stats().Ones; ones != 0 {
			t.Errorf("%v: %d counters are not 0 after everything was removed", f, ones)
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

func TestNoAllocations(t *testing.T) {
	for _, s := range strategies {
		f := must(10_000, 0.001, bloom.WithStrategy(s))
		i := byte(0)
		if allocs := testing.AllocsPerRun(200, func() {
			var b [8]byte
			i++
			b[0] = i
			f.Add(b[:])
			f.Remove(binary.LittleEndian.AppendUint64(b[:0], uint64(i)))
			f.Contains(b[:])
			f.Remove(b[:])
			f.AddString("a string")
			f.ContainsString("a string")
			f.RemoveString("a string")
			keys, answers := [2][]byte{b[:], b[:2]}, [2]bool{}
			f.AddMany(keys[:], answers[:])
			f.ContainsMany(keys[:], answers[:])
		}); allocs != 0 {
			t.Errorf("%v: %v allocations", f, allocs)
		}
	}
}

// TestForNoKeys: n = 0 is the smallest filter, which misses no key.
func TestForNoKeys(t *testing.T) {
	f, err := New(0, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		key := fmt.Append(nil, i)
		if f.Add(key); !f.Contains(key) {
			t.Fatalf("key %d is missed", i)
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
	params := bloom.Params{M: 1 << 45, K: 1} // the plain filter has 4 TiB
	if f, err := NewWithParams(params); f != nil || !errors.Is(err, bloom.ErrTooLarge) || !strings.Contains(err.Error(), "m = 35184372088832 counters of 4 bits") {
		t.Errorf("NewWithParams(%+v) = %v, %v", params, f, err)
	}
	for _, m := range []uint64{1<<62 - 1, 1 << 62, math.MaxUint64} {
		if f, err := NewWithParams(bloom.Params{M: m, K: 1}); f != nil || !errors.Is(err, bloom.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("m = %d", m)) {
			t.Errorf("m = %d: %v, %v", m, f, err)
		}
	}
	if f, err := NewWithParams(bloom.Params{M: 1}); f != nil || !errors.Is(err, bloom.ErrInvalid) {
		t.Errorf("k = 0: %v, %v", f, err)
	}
	if got := must(10, 0.1, bloom.WithStrategy(bloom.SeededHashing)).Stats().Strategy; got != bloom.SeededHashing.Name() {
		t.Errorf("strategy %q", got)
	}
}

// TestMaxBytes: the limit is for all counters.
func TestMaxBytes(t *testing.T) {
	size := must(1000, 0.01).SizeBytes()
	f, err := New(1000, 0.01, bloom.WithMaxBytes(size))
	if err != nil {
		t.Fatal(err)
	}
	data := written(t, f)
	if _, err := Read(bytes.NewReader(data), bloom.WithMaxBytes(size)); err != nil {
		t.Errorf("read with enough: %v", err)
	}
	few := bloom.WithMaxBytes(size - 1)
	if f, err := New(1000, 0.01, few); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("New with a byte too few: %v, %v", f, err)
	}
	if f, err := NewWithParams(bloom.Params{M: size * 2, K: 3}, few); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("NewWithParams with a byte too few: %v, %v", f, err)
	}
	if f, err := Read(bytes.NewReader(data), few); f != nil || !errors.Is(err, bloom.ErrTooLarge) {
		t.Errorf("Read with a byte too few: %v, %v", f, err)
	}
}

// TestBatches: the answers are those of single calls.
func TestBatches(t *testing.T) {
	one, many := must(200, 0.01), must(200, 0.01)
	random := rand.New(rand.NewPCG(2, 2))
	for range 60 {
		keys := [][]byte{}
		for range random.IntN(100) {
			var b [16]byte
			keys = append(keys, key(&b, random.Uint64N(1500)))
		}
		for _, call := range []struct {
			single func(string) bool
			batch  func([][]byte, []bool) int
		}{{one.ContainsString, many.ContainsMany}, {one.AddString, many.AddMany}} {
			want, got, count := make([]bool, len(keys)), make([]bool, len(keys)), 0
			for i, k := range keys {
				if want[i] = call.single(string(k)); want[i] {
					count++
				}
			}
			if n := call.batch(keys, got); n != count || !slices.Equal(got, want) {
				t.Fatalf("%d, %v, want %d, %v", n, got, count, want)
			}
		}
	}
	defer func() {
		if got, want := recover(), "counting: room for 1 answers to 2 keys, want as many, or nil"; got != want {
			t.Errorf("panic: %v, want %q", got, want)
		}
	}()
	one.AddMany([][]byte{{1}, {2}}, make([]bool, 1))
}

// TestNoText: a filter refuses to be marshaled to text.
func TestNoText(t *testing.T) {
	if data, err := json.Marshal(must(1, 0.1)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("JSON: %s, %v", data, err)
	}
}
