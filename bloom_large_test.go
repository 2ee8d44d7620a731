package bloom

import (
	"math"
	"math/bits"
	"runtime"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/stretchr/testify/require"
)

// TestBeyond33Bits is about a filter of a gigabyte, in which 32-bit positions reach
// only half: its keys are found, use all parts of it alike, and its rate is that of
// all its bits.
func TestBeyond33Bits(t *testing.T) {
	const m = 1<<33 + 1<<20
	total, known := memory.Physical()
	switch {
	case !*effort.Long:
		t.Skip("NOT TESTED without -long: a filter of more than 2^33 bits, which takes seconds and a gigabyte")
	case lockstep.RaceDetector:
		t.Skip("NOT TESTED with the race detector, which takes four times the memory: a filter of more than 2^33 bits")
	case bits.UintSize < 64:
		t.Skip("NOT TESTED on 32 bits, whose address space has no room to spare: a filter of more than 2^33 bits")
	case !known || total < 3<<30:
		t.Skipf("NOT TESTED: a filter of more than 2^33 bits, for this machine is not known to have 3 GiB of memory but %d bytes", total)
	}
	for _, c := range []struct {
		s Strategy
		k int
	}{{DoubleHashing, 8}, {Blocked2, 6}, {SplitBlock, 8}} {
		f, err := NewWithParams(Params{M: m, K: c.k}, WithStrategy(c.s))
		require.NoError(t, err)

		const n = 100_000
		for i := range uint64(n) {
			f.AddDigest(digestOf(i))
		}
		for i := range uint64(n) {
			if !f.ContainsDigest(digestOf(i)) {
				t.Fatalf("%s: key %d is missed", c.s, i)
			}
		}
		// So few bits that hardly two are the same: 64 parts share them evenly.
		counts := make([]float64, 64)
		part := uint64(len(f.bits)) / 64
		for i := range counts {
			counts[i] = float64(f.bits[uint64(i)*part : uint64(i+1)*part].count())
		}
		ones := 0.0
		for _, count := range counts {
			ones += count
		}
		for i, count := range counts {
			want := ones / 64
			sigma := math.Sqrt(want)
			if inBlocks(c.s) {
				sigma *= math.Sqrt(float64(c.k)) // a key's bits are all in the same part
			}
			if math.Abs(count-want) > 5*sigma {
				t.Errorf("%s: part %d of 64 has %.0f bits set, want %.0f ± %.0f", c.s, i, count, want, sigma)
			}
		}
		require.InEpsilon(t, n, f.Stats().EstimatedCount, 0.001, c.s)

		// Half of the bits set in the lower half, three quarters in the upper one:
		// the rate tells where lookups go.
		var pattern [4096]uint64
		for i := range pattern {
			pattern[i] = mix(uint64(i))
		}
		half := len(f.bits) / 2
		for i := range f.bits {
			w := pattern[i%len(pattern)]
			if i >= half {
				w |= pattern[(i+1)%len(pattern)]
			}
			f.bits[i].Store(w)
		}
		want := f.Stats().EstimatedFalsePositiveRate
		lower, upper := math.Pow(0.5, float64(c.k)), math.Pow(0.75, float64(c.k))
		if inBlocks(c.s) {
			require.InEpsilon(t, (lower+upper)/2, want, 0.06) // words differ by chance, which adds some
		} else {
			require.InEpsilon(t, math.Pow(0.625, float64(c.k)), want, 0.01)
		}
		const probes = 500_000
		hits := 0.0
		for i := range uint64(probes) {
			if f.ContainsDigest(digestOf(n + i)) {
				hits++
			}
		}
		if sigma := math.Sqrt(probes * want); math.Abs(hits-probes*want) > 4*sigma {
			t.Errorf("%s: %.0f false positives, want %.0f ± %.0f", c.s, hits, probes*want, sigma)
		}
		f = nil
		runtime.GC() // one at a time
	}
}

// TestBeyond32Bits has positions above 2^32 in use, in half a gigabyte of filter; with
// -long by every strategy.
func TestBeyond32Bits(t *testing.T) {
	const m = 1<<32 + 1<<20
	if testing.Short() {
		t.Skip("NOT TESTED with -short: a filter of more than 2^32 bits")
	}
	if total, ok := memory.Physical(); ok && total < 2<<30 {
		t.Skipf("NOT TESTED: a filter of more than 2^32 bits, for this machine has only %d bytes of memory", total)
	}
	strategies := []Strategy{DoubleHashing}
	if *effort.Long {
		strategies = allStrategies
	}
	for _, s := range strategies {
		f, err := NewWithParams(Params{M: m, K: 8}, WithStrategy(s))
		require.NoError(t, err)
		require.Equal(t, uint64(m/8), f.SizeBytes())
		// Only the last 2^20 bits are beyond 2^32: 1 of 4096 positions.
		const n = 20_000
		var b [40]byte
		for i := range uint64(n) {
			if !f.Add(key40(&b, i)) {
				t.Fatalf("%s: key %d is new, in a filter as good as empty", s, i)
			}
		}
		for i := range uint64(n) {
			if !f.Contains(key40(&b, i)) {
				t.Fatalf("%s: key %d is missed", s, i)
			}
			if f.Contains(key40(&b, n+i)) {
				t.Fatalf("%s: key %d was not added", s, n+i)
			}
		}
		beyond := f.bits[1<<26:].count()
		expected := 8.0 * n * (1 << 20) / m
		require.InDelta(t, expected, beyond, 6*math.Sqrt(8*expected), "%s: bits set beyond 2^32", s)
		require.InDelta(t, n, f.Stats().EstimatedCount, n/100)
		f = nil
		runtime.GC() // one at a time, on machines with little memory
	}
}
