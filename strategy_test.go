package bloom

import (
	"bytes"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// positionsOf returns the distinct positions of a key by the strategy's pure
// function, or by its definition where it has none.
func positionsOf(f *BloomFilter, key []byte) []uint64 {
	var h1, h2 uint64
	if !f.Strategy().NeedsKey() {
		h1, h2 = f.Digest(key)
	}
	seen := map[uint64]bool{}
	for i := range f.Params().K {
		switch s := f.scheme.strategy; {
		case s.NeedsKey():
			start := f.Scheme().Seed() + uint64(i)
			if start != 0 {
				start = start*0x9e3779b97f4a7c15 | 1<<63
			}
			seen[murmur3.SeedSum64(start, key)%f.Params().M] = true
		default:
			index := func(h1, h2 uint64, i int, m uint64) uint64 { return positionAt(s, h1, h2, i, m) }
			switch s {
			case DoubleHashing, customDouble:
				index = doubleIndex
			case triple:
				index = tripleIndex
			}
			seen[index(h1, h2, i, f.Params().M)] = true
		}
	}
	positions := make([]uint64, 0, len(seen))
	for pos := range seen {
		positions = append(positions, pos)
	}
	sort.Slice(positions, func(i, j int) bool { return positions[i] < positions[j] })
	return positions
}

// setBits returns the positions of the bits that are set.
func setBits(f *BloomFilter) []uint64 {
	positions := []uint64{}
	for i := range f.bits {
		for w := f.bits[i].Load(); w != 0; w &= w - 1 { // an emulator is slow enough
			positions = append(positions, uint64(i)*64+uint64(bits.TrailingZeros64(w)))
		}
	}
	return positions
}

// TestKernelsEqualIndexFunctions holds the fast kernels to the definition: the
// bits that an add sets are the strategy's positions, and a lookup looks at all
// of them and at no other.
func TestKernelsEqualIndexFunctions(t *testing.T) {
	t.Parallel()
	for _, s := range allStrategies {
		for _, m := range []uint64{1, 3, 63, 64, 65, 100, 512, 1000, 4096, 51_200} {
			for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 20, 30, 32, maxK, maxCustomK} {
				if k > s.get().largestK() {
					continue
				}
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
		f, err := NewWithParams(Params{M: 4<<23 + 64, K: k}, WithHash(MapHash))
		require.NoError(t, err)
		kernelEqualsIndexFunction(t, f)
	}
}

func kernelEqualsIndexFunction(t *testing.T, f *BloomFilter) {
	for i := range uint64(8) {
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
		for _, pos := range want { // each bit that lacks is noticed, and set again
			f.bits[pos/64].And(^(uint64(1) << (pos % 64)))
			if f.Contains(key) {
				t.Fatalf("%s: Contains does not look at %d", f, pos)
			}
			if !f.Add(key) || !f.Contains(key) {
				t.Fatalf("%s: Add does not see that %d lacks", f, pos)
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
					f, err := NewWithParams(p, WithStrategy(s), WithSeed(seed))
					require.NoError(t, err)
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
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

// TestEmptyKey has its place because its Murmur3 digest is (0, 0).
func TestEmptyKey(t *testing.T) {
	for _, s := range ours {
		f, err := NewWithParams(Params{M: 1 << 20, K: 8}, WithStrategy(s))
		require.NoError(t, err)
		require.False(t, f.Contains(nil))
		require.True(t, f.Add(nil))
		require.False(t, f.AddString(""))
		require.True(t, f.Contains([]byte{}))
		require.Len(t, setBits(f), 8, s)
	}
}

// TestDoubleIndexBeyond32Bits pins positions at sizes that no test allocates.
func TestDoubleIndexBeyond32Bits(t *testing.T) {
	h1, h2 := murmur3.Sum128([]byte("The quick brown fox jumps over the lazy dog"))
	require.Equal(t, uint64(0xe34bbc7bbc071b6c), h1)
	require.Equal(t, uint64(0x7a433ca9c49a9347), h2)
	got := make([]uint64, 5)
	for i := range got {
		got[i] = positionAt(DoubleHashing, h1, h2, i, 1<<44+12345)
	}
	require.Equal(t, []uint64{15619651528337, 15609769533696, 3839765455418, 17290428658841, 3007420092668}, got)
}

func TestMisusePanicsWithAClearText(t *testing.T) {
	seeded := MustNew(10, 0.1, WithStrategy(SeededHashing))
	require.PanicsWithValue(t, `bloom: AddDigest on a filter with strategy "seeded-hashing", which needs the key itself`, func() { seeded.AddDigest(1, 2) })
	require.PanicsWithValue(t, `bloom: ContainsDigest on a filter with strategy "seeded-hashing", which needs the key itself`, func() { seeded.ContainsDigest(1, 2) })

	var zero BloomFilter
	const text = zeroFilter
	require.PanicsWithValue(t, text, func() { zero.Add([]byte("x")) })
	require.PanicsWithValue(t, text, func() { zero.ContainsString("x") })

	over := MustNew(10, 0.1, WithStrategy(NewStrategy("over", Definition{Positions: byindex.Positions(func(_, _ uint64, _ int, m uint64) uint64 { return m })})))
	const position = `bloom: strategy "over" returned position 64, want less than m = 64`
	require.PanicsWithValue(t, position, func() { over.AddString("x") })
	require.PanicsWithValue(t, position, func() { over.ContainsString("x") })
}

// TestVariablesAreNotTheFilters: who assigns to an exported variable changes what is
// made afterwards, and no filter that exists, and no file.
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
	g, err := Read(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, before, g.Strategy())
	require.True(t, g.Compatible(f))
}

// TestLargeK is for strategies that say so.
func TestLargeK(t *testing.T) {
	large := customDouble.def.Definition
	large.MaxK = 255
	for s, largest := range map[Strategy]int{customDouble: 64, NewStrategy("large", large): 255, DoubleHashing: 64} {
		p := Params{M: 512 * 64, K: largest + 1}
		_, err := NewWithParams(p, WithStrategy(s))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("k = %d bits per key, want 1 to %d", largest+1, largest))
		p.K = largest
		f, err := NewWithParams(p, WithStrategy(s))
		require.NoError(t, err)
		for i := range uint64(80) {
			f.AddString(formatUint(i))
		}
		require.InEpsilon(t, 80, f.Stats().EstimatedCount, 0.02)
	}
}
