package bloom

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// mix is the finaliser of SplitMix64, a bijection with outputs that look random. Tests make
// digests and keys from it that are the same in each run.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// digestOf returns the i-th of a sequence of different random-looking digests.
func digestOf(i uint64) (h1, h2 uint64) { return mix(2 * i), mix(2*i + 1) }

// key40 writes the i-th of a sequence of different keys into b: 40 bytes, as long
// as a short URL.
func key40(b *[40]byte, i uint64) []byte {
	copy(b[:], "https://example.com/articles/2026/")
	binary.LittleEndian.PutUint64(b[32:], mix(i))
	return b[:]
}

// addKeys adds the first n keys of key40.
func addKeys(f *BloomFilter, n uint64) {
	var b [40]byte
	for i := range n {
		f.Add(key40(&b, i))
	}
}

// sequential skips a test of one goroutine under the race detector, which takes ten times as
// long and finds nothing in it.
func sequential(t *testing.T) {
	if lockstep.RaceDetector {
		t.Skip("NOT TESTED with the race detector: what only one goroutine does")
	}
}

func formatUint(x uint64) string { return strconv.FormatUint(x, 10) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var testKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// ours are the strategies of this package except Blocked, which no filter has.
var (
	blockeds      = []Strategy{Blocked1, Blocked2, Blocked4, Blocked8}
	ours          = append(append([]Strategy{DoubleHashing, SeededHashing}, blockeds...), SplitBlock)
	allStrategies = append([]Strategy{triple, customDouble, customSeeded}, ours...)
)

// Custom strategies: one of its own, and two with the positions of built-in ones.
var (
	triple           = NewStrategy("triple", tripleDefinition)
	tripleDefinition = Definition{Positions: byindex.Positions(tripleIndex)}

	customDouble = NewStrategy("custom-double", Definition{
		Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
			const a = 0xd1342543de82ef95
			return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
				x, y := h1, h2^0x9e3779b97f4a7c15
				for range i {
					x = x*a + y
				}
				p0, _ = bits.Mul64(x, m)
				x = x*a + y
				p1, _ = bits.Mul64(x, m)
				x = x*a + y
				p2, _ = bits.Mul64(x, m)
				x = x*a + y
				p3, _ = bits.Mul64(x, m)
				return p0, p1, p2, p3
			}, nil
		},
	})
	customSeeded = NewStrategy("custom-seeded", Definition{
		KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
			return func(dst []uint64, key []byte) {
				for i := range dst {
					dst[i] = murmur3.SeedSum64(probe.MurmurStart(seed+uint64(i)), key) % m
				}
			}, nil
		},
	})
)

// Custom hashes: FNV with a finalizer, and a hash of 128 bits.
var (
	customHash64 = NewHash64("fnv-mixed", func(key []byte) uint64 {
		h := uint64(14695981039346656037)
		for _, c := range key {
			h = (h ^ uint64(c)) * 1099511628211
		}
		return mix(h)
	})
	customHash = NewHash("murmur3-77", func(key []byte) (h1, h2 uint64) { return murmur3.SeedSum128(77, 77, key) })
)

func tripleIndex(h1, h2 uint64, i int, m uint64) uint64 { return mix(h1+uint64(i)*h2) % m }

// doubleIndex is DoubleHashing by its formula, written a second time.
func doubleIndex(h1, h2 uint64, i int, m uint64) uint64 {
	for range i {
		h1 = h1*0xd1342543de82ef95 + (h2 ^ 0x9e3779b97f4a7c15)
	}
	hi, _ := bits.Mul64(h1, m)
	return hi
}

// eachPosition is a definition by the function of one position.
func eachPosition(at func(h1, h2 uint64, i, k int) uint64) Definition {
	return Definition{Positions: func(_ uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
			return at(h1, h2, i, k), at(h1, h2, i+1, k), at(h1, h2, i+2, k), at(h1, h2, i+3, k)
		}, nil
	}}
}

// inBlocks reports whether all of a key's bits are in one block.
func inBlocks(s Strategy) bool { return isBlocked(s) || s == SplitBlock }

func isBlocked(s Strategy) bool { return s.get().block == blockBits || s == Blocked }

// groupsOf returns z for Blocked1 to Blocked8, otherwise 0.
func groupsOf(s Strategy) int {
	if !isBlocked(s) {
		return 0
	}
	return s.def.kUnit
}

