package bloom

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// Two hashes of a user's: an FNV with a finalizer, and a hash of 128 bits.
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

// TestCustomHashIsTheHash: a filter with a hash of one's own is that with its digests.
func TestCustomHashIsTheHash(t *testing.T) {
	t.Parallel()
	for _, h := range []Hash{customHash, customHash64} {
		for _, s := range []Strategy{DoubleHashing, Blocked, triple} {
			f, g := MustNew(20_000, 0.01, WithStrategy(s), WithHash(h)), MustNew(20_000, 0.01, WithStrategy(s), WithHash(h))
			batch := MustNew(20_000, 0.01, WithStrategy(s), WithHash(h))
			require.Equal(t, h, f.Scheme().Hash())
			require.NoError(t, f.Scheme().Portable())
			var b [40]byte
			var keys []string
			for i := range uint64(20_000) {
				key := key40(&b, i)
				h1, h2 := ownDigest(h, key)
				s1, s2 := f.Scheme().Digest(key)
				require.Equal(t, [2]uint64{h1, h2}, [2]uint64{s1, s2})
				require.Equal(t, g.AddDigest(h1, h2), f.Add(key))
				keys = append(keys, string(key))
			}
			batch.AddStrings(keys, nil)
			require.True(t, f.Equal(g))
			require.True(t, f.Equal(batch))
			require.Equal(t, len(keys), f.ContainsStrings(keys, nil))
			wrong := 0
			for i := range uint64(100_000) {
				if f.Contains(key40(&b, 1<<40+i)) {
					wrong++
				}
			}
			require.InDelta(t, 1000, wrong, 5*math.Sqrt(1000)*1.2, "%s, %s", h, s)
		}
	}
}

// ownDigest is what the two hashes are defined to be, without the filter.
func ownDigest(h Hash, key []byte) (h1, h2 uint64) {
	if h == customHash {
		return murmur3.SeedSum128(77, 77, key)
	}
	h1 = 14695981039346656037
	for _, c := range key {
		h1 = (h1 ^ uint64(c)) * 1099511628211
	}
	h1 = mix(h1)
	x := (h1 ^ 0x9e3779b97f4a7c15) * 0x9e3779b185ebca87
	return h1, x ^ x>>32
}

func TestCustomHashIsTheIdentity(t *testing.T) {
	same := NewHash64("fnv-mixed", func([]byte) uint64 { return 0 })
	other := NewHash64("other", func([]byte) uint64 { return 0 })
	nameless, nameless2 := NewHash64("", func([]byte) uint64 { return 0 }), NewHash64("", func([]byte) uint64 { return 0 })
	f := MustNew(100, 0.01, WithHash(customHash64))
	require.True(t, f.Compatible(MustNew(100, 0.01, WithHash(same))), "a hash is its name")
	err := f.Union(MustNew(100, 0.01, WithHash(other)))
	require.ErrorIs(t, err, ErrIncompatible)
	require.ErrorContains(t, err, `hashes "fnv-mixed"/64 and "other"/64`)
	require.ErrorContains(t, f.Union(MustNew(100, 0.01)), `hashes "fnv-mixed"/64 and murmur3`)
	require.Equal(t, `m=1024 k=7 strategy="double-hashing" hash="fnv-mixed"/64:0000000000000000`, must(NewSchemeWithParams(Params{M: 1024, K: 7}, WithHash(customHash64))).Identity())
	require.Contains(t, f.String(), "hash=fnv-mixed")
	require.Equal(t, "fnv-mixed", f.Stats().Hash)

	a, b := MustNew(100, 0.01, WithHash(nameless)), MustNew(100, 0.01, WithHash(nameless2))
	require.True(t, a.Compatible(MustNew(100, 0.01, WithHash(nameless))))
	require.False(t, a.Compatible(b))
	require.NotEqual(t, a.Scheme().Identity(), b.Scheme().Identity())
	_, err = a.MarshalBinary()
	require.ErrorIs(t, err, ErrNotPortable)
	require.ErrorContains(t, err, "its hash has no name")
	require.Equal(t, err, a.Scheme().Portable())

	// Files: the reader must give the same one, and the error names both.
	data := marshal(t, f)
	for text, opts := range map[string][]Option{
		`the data's hash is "fnv-mixed", want one of that name by WithHash`: nil,
		`the data's hash is "fnv-mixed", want "other"`:                      {WithHash(other)},
		`the data's hash is "fnv-mixed", want "murmur3"`:                    {WithHash(Murmur3)},
		`the data's hash is "fnv-mixed" without a key, want the given key`:  {WithHash(customHash64), WithKey(testKey)},
		`the data's seed is 0, want 5`:                                      {WithHash(customHash64), WithSeed(5)},
	} {
		_, err := Read(bytes.NewReader(data), opts...)
		require.ErrorIs(t, err, ErrIncompatible, text)
		require.ErrorContains(t, err, text)
	}
	_, err = Read(bytes.NewReader(marshal(t, MustNew(9, 0.1))), WithHash(customHash64))
	require.ErrorContains(t, err, `the data's hash is "murmur3", want "fnv-mixed"`)
	g, err := Read(bytes.NewReader(data), WithHash(customHash64))
	require.NoError(t, err)
	require.True(t, f.Equal(g))
	require.NoError(t, g.UnmarshalBinary(data), "the receiver has the hash")
}

