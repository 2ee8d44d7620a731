package bloom

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// positionsOf returns the distinct positions of a key by the strategy's formula.
func positionsOf(f *BloomFilter, key []byte) []uint64 {
	params, s := f.Params(), f.Strategy()
	var positions []uint64
	switch {
	case s.NeedsKey():
		for i := range uint64(params.K) {
			start := f.Scheme().Seed() + i
			if start != 0 {
				start = start*0x9e3779b97f4a7c15 | 1<<63
			}
			positions = append(positions, murmur3.SeedSum64(start, key)%params.M)
		}
	case s == DoubleHashing || s == customDouble || s == triple:
		index := doubleIndex
		if s == triple {
			index = tripleIndex
		}
		h1, h2 := f.Digest(key)
		for i := range params.K {
			positions = append(positions, index(h1, h2, i, params.M))
		}
	default:
		h1, h2 := f.Digest(key)
		positions = digestPositions(s, h1, h2, params.M, params.K)
	}
	slices.Sort(positions)
	return slices.Compact(positions)
}

// TestKernelsEqualIndexFunctions: the bits that an add sets are the strategy's positions, and
// a lookup looks at all of them and at no other.
func TestKernelsEqualIndexFunctions(t *testing.T) {
	t.Parallel()
	for _, s := range allStrategies {
		for _, m := range []uint64{1, 3, 65, 512, 1000, 51_200} {
			for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 20, 30, 32, maxK} {
				for _, hash := range []Option{WithSeed(m + uint64(k)), WithHash(MapHash), WithHash(RapidHash)} { // each has its way to the kernels
					f, err := NewWithParams(Params{M: m, K: k}, WithStrategy(s), hash)
					if err != nil {
						require.ErrorIs(t, err, ErrInvalid)
						require.True(t, !canHave(s, m, k) || s.NeedsKey(), "%s m=%d k=%d: %v", s, m, k, err)
						continue
					}
					kernelEqualsIndexFunction(t, f)
				}
			}
		}
	}
	for k := 1; k <= 8; k++ { // above 4 MiB it has another kernel
		kernelEqualsIndexFunction(t, must(NewWithParams(Params{M: 4<<23 + 64, K: k}, WithHash(MapHash))))
	}
}

func kernelEqualsIndexFunction(t *testing.T, f *BloomFilter) {
	for i := range uint64(4) {
		key := []byte(formatUint(mix(i)))
		want := positionsOf(f, key)
		f.Clear()
		if !f.Add(key) {
			t.Fatalf("%s: Add to an empty filter is false", f)
		}
		require.Equal(t, want, setBits(f), "%s", f)
		if f.Add(key) || !f.Contains(key) {
			t.Fatalf("%s: an added key is not there", f)
		}
		for _, pos := range want { // each unset bit is noticed, and set again
			f.bits[pos/64].And(^(uint64(1) << (pos % 64)))
			if f.Contains(key) {
				t.Fatalf("%s: Contains does not look at %d", f, pos)
			}
			if !f.Add(key) || !f.Contains(key) {
				t.Fatalf("%s: Add does not see that %d is unset", f, pos)
			}
		}
	}
}

var update = flag.Bool("update", false, "write testdata/positions.golden, and the *.bloom that are missing, instead of comparing: only to append")

// TestPositionsAreFrozen compares with positions that were written down once.
// A difference breaks every filter in every file: mend the code, never the file.
func TestPositionsAreFrozen(t *testing.T) {
	var out strings.Builder
	for _, s := range ours {
		for _, seed := range []uint64{0, 42} {
			shapes := []Params{{M: 64, K: 3}, {M: 1000, K: 7}, {M: 19_170_117, K: 13}}
			if isBlocked(s) {
				shapes = []Params{{M: 512, K: 8}, {M: 51_200, K: 16}, {M: 512 * 40_009, K: 24}}
			}
			if s == SplitBlock {
				shapes = []Params{{M: 256, K: 8}, {M: 51_200, K: 8}, {M: 256 * 40_009, K: 8}}
			}
			for _, p := range shapes {
				for _, key := range []string{"", "a", "hello, world", "https://example.com/?q=ü"} {
					f := must(NewWithParams(p, WithStrategy(s), WithSeed(seed)))
					f.AddString(key)
					fmt.Fprintf(&out, "%s seed=%d m=%d k=%d %q: %d\n", s, seed, p.M, p.K, key, setBits(f))
				}
			}
		}
	}
	const file = "testdata/positions.golden"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
	want := must(os.ReadFile(file))
	require.Equal(t, string(want), out.String())

	// And at a size that no test allocates.
	h1, h2 := murmur3.Sum128([]byte("The quick brown fox jumps over the lazy dog"))
	require.Equal(t, []uint64{15619651528337, 15609769533696, 3839765455418, 17290428658841, 3007420092668},
		digestPositions(DoubleHashing, h1, h2, 1<<44+12345, 5))
}

func TestMisusePanicsWithAClearText(t *testing.T) {
	seeded := MustNew(10, 0.1, WithStrategy(SeededHashing))
	require.PanicsWithValue(t, `bloom: AddDigest on a filter with strategy "seeded-hashing", which needs the key itself`, func() { seeded.AddDigest(1, 2) })
	require.PanicsWithValue(t, `bloom: ContainsDigest on a filter with strategy "seeded-hashing", which needs the key itself`, func() { seeded.ContainsDigest(1, 2) })
	require.PanicsWithValue(t, `bloom: AppendDigestPositions on a filter with strategy "seeded-hashing", which needs the key itself`, func() { seeded.Scheme().AppendDigestPositions(nil, 1, 2) })
}

