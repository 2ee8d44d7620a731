package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
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
	if testkit.RaceDetector {
		t.Skip("NOT TESTED with the race detector: what only one goroutine does")
	}
}

func formatUint(x uint64) string { return strconv.FormatUint(x, 10) }

// seededScheme returns a scheme with any hash and a seed, also a hash that takes none. SipHash gets testKey.
func seededScheme(params Params, s Strategy, h *Hash, seed uint64) (*Scheme, error) {
	o := options{strategy: s, hash: h, seed: &seed, maxBytes: math.MaxUint64}
	if h == &sipHash {
		o.keyed = keyed(testKey)
	}
	return newScheme(params, &o)
}

// newWithParams returns the empty filter of [NewSchemeWithParams].
func newWithParams(params Params, opts ...Option) (*BloomFilter, error) {
	return testkit.Filter(NewSchemeWithParams(params, opts...))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sizeFor returns the parameters that New chooses with the default hash.
func sizeFor(n uint64, p float64, s Strategy) (Params, error) {
	return paramsFor(n, p, s, &murmur3Hash)
}

var testKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// allStrategies are those of this package and the custom ones of the tests.
var allStrategies = append([]Strategy{triple, customDouble, customSeeded}, builtins...)

// fit returns the m and k next to the given ones that a filter with the strategy can have.
func fit(s Strategy, m uint64, k int) Params {
	l := s.limits()
	return Params{M: max(s.blockBits(), m-m%s.blockBits()), K: max(l.minK, min(l.maxK, k-k%l.stepK))}
}

// kinds returns parameters of about m bits for each kernel of the strategy, and for a k beyond those
// that New chooses.
func kinds(s Strategy, m uint64) (all []Params) {
	for _, k := range []int{2, 6, 7, 8, 12, 16, 24, 31, 40} {
		if params := fit(s, m, k); !slices.Contains(all, params) {
			all = append(all, params)
		}
	}
	return all
}

// Custom strategies: one of its own, and two with the positions of built-in ones.
var (
	triple           = NewStrategy("triple", tripleDefinition)
	tripleDefinition = Definition{Positions: testkit.ByIndex(tripleIndex)}

	customDouble = NewStrategy("custom-double", Definition{Positions: testkit.ByIndex(doubleIndex)})
	customSeeded = NewStrategy("custom-seeded", Definition{
		KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
			return func(dst []uint64, key []byte) {
				for j := range dst {
					dst[j] = murmur3.SeedSum64(probe.MurmurStart(seed+uint64(j)), key) % m
				}
			}, nil
		},
	})
)

// hashOptions are the options for each hash of this package, by its name, but for a strategy that
// hashes the key itself.
func hashOptions() map[string]Option {
	all := map[string]Option{}
	for _, d := range hashes {
		switch d {
		case &noHash:
		case &sipHash:
			all[d.name] = WithSecret(testKey)
		default:
			all[d.name] = WithHash(d)
		}
	}
	return all
}

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
	return Definition{Positions: func(_ uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
		return func(h1, h2 uint64, i int) uint64 { return at(h1, h2, i, k) }, nil
	}}
}

// definitionOf returns that of a custom strategy.
func definitionOf(s Strategy) Definition { return s.strategy.(*custom).Definition }

// canHave reports whether a filter with the strategy can have these m and k.
func canHave(s Strategy, m uint64, k int) bool { return s.check(m, k) == nil }

// digestPositions returns the k positions of a digest with a strategy of this package.
func digestPositions(s Strategy, h1, h2 uint64, m uint64, k int) []uint64 {
	return must(NewSchemeWithParams(Params{M: m, K: k}, WithStrategy(s))).AppendDigestPositions(nil, h1, h2)
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
	require.Equal(t, want.Scheme().String(), got.Scheme().String())
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

// frozen compares a text with the one that was written down for this version of the format. A
// difference breaks every filter in every file. So after the first tag, mend the code; before it,
// raise the version, and write the file of the new version with -update.
func frozen(t *testing.T, name, got string) {
	testkit.Frozen(t, fmt.Sprintf("testdata/%s.v%d.golden", name, format.Version), []byte(got))
}

// golden returns the golden file of a filter.
func golden(t testing.TB, name string, f *BloomFilter) []byte {
	return testkit.Frozen(t, filepath.Join("testdata", name+".bloom"), marshal(t, f))
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
		f := must(newWithParams(params, append(opts, needed...)...))
		addKeys(f, keys)
		all[name] = portable{f, needed}
	}
	for _, s := range allStrategies {
		params := fit(s, 961, 7)
		if s.blockBits() > 1 {
			params = fit(s, 1024, 8)
		}
		params.N, params.P = 100, 0.01
		opts, needed := []Option{WithStrategy(s)}, []Option(nil)
		if s.isCustom() {
			opts, needed = nil, opts
		}
		add(s.Name(), params, 100, opts, needed)
		add(s.Name()+"-seed", params, 100, append(opts, WithSeed(1<<63+42)), needed)
		if !s.NeedsKey() {
			add(s.Name()+"-key", params, 100, opts, append(needed, WithSecret(testKey)))
		}
	}
	add("custom-hash", Params{N: 100, P: 0.01, M: 961, K: 7}, 100, nil, []Option{WithHash(customHash)})
	add("custom-hash-64", Params{N: 100, P: 0.01, M: 1024, K: 8}, 100, []Option{WithStrategy(Blocked)}, []Option{WithHash(customHash64)})
	for name, opt := range hashOptions() {
		if name == mapHash.name || name == murmur3Hash.name || name == sipHash.name {
			continue // cannot be written, or is above
		}
		add("hash-"+name, Params{N: 100, P: 0.01, M: 961, K: 7}, 100, []Option{opt}, nil)
	}
	add("rapid-hash", Params{N: 100, P: 0.01, M: 1024, K: 8}, 100, []Option{WithHash(RapidHash), WithStrategy(SplitBlock)}, nil)
	add("rapid-hash-seed", Params{N: 100, P: 0.01, M: 961, K: 7}, 100, []Option{WithHash(RapidHash), WithSeed(1<<63 + 42)}, nil)
	add("k64", Params{M: 2048, K: 64}, 20, nil, nil)
	add("one-bit", Params{M: 1, K: 1, N: 1<<64 - 1, P: 1e-300}, 1, nil, nil)
	add("empty", Params{M: 65, K: 3}, 0, nil, nil)
	return all
}