func TestCustomHashRefused(t *testing.T) {
	sum := func([]byte) uint64 { return 0 }
	for text, opts := range map[string][]Option{
		`hash "nothing" has no function`:               {WithHash(NewHash("nothing", nil))},
		`hash "nothing64" has no function`:             {WithHash(NewHash64("nothing64", nil))},
		`hash name "murmur3" is taken`:                 {WithHash(NewHash64("murmur3", sum))},
		`hash name "siphash" is taken`:                 {WithHash(NewHash64("siphash", sum))},
		`hash name "none" is taken`:                    {WithHash(NewHash64("none", sum))},
		`… has 256 bytes, want at most 255`:            {WithHash(NewHash64(strings.Repeat("x", 256), sum))},
		`hash "fnv-mixed" and a seed`:                  {WithHash(customHash64), WithSeed(1)},
		`hash "fnv-mixed" and a key`:                   {WithHash(customHash64), WithKey(testKey)},
		`"seeded-hashing" has a hash of its own`:       {WithHash(customHash64), WithStrategy(SeededHashing)},
		`no hash with strategy "double-hashing"`:       {WithHash(Hash{&noHash})},
		`the hash is the zero Hash`:                    {WithHash(Hash{})},
		`the strategy is the zero Strategy`:            {WithStrategy(Strategy{})},
		`p = 1e-10 with fnv-mixed, of whose digests n`: {WithHash(customHash64)},
	} {
		_, err := New(10_000_000_000, 1e-10, opts...)
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, text)
	}
	// What the caller got wrong is no fault of the data.
	_, err := Read(bytes.NewReader(nil), WithHash(NewHash("nothing", nil)))
	require.ErrorIs(t, err, ErrInvalid)
	_, err = Read(bytes.NewReader(nil), nil)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, "option 1 of 1 is nil")
}

// TestDigest64Vectors: they never change.
func TestDigest64Vectors(t *testing.T) {
	for v, want := range map[uint64][2]uint64{
		0:              {0xe220a8397b1dcdaf, 0x7d3cd55f3905a849},
		1:              {0xe4d971771b652c20, 0x88fe8da3db1a9050},
		2:              {0x975835de1c9756ce, 0x99fe9707d285f07a},
		math.MaxUint64: {0xde0a564cbcd060c4, 0x21698be3e8b497d4},
		0xdeadbeef:     {0x3d095a5f83ae3481, 0xc47613f3c5f51dff},
	} {
		h1, h2 := Digest64(v)
		require.Equal(t, fmt.Sprintf("%#016x", want), fmt.Sprintf("%#016x", [2]uint64{h1, h2}), "%#x", v)
	}
	for h1, want := range map[uint64]uint64{0: 0x275fd29e9128d38d, 1: 0x892858edb9a36e61, math.MaxUint64: 0x3a68b3aff9f587c9} {
		_, h2 := NewHash64("x", func([]byte) uint64 { return h1 }).sum(nil)
		require.Equal(t, fmt.Sprintf("%#016x", want), fmt.Sprintf("%#016x", h2), "%#x", h1)
	}
}

