package counting

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
)

var strategies = append(bloom.Strategies(),
	bitsandblooms.Strategy, guava.Mitz32, guava.Mitz64,
	bloom.NewStrategy("custom", bloom.Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 { return (h1 + uint64(i)*h2) % m })}),
)

func must(n uint64, p float64, opts ...bloom.Option) *Filter {
	f, err := New(n, p, opts...)
	if err != nil {
		panic(err)
	}
	return f
}

// with returns a filter with m counters, k per key.
func with(m uint64, k int, opts ...bloom.Option) *Filter {
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: m, K: k, N: m / 10, P: 0.1}, opts...)
	if err != nil {
		panic(err)
	}
	f, err := newFilter(s, math.MaxUint64)
	if err != nil {
		panic(err)
	}
	return f
}

func key(b *[16]byte, i uint64) []byte { return layeredtest.Key(b, i) }

// fill adds a range of keys.
func fill(f *Filter, first, keys uint64) *Filter {
	var b [16]byte
	for i := range keys {
		f.Add(key(&b, first+i))
	}
	return f
}

// drain removes a range of keys in another order. Each must be present.
func drain(t *testing.T, f *Filter, first, keys uint64) {
	t.Helper()
	var b [16]byte
	for _, i := range rand.New(rand.NewPCG(3, 4)).Perm(int(keys)) {
		if !f.Remove(key(&b, first+uint64(i))) {
			t.Fatalf("%v: Remove of key %d = false", f, i)
		}
	}
}

// empty fails unless all counters are 0.
func empty(t *testing.T, f *Filter) {
	t.Helper()
	if ones := f.Stats().Ones; ones != 0 {
		t.Errorf("%v: %d counters are not 0 after everything was removed", f, ones)
	}
}

// TestPositionsThatCoincide: Remove takes back what Add gave if most positions of a key coincide.
func TestPositionsThatCoincide(t *testing.T) {
	f := fill(with(5, 9), 0, 7)
	drain(t, f, 0, 7)
	empty(t, f)
}

// TestFullStaysFull: a key that was added too often to be counted stays.
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
}

func TestNoAllocations(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED with the race detector, with which sync.Pool forgets at random")
	}
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

func TestBadParameters(t *testing.T) {
	limit := fill(must(1000, 0.01), 0, 1).SizeBytes() - 1
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
		{1000, 0.01, []bloom.Option{bloom.WithMaxBytes(limit)}, bloom.ErrTooLarge, fmt.Sprintf("want at most %d", limit)},
		{1 << 42, 0.01, nil, bloom.ErrTooLarge, "counters of 4 bits are "}, // the plain filter takes 5 TiB
	} {
		_, err := New(c.n, c.p, c.opts...)
		conformance.Refused(t, err, c.want, c.text)
	}
}

func TestBatches(t *testing.T) {
	layeredtest.Batches(t, must(3000, 0.01), must(3000, 0.01), func() {})
}

func TestValues(t *testing.T) { layeredtest.Values(t, must(1, 0.1)) }

// TestRemoveTogether: two goroutines remove a key that was added once, against the rule. If that gives one of
// them no true answer, it changes nothing, so that another key that shares half of the counters is found.
func TestRemoveTogether(t *testing.T) {
	const k = 64
	half := bloom.NewStrategy("half", bloom.Definition{KeyPositions: func(uint64, int, uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			for j := range dst {
				if dst[j] = uint64(j); dst[j] >= k/2 {
					dst[j] += uint64(key[0]) * k
				}
			}
		}, nil
	}})
	f := with(2*k, k, bloom.WithStrategy(half))
	removed, other := []byte{0}, []byte{1}
	f.Add(other)
	failed := 0
	for range testkit.Times(20_000, 20_000, 1_000_000) {
		f.Add(removed)
		var won atomic.Int64
		var wg testkit.Group
		for range 2 {
			wg.Go(func() {
				if f.Remove(removed) {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() == 0 { // each has met a counter that the other had counted down
			failed++
			f.Remove(removed)
		}
		if won.Load() > 1 || f.Contains(removed) || !f.Contains(other) {
			t.Fatalf("%d goroutines have removed the key; it is found: %v, the other one: %v", won.Load(), f.Contains(removed), f.Contains(other))
		}
	}
	t.Logf("%d times no goroutine has removed the key", failed)
}