// canHave reports whether a filter with the strategy can have these m and k.
func canHave(s Strategy, m uint64, k int) bool {
	switch {
	case s == SplitBlock:
		return m%splitBits == 0 && k == splitK
	case isBlocked(s):
		return m%blockBits == 0 && k%groupsOf(s) == 0
	}
	return true
}

// digestPositions returns the k positions of a digest with a strategy of this package.
func digestPositions(s Strategy, h1, h2 uint64, m uint64, k int) []uint64 {
	dst := make([]uint64, k)
	must(s.def.kernelFor(m, k, 0)).positions(&bitset{units: m / max(1, s.def.block), k: k}, dst, h1, h2)
	return dst
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

// marshal returns the filter's bytes.
func marshal(t testing.TB, f *BloomFilter) []byte {
	data := must(f.MarshalBinary())
	return data
}

// same requires that two filters are equal in everything.
func same(t testing.TB, want, got *BloomFilter) {
	require.True(t, want.Equal(got))
	require.Equal(t, want.Params(), got.Params())
	require.Equal(t, want.Scheme().Identity(), got.Scheme().Identity())
	var b [40]byte
	for i := range uint64(100) {
		if key := key40(&b, i); want.Contains(key) != got.Contains(key) {
			t.Fatalf("key %d differs", i)
		}
	}
}

// chiSquareSigmas returns by how many standard deviations the chi-square of counts,
// each of which should be about want, is off its mean.
func chiSquareSigmas(counts []float64, want float64) float64 {
	x := 0.0
	for _, c := range counts {
		x += (c - want) * (c - want) / want
	}
	freedom := float64(len(counts) - 1)
	return (x - freedom) / math.Sqrt(2*freedom)
}

// golden returns the golden file of a filter. With -update it writes those that
// are missing, and no other.
func golden(t testing.TB, name string, f *BloomFilter) []byte {
	path := filepath.Join("testdata", name+".bloom")
	data, err := os.ReadFile(path)
	if *update && errors.Is(err, fs.ErrNotExist) {
		data = marshal(t, f)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		return data
	}
	require.NoError(t, err)
	return data
}

// A portable is a filter and the options that are needed to read it.
type portable struct {
	f    *BloomFilter
	opts []Option
}

// portables are the filters in the golden files: of every strategy and hash that can be
// written, with up to 100 keys each, of a few hundred bytes.
func portables(t testing.TB) map[string]portable {
	all := map[string]portable{}
	add := func(name string, params Params, keys uint64, opts, needed []Option) {
		f := must(NewWithParams(params, append(opts, needed...)...))
		addKeys(f, keys)
		all[name] = portable{f, needed}
	}
	for _, s := range allStrategies {
		params := Params{N: 100, P: 0.01, M: 961, K: 7}
		if inBlocks(s) {
			params.M, params.K = 1024, 8
		}
		opts, needed := []Option{WithStrategy(s)}, []Option(nil)
		if s.get().custom {
			opts, needed = nil, opts
		}
		add(s.Name(), params, 100, opts, needed)
		add(s.Name()+"-seed", params, 100, append(opts, WithSeed(1<<63+42)), needed)
		if !s.NeedsKey() {
			add(s.Name()+"-key", params, 100, opts, append(needed, WithKey(testKey)))
		}
	}
	add("custom-hash", Params{N: 100, P: 0.01, M: 961, K: 7}, 100, nil, []Option{WithHash(customHash)})
	add("custom-hash-64", Params{N: 100, P: 0.01, M: 1024, K: 8}, 100, []Option{WithStrategy(Blocked2)}, []Option{WithHash(customHash64)})
	add("rapid-hash", Params{N: 100, P: 0.01, M: 1024, K: 8}, 100, []Option{WithHash(RapidHash), WithStrategy(SplitBlock)}, nil)
	add("rapid-hash-seed", Params{N: 100, P: 0.01, M: 961, K: 7}, 100, []Option{WithHash(RapidHash), WithSeed(1<<63 + 42)}, nil)
	add("k64", Params{M: 2048, K: 64}, 20, nil, nil)
	add("one-bit", Params{M: 1, K: 1, N: 1<<64 - 1, P: 1e-300}, 1, nil, nil)
	add("empty", Params{M: 65, K: 3}, 0, nil, nil)
	return all
}