func (h Hash) sum(key []byte) (h1, h2 uint64) {
	s := hasher{def: h.def}
	return s.sum(key)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// lowAndHigh takes the bits of a digest that no strategy of this package takes together:
// the low ones of h1 and the high ones of h2.
var lowAndHigh = NewStrategy("low-and-high", Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
	return h1%(m/64)*64 + h2>>(58-6*i)&63
})})

// equalSteps is Guava's walk, from the low bits of both halves.
var equalSteps = NewStrategy("equal-steps", Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
	return (h1 + uint64(i)*h2) & math.MaxInt64 % m
})})

// TestDigest64KeepsTheRate: the rate with values that are sequential, that differ in their
// high bits only, or that are multiples, and with digests of 64 good bits, is that with
// digests whose halves are independent.
func TestDigest64KeepsTheRate(t *testing.T) {
	sequential(t)
	t.Parallel()
	const n, asks = 10_000, 200_000
	digests := map[string]func(i uint64) (h1, h2 uint64){
		"sequential":       func(i uint64) (h1, h2 uint64) { return Digest64(i) },
		"high bits":        func(i uint64) (h1, h2 uint64) { return Digest64(i << 40) },
		"multiples":        func(i uint64) (h1, h2 uint64) { return Digest64(i * 4096) },
		"bytes swapped":    func(i uint64) (h1, h2 uint64) { return Digest64(bits.ReverseBytes64(i)) },
		"golden multiples": func(i uint64) (h1, h2 uint64) { return Digest64(i * 0x9e3779b97f4a7c15) },
		"64-bit hash":      func(i uint64) (h1, h2 uint64) { h1 = mix(i); return h1, widen(h1) },
	}
	for _, s := range []Strategy{DoubleHashing, Blocked1, Blocked2, Blocked4, Blocked8, SplitBlock, equalSteps, lowAndHigh} {
		params := Params{M: 102_400, K: 8}
		wrong := func(digest func(i uint64) (h1, h2 uint64)) (count float64) {
			f := must(NewWithParams(params, WithStrategy(s)))
			for i := range uint64(n) {
				f.AddDigest(digest(i))
			}
			for i := range uint64(asks) {
				if f.ContainsDigest(digest(n + i)) {
					count++
				}
			}
			return count
		}
		want := wrong(digestOf)
		for name, digest := range digests {
			got := wrong(digest)
			if z := (got - want) / math.Sqrt(got+want); z > 6 {
				t.Errorf("%s, %s: %v of %d wrong, with independent digests %v: %.1f sigma", s, name, got, asks, want, z)
			}
		}
	}
}

// BenchmarkCustomHash measures what a hash costs more as one's own than as a call of the same
// function that the compiler knows, in turns.
func BenchmarkCustomHash(b *testing.B) {
	keys := make([][40]byte, 256)
	for i := range keys {
		key40(&keys[i], uint64(i))
	}
	own := must(NewScheme(1000, 0.01, WithHash(NewHash("own", func(key []byte) (h1, h2 uint64) { return murmur3.SeedSum128(0, 0, key) }))))
	f, g := must(own.Filter()), MustNew(1000, 0.01)
	var more []float64
	sum := 0
	for b.Loop() {
		var took [2]time.Duration
		for which, f := range []*BloomFilter{f, g} {
			began := time.Now()
			for i := range 10_240 {
				if f.Contains(keys[i%256][:]) {
					sum++
				}
			}
			took[which] = time.Since(began)
		}
		more = append(more, float64(took[0]-took[1])/10_240)
	}
	slices.Sort(more)
	b.ReportMetric(more[len(more)/2], "ns/more")
}
