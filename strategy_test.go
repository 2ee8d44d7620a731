package bloom

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// positionsOf returns the distinct positions of a key by the strategy's formula, which
// TestCustomStrategiesAreTheBuiltinOnes and golden files hold.
func positionsOf(f *BloomFilter, key []byte) []uint64 {
	positions := f.Scheme().AppendPositions(nil, key)
	slices.Sort(positions)
	return slices.Compact(positions)
}

// TestKernelsEqualIndexFunctions: the bits that an add sets are the strategy's positions, and
// a lookup looks at all of them and at no other.
func TestKernelsEqualIndexFunctions(t *testing.T) {
	t.Parallel()
	ways := append(slices.Collect(maps.Values(hashOptions())), WithSeed(7))
	for _, s := range allStrategies {
		for _, m := range []uint64{1, 3, 65, 512, 1000, 51_200} {
			for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 20, 30, 32, maxK} {
				for _, hash := range ways { // each has its way to the kernels
					f, err := newWithParams(Params{M: m, K: k}, WithStrategy(s), hash)
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
		kernelEqualsIndexFunction(t, must(newWithParams(Params{M: 4<<23 + 64, K: k}, WithHash(MapHash))))
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
		require.EqualValues(t, len(want), f.bits.count())
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

// TestFrozenPositions compares with positions that were written down once.
func TestFrozenPositions(t *testing.T) {
	var out strings.Builder
	for _, s := range builtins {
		for _, seed := range []uint64{0, 42} {
			for _, p := range []Params{fit(s, 64, 3), fit(s, 1000, 7), fit(s, 51_200, 16), fit(s, 19_170_117, 13), fit(s, 20_484_608, 24)} {
				for _, key := range []string{"", "a", "hello, world", "https://example.com/?q=ü"} {
					f := must(newWithParams(p, WithStrategy(s), WithSeed(seed)))
					f.AddString(key)
					fmt.Fprintf(&out, "%s seed=%d m=%d k=%d %q: %d\n", s, seed, p.M, p.K, key, setBits(f))
				}
			}
		}
	}
	frozen(t, "positions", out.String())

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

	require.Equal(t, before, f.Scheme().Strategy())
	require.NotEqual(t, DoubleHashing, f.Scheme().Strategy())
	require.Equal(t, "double-hashing", f.Scheme().Strategy().Name())
	require.Equal(t, before, MustNew(100, 0.01).Scheme().Strategy(), "the default is no variable")
	g := must(Read(bytes.NewReader(data)))
	require.Equal(t, before, g.Scheme().Strategy())
	require.NoError(t, g.compatible(f))
}

// race lets goroutines add the same new keys in lockstep to a filter that it empties every
// perFilter keys, and counts the keys by their number of winners.
func race(goroutines, rounds int, params Params, s Strategy, perFilter int) (winners map[int]int) {
	winners = map[int]int{}
	f := must(newWithParams(params, WithStrategy(s)))
	b := testkit.Line{Runners: uint64(goroutines)}
	won := make([]atomic.Int32, perFilter)
	var wg testkit.Group
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
	rounds := testkit.Times(1<<13, 1<<13, 2_250_000)
	type races struct {
		goroutines, rounds int
		params             Params
		s                  Strategy
		perFilter          int
	}
	cases := []races{{3, rounds / 16, Params{M: 1 << 14, K: 7}, DoubleHashing, 16}, {8, rounds / 64, Params{M: 1 << 14, K: 7}, DoubleHashing, 16}}
	for _, s := range allStrategies {
		for _, params := range kinds(s, 1<<14) {
			perFilter := 8
			if params.K < 8 || s.isCustom() {
				perFilter = 1 // a second key might be a false positive
			}
			cases = append(cases, races{2, rounds / 4, params, s, perFilter})
		}
		// Most of the probes coincide: 7 on 5 bits, or as near to it as the strategy comes.
		cases = append(cases, races{2, rounds / 16, fit(s, 5, 7), s, 1}, races{3, rounds / 16, fit(s, 5, 24), s, 1})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("goroutines=%d/strategy=%s/m=%d/k=%d", c.goroutines, c.s, c.params.M, c.params.K), func(t *testing.T) {
			c.rounds += -c.rounds & (c.perFilter - 1) // whole filters
			winners := race(c.goroutines, c.rounds, c.params, c.s, c.perFilter)
			t.Logf("%d races: keys by number of winners %v", c.rounds, winners)
			if winners[1] != c.rounds {
				t.Errorf("keys by number of winners: %v, want exactly one for each of %d", winners, c.rounds)
			}
		})
	}
}

// TestNamesInLogs: String tells apart what has no name.
func TestNamesInLogs(t *testing.T) {
	named, a, b := customStrategy("mine"), customStrategy(""), customStrategy("")
	require.Equal(t, "mine", named.String())
	require.Equal(t, "blocked", Blocked.String())
	require.Empty(t, a.Name())
	require.Regexp(t, `^unnamed#\d+$`, a.String())
	require.NotEqual(t, a.String(), b.String())
	require.Equal(t, a.String(), fmt.Sprint(a))

	sum := func([]byte) uint64 { return 1 }
	h := NewHash64("", sum)
	require.Equal(t, "mine", NewHash64("mine", sum).String())
	require.Equal(t, "murmur3", Murmur3.String())
	require.Empty(t, h.Name())
	require.Regexp(t, `^unnamed#\d+$`, h.String())
	require.NotEqual(t, h.String(), NewHash64("", sum).String())

	f := MustNew(10, 0.1, WithStrategy(a), WithHash(h))
	require.Contains(t, f.String(), a.String())
	require.Contains(t, f.String(), h.String())
	_, err := newWithParams(Params{M: 64, K: 4}, WithStrategy(NewStrategy("", Definition{MaxM: 40, Positions: testkit.ByIndex(doubleIndex)})))
	require.ErrorContains(t, err, `strategy "unnamed#`)
}

func customStrategy(name string) Strategy {
	return NewStrategy(name, Definition{Positions: testkit.ByIndex(doubleIndex)})
}
