package bloom

import (
	"math"
	"runtime"
	"testing"

	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/stretchr/testify/require"
)

// TestNoAllocations, and no escape: buffers on the caller's stack stay there.
func TestNoAllocations(t *testing.T) {
	filters := []*BloomFilter{
		MustNew(10_000, 0.01, WithStrategy(customSeeded)),
		MustNew(10_000, 0.001, WithHash(MapHash)),
		MustNew(10_000, 0.001, WithHash(RapidHash)),
		MustNew(10_000, 0.001, WithKey(testKey)),
		MustNew(10_000, 0.001, WithHash(customHash)),
		MustNew(10_000, 0.001, WithHash(customHash64)),
		MustNew(1_000_000, 0.001, WithHash(customHash64)),
	}
	for _, s := range allStrategies {
		filters = append(filters, MustNew(10_000, 0.001, WithStrategy(s)))
		if f, err := NewWithParams(Params{M: 1 << 20, K: 64}, WithStrategy(s)); err == nil { // other code
			filters = append(filters, f)
		}
	}
	for _, f := range filters {
		s := f.Strategy()
		sum := 0
		calls := map[string]func(i uint64){
			"Add": func(i uint64) {
				var b [8]byte
				b[0], b[1] = byte(i), byte(i>>8)
				f.Add(b[:])
			},
			"Contains": func(i uint64) {
				var b [8]byte
				b[0], b[1] = byte(i), byte(i>>8)
				f.Contains(b[:])
			},
			"AddString":      func(i uint64) { f.AddString(bufferString[:1+i%8]) },
			"ContainsString": func(i uint64) { f.ContainsString(bufferString[:1+i%8]) },
			"AddMany": func(i uint64) {
				var b [8]byte
				b[0] = byte(i)
				keys, added := [3][]byte{b[:1], b[:4], b[:]}, [3]bool{}
				f.AddMany(keys[:], added[:])
			},
			"ContainsMany": func(i uint64) {
				var b [8]byte
				b[0] = byte(i)
				keys, found := [3][]byte{b[:1], b[:4], b[:]}, [3]bool{}
				f.ContainsMany(keys[:], found[:])
			},
			"AddStrings": func(i uint64) {
				keys := [2]string{bufferString[:1+i%8], bufferString[:2]}
				f.AddStrings(keys[:], nil)
				f.ContainsStrings(keys[:], nil)
			},
		}
		positions := make([]uint64, 0, 64)
		calls["AppendPositions"] = func(i uint64) {
			var b [8]byte
			b[0] = byte(i)
			sum += len(f.Scheme().AppendPositions(positions, b[:]))
		}
		if !s.NeedsKey() {
			calls["Hash"] = func(i uint64) {
				var b [8]byte
				b[0] = byte(i)
				h1, _ := f.Digest(b[:])
				s1, _ := f.DigestString(bufferString[:1+i%8])
				sum += int(h1 ^ s1)
			}
			calls["AddDigest"] = func(i uint64) { f.AddDigest(digestOf(i)) }
			calls["ContainsDigest"] = func(i uint64) { f.ContainsDigest(digestOf(i)) }
		}
		for name, call := range calls {
			i := uint64(0)
			if allocs := testing.AllocsPerRun(200, func() { call(i); i++ }); allocs != 0 {
				t.Errorf("%s: %s allocates %v times", f, name, allocs)
			}
		}
	}
}

const bufferString = "a string of more than eight bytes"

// TestSmallFiltersAllocateLittle: the allocations of a filter by New and by a scheme, and the
// memory of a filter of 100 keys.
func TestSmallFiltersAllocateLittle(t *testing.T) {
	if lockstep.RaceDetector {
		t.Skip("NOT TESTED with the race detector: allocations, of which it makes some itself")
	}
	for _, s := range []Strategy{DoubleHashing, SeededHashing, Blocked} {
		option := WithStrategy(s)
		p := 0.01
		require.LessOrEqual(t, testing.AllocsPerRun(500, func() {
			p = math.Nextafter(p, 1)
			MustNew(100, p, option)
		}), 12.0, "%s: options, scheme, kernel, filter and bits", s)
		scheme, err := NewScheme(100, 0.01, option)
		require.NoError(t, err)
		require.LessOrEqual(t, testing.AllocsPerRun(500, func() { _, _ = scheme.Filter() }), 2.0, "%s: filter and bits", s)
	}
	scheme, err := NewScheme(100, 0.01)
	require.NoError(t, err)
	const filters = 20_000
	kept := make([]*BloomFilter, filters)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		kept[i] = must(scheme.Filter())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / filters
	require.LessOrEqual(t, each, 240.0)
	runtime.KeepAlive(kept)
	t.Logf("%.0f bytes for each filter, %d of them bits", each, kept[0].SizeBytes())
}