// TestVariablesAreNotTheFilters: an assignment to an exported variable changes what is made
// afterwards, but no filter that exists, and no file.
func TestVariablesAreNotTheFilters(t *testing.T) {
	f := MustNew(100, 0.01)
	data := marshal(t, f)
	before := DoubleHashing
	DoubleHashing = SeededHashing
	defer func() { DoubleHashing = before }()

	require.Equal(t, before, f.Strategy())
	require.NotEqual(t, DoubleHashing, f.Strategy())
	require.Equal(t, "double-hashing", f.Strategy().Name())
	require.Equal(t, before, MustNew(100, 0.01).Strategy(), "the default is no variable")
	g := must(Read(bytes.NewReader(data)))
	require.Equal(t, before, g.Strategy())
	require.True(t, g.Compatible(f))
}

// races asks for the long version of all tests about the one winner.
var races = flag.Int("races", 0, "so many lockstep races for each of DoubleHashing, Blocked2 and Blocked4, a quarter of it or less for each of the rest")

// race lets goroutines add the same new keys in lockstep to a filter that it empties every
// perFilter keys, and counts the keys by their number of winners.
func race(goroutines, rounds int, params Params, s Strategy, perFilter int) (winners map[int]int) {
	winners = map[int]int{}
	f := must(NewWithParams(params, WithStrategy(s)))
	b := lockstep.Line{Runners: uint64(goroutines)}
	won := make([]atomic.Int32, perFilter)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			step := uint64(0)
			var key [40]byte
			for base := 0; base < rounds; base += perFilter {
				for i := range perFilter {
					key40(&key, uint64(base+i))
					step++
					b.Wait(step)
					for range mix(uint64(base+i)) >> (8 * g) % 16 { // not always in the same order
						runtime.KeepAlive(&key)
					}
					if f.Add(key[:]) {
						won[i].Add(1)
					}
				}
				step++
				b.Wait(step)
				if g == 0 {
					for i := range won {
						winners[int(won[i].Swap(0))]++
					}
					f.Clear()
				}
				step++
				b.Wait(step)
			}
		})
	}
	wg.Wait()
	return winners
}

// TestOneWinnerInLockstep races the real code. The filters are so empty that no key is a false
// positive (below 1e-9 in all rounds together): every key must have exactly one winner.
func TestOneWinnerInLockstep(t *testing.T) {
	rounds := effort.Times(1<<13, 1<<13, 1<<17)
	if *races > 0 {
		rounds = *races
	}
	for _, c := range []struct {
		goroutines, rounds int
		params             Params
		s                  Strategy
		perFilter          int
	}{
		{2, rounds, Params{M: 1 << 14, K: 7}, DoubleHashing, 16},
		{2, rounds / 4, Params{M: 1 << 14, K: 7}, SeededHashing, 16},
		{2, rounds / 4, Params{M: 1 << 14, K: 7}, triple, 16},
		{3, rounds / 16, Params{M: 1 << 14, K: 7}, DoubleHashing, 16},
		{8, rounds / 64, Params{M: 1 << 14, K: 7}, DoubleHashing, 16},
		{2, rounds / 4, Params{M: 1 << 14, K: 8}, Blocked1, 8},
		{2, rounds, Params{M: 1 << 14, K: 8}, Blocked2, 8},
		{2, rounds, Params{M: 1 << 14, K: 8}, Blocked4, 8},
		{2, rounds / 4, Params{M: 1 << 14, K: 16}, Blocked8, 8},
		{3, rounds / 16, Params{M: 512, K: 24}, Blocked4, 1},
		{2, rounds, Params{M: 1 << 14, K: 8}, SplitBlock, 8},
		{3, rounds / 16, Params{M: 256, K: 8}, SplitBlock, 1},
		// Most of the probes coincide: 7 on 5 bits. One key per filter, for a second one
		// might be a false positive.
		{2, rounds / 4, Params{M: 5, K: 7}, DoubleHashing, 1},
		{2, rounds / 16, Params{M: 5, K: 7}, SeededHashing, 1},
		// Two keys of these may coincide in all positions: one key per filter.
		{2, rounds / 4, Params{M: 1 << 12, K: 20}, customDouble, 1},
		{2, rounds / 4, Params{M: 1 << 12, K: 7}, customSeeded, 1},
		{2, rounds / 16, Params{M: 5, K: 7}, customDouble, 1},
	} {
		t.Run(fmt.Sprintf("goroutines=%d/strategy=%s/m=%d", c.goroutines, c.s, c.params.M), func(t *testing.T) {
			c.rounds += -c.rounds & (c.perFilter - 1) // whole filters
			winners := race(c.goroutines, c.rounds, c.params, c.s, c.perFilter)
			t.Logf("%d races: keys by number of winners %v", c.rounds, winners)
			if winners[1] != c.rounds {
				t.Errorf("keys by number of winners: %v, want exactly one for each of %d", winners, c.rounds)
			}
		})
	}
}
