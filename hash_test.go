package bloom

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/stretchr/testify/require"
)

var testKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func TestMurmur3Vectors(t *testing.T) {
	f := MustNew(10, 0.1)
	for _, c := range []struct {
		key    string
		h1, h2 uint64
	}{
		{"", 0, 0},
		{"hell", 0x629942693e10f867, 0x92db0b82baeb5347},
		{"The quick brown fox jumps over the lazy dog", 0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347},
	} {
		h1, h2 := f.DigestString(c.key)
		require.Equal(t, [2]uint64{c.h1, c.h2}, [2]uint64{h1, h2}, c.key)
	}
}

// What the reference implementation returns becomes h1, and widen makes h2 of it.
func TestRapidHashVectors(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		key  string
		h1   uint64
	}{
		{0, "", 0x0338dc4be2cecdae},
		{0, "a", 0x599f47df33a2e1eb},
		{0, "hello world", 0x2f27cb27d5240940},
		{1, "", 0xad700ecdf353d5ca},
	} {
		f := MustNew(10, 0.1, WithHash(RapidHash), WithSeed(c.seed))
		h1, h2 := f.DigestString(c.key)
		require.Equal(t, [2]uint64{c.h1, widen(c.h1)}, [2]uint64{h1, h2}, "%q, seed %d", c.key, c.seed)
		require.Equal(t, c.seed, f.Scheme().Seed())
	}
	require.Equal(t, MustNew(10, 0.1, WithHash(RapidHash)).Scheme().Identity(),
		MustNew(10, 0.1, WithHash(RapidHash), WithSeed(0)).Scheme().Identity())
}

// The reference implementation's vector for 128 bits out: key 00..0f, message
// 00..0e, result 5493e99933b0a8117e08ec0f97cfc3d9.
func TestSipHashVector(t *testing.T) {
	f := MustNew(10, 0.1, WithKey(testKey))
	h1, h2 := f.Digest([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
	require.Equal(t, [2]uint64{0x11a8b03399e99354, 0xd9c3cf970fec087e}, [2]uint64{h1, h2})
}

func TestHashesWorkWithEveryStrategy(t *testing.T) {
	t.Parallel()
	hashes := map[string]Option{
		"murmur3": WithHash(Murmur3), "rapidhash-v3": WithHash(RapidHash), "maphash": WithHash(MapHash), "siphash": WithKey(testKey),
		"murmur3-77": WithHash(customHash), "fnv-mixed": WithHash(customHash64),
	}
	for name, opt := range hashes {
		for _, s := range allStrategies {
			f, err := New(3000, 1e-3, opt, WithStrategy(s))
			if s.NeedsKey() {
				require.ErrorIs(t, err, ErrInvalid)
				require.ErrorContains(t, err, fmt.Sprintf(`strategy %q has a hash of its own`, s))
				continue
			}
			require.NoError(t, err)
			require.Contains(t, f.String(), "hash="+name)
			var b [40]byte
			for i := range uint64(3000) {
				f.Add(key40(&b, i))
			}
			wrong := 0
			for i := range uint64(100_000) {
				if i < 3000 && !f.Contains(key40(&b, i)) {
					t.Fatalf("%s, %s: key %d is missed", name, s, i)
				}
				if f.Contains(key40(&b, 1<<40+i)) {
					wrong++
				}
			}
			// 100 are expected; MapHash has another seed in each run.
			require.Less(t, wrong, 170, "%s, %s", name, s)
		}
	}
}

func TestHashOptionsThatExcludeEachOther(t *testing.T) {
	for text, opts := range map[string][]Option{
		"the hash is the zero Hash, want one such as Murmur3":                    {WithHash(Hash{})},
		"option 2 of 2 is nil":                                                   {WithHash(Murmur3), nil},
		"hash siphash has a secret key, want WithKey":                            {WithHash(Hash{&sipHash})},
		"a seed and a key":                                                       {WithSeed(0), WithKey(testKey)},
		`hash "murmur3" and a key, want at most one`:                             {WithHash(Murmur3), WithKey(testKey)},
		`hash "maphash" and a seed, which`:                                       {WithHash(MapHash), WithSeed(1)},
		`hash "rapidhash-v3" and a key, want at most one`:                        {WithHash(RapidHash), WithKey(testKey)},
		"p = 1e-10 with rapidhash-v3, of whose digests n = 10000000000":          {WithHash(RapidHash)},
		`hash "maphash" and a key`:                                               {WithHash(MapHash), WithKey(testKey)},
		"p = 1e-10 with maphash, of whose digests n = 10000000000 keys take":     {WithHash(MapHash)},
		`strategy "seeded-hashing" has a hash of its own, want no other hash`:    {WithKey(testKey), WithStrategy(SeededHashing)},
		`strategy "seeded-hashing" has a hash of its own, want no other hash or`: {WithHash(MapHash), WithStrategy(SeededHashing)},
	} {
		_, err := New(10_000_000_000, 1e-10, opts...)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, text)
		if text[0] != 'p' {
			_, err = NewWithParams(Params{M: 64, K: 1}, opts...)
			require.ErrorContains(t, err, text)
		}
	}
}

// TestMapHashRefusesTheGivenP: not what is left of it for the filter.
func TestMapHashRefusesTheGivenP(t *testing.T) {
	const n = 1_000_000_000
	for _, p := range []float64{-1, 0, 1, 1.00000001, math.NaN(), math.Inf(1)} {
		_, err := New(n, p, WithHash(MapHash))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("p = %v, want 0 < p < 1", p))
		require.NotContains(t, err.Error(), "equal digests")
	}
	_, err := NewScheme(1<<50, 0x1.00001p-14, WithHash(MapHash))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "(of p = 6.103521445766091e-05, 6.1e-05 are taken by equal digests of maphash)")
	// The smallest p of a strategy is that of every hash.
	for s, p := range map[Strategy]float64{Blocked: 1e-12, Blocked8: 1e-12, SplitBlock: 1e-7} {
		for _, n := range []uint64{1, 1000, 1_000_000} {
			scheme, err := NewScheme(n, p, WithHash(RapidHash), WithStrategy(s))
			require.NoError(t, err)
			require.LessOrEqual(t, scheme.Strategy().FalsePositiveRate(scheme.Params().M, scheme.Params().K, n)+float64(n)/(1<<64), p*(1+1e-12))
			require.Equal(t, p, scheme.Params().P)
		}
	}
}

// TestMapHashCollisionsAreInTheRate: 64-bit digests of a billion keys collide at a
// rate that a small p must make room for.
func TestMapHashCollisionsAreInTheRate(t *testing.T) {
	const n, p = 1 << 30, 1.1 * (1 << 30) / (1 << 64) // 90 % of p are collisions
	wide, err := ParamsFor(n, p, DoubleHashing)
	require.NoError(t, err)
	narrow, err := NewScheme(n, p, WithHash(MapHash))
	require.NoError(t, err)
	require.Greater(t, narrow.Params().M, wide.M+wide.M/20)
	require.InEpsilon(t, p, narrowRate(narrow.Params())+n*math.Pow(2, -64), 1e-6)
}

func narrowRate(p Params) float64 { return DoubleHashing.FalsePositiveRate(p.M, p.K, p.N) }

func TestCompatibleHashes(t *testing.T) {
	other := testKey
	other[15]++
	filters := map[string]*BloomFilter{
		"murmur3":  MustNew(10, 0.1),
		"seed":     MustNew(10, 0.1, WithSeed(1)),
		"rapid":    MustNew(10, 0.1, WithHash(RapidHash)),
		"rapid-1":  MustNew(10, 0.1, WithHash(RapidHash), WithSeed(1)),
		"maphash":  MustNew(10, 0.1, WithHash(MapHash)),
		"key":      MustNew(10, 0.1, WithKey(testKey)),
		"otherkey": MustNew(10, 0.1, WithKey(other)),
	}
	for a, f := range filters {
		for b, g := range filters {
			require.Equal(t, a == b, f.Compatible(g), "%s and %s", a, b)
		}
	}
	require.True(t, filters["maphash"].Compatible(MustNew(10, 0.1, WithHash(MapHash))), "one seed for the process")
	require.ErrorContains(t, filters["murmur3"].Union(filters["maphash"]), `hashes murmur3 and maphash`)
	err := filters["key"].Union(filters["otherkey"])
	require.EqualError(t, err, "bloom: incompatible filters: different secret keys")
}

// TestCollidingKeys: the thousand keys of the file have one digest under every seed
// of Murmur3, so that adding one adds all. The other hashes tell them apart.
func TestCollidingKeys(t *testing.T) {
	file, err := os.Open("testdata/murmur3-collisions.hex")
	require.NoError(t, err)
	defer file.Close()
	var keys [][]byte
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, err := hex.DecodeString(lines.Text())
		require.NoError(t, err)
		keys = append(keys, key)
	}
	require.Len(t, keys, 1000)
	for _, c := range []struct {
		name     string
		opt      Option
		min, max int
	}{
		{"murmur3", WithSeed(0), 999, 999},
		{"murmur3, another seed", WithSeed(0xfeedface), 999, 999},
		{"rapidhash", WithHash(RapidHash), 0, 0},
		{"maphash", WithHash(MapHash), 0, 0},
		{"siphash", WithKey(testKey), 0, 0},
	} {
		for _, s := range []Strategy{DoubleHashing, Blocked} {
			f := MustNew(1000, 1e-9, c.opt, WithStrategy(s))
			require.True(t, f.Add(keys[0]))
			found := f.ContainsMany(keys[1:], nil)
			require.True(t, c.min <= found && found <= c.max, "%s, %s: %d of the others are there", c.name, s, found)
		}
	}
}

// TestCollidingKeysOfRapidHash: such keys are made without any search. The digest comes from a
// product, which is 0 if the eight bytes that are one of its factors equal a constant (from 17
// bytes on, xor the length), whatever the other bytes and the seed are.
func TestCollidingKeysOfRapidHash(t *testing.T) {
	const secret = 0x8bb84b93962eacc9
	for length := 9; length <= 300; length++ {
		at, eight := 0, uint64(secret)
		if length > 16 {
			at, eight = length-16, secret^uint64((length-1)%112+1) // 112 bytes are taken at a time
		}
		for _, c := range []struct {
			opts    []Option
			collide bool
		}{
			{[]Option{WithHash(RapidHash)}, true},
			{[]Option{WithHash(RapidHash), WithSeed(1)}, true},
			{[]Option{WithHash(RapidHash), WithSeed(0xfeedface)}, true},
			{[]Option{WithHash(MapHash)}, false},
			{[]Option{WithKey(testKey)}, false},
		} {
			f := MustNew(1000, 1e-9, c.opts...)
			key := make([]byte, length)
			for i := range byte(10) {
				for j := range key {
					key[j] = byte(mix(uint64(j))) + i
				}
				binary.LittleEndian.PutUint64(key[at:], eight)
				require.Equal(t, i == 0 || !c.collide, f.Add(key), "%d bytes, key %d, %s", length, i, f)
			}
			key[at]++
			require.True(t, f.Add(key), "%d bytes", length)
		}
	}
}

// seedsToTry are 0 to 64, some at random, and those that come nearest to a length: they start
// Murmur3 at 2^63 xor a length.
func seedsToTry(random int) (seeds []uint64) {
	for seed := range uint64(65) {
		seeds = append(seeds, seed)
	}
	for i := range uint64(random) {
		seeds = append(seeds, mix(i))
	}
	inverse := uint64(probe.Xor) // modulo 2^64, by Newton's iteration
	for range 5 {
		inverse *= 2 - inverse*probe.Xor
	}
	for length := uint64(1); length < 16; length++ {
		seeds = append(seeds, length*inverse, length*inverse+1<<63)
	}
	return seeds
}

// keyShapes write the i-th of a sequence of different keys into dst, at least two bytes.
var keyShapes = map[string]func(dst []byte, i uint64){
	"random": func(dst []byte, i uint64) {
		keyFields(dst, i)
		for j := 8; j < len(dst); j++ {
			dst[j] = byte(mix(i<<8 + uint64(j)))
		}
	},
	"zero tail": keyFields,
	"counter":   func(dst []byte, i uint64) { writeUint(dst, i) },
	"zero head": func(dst []byte, i uint64) { keyFields(dst[max(0, len(dst)-8):], i) },
}

// keyFields writes up to eight random bytes and leaves the others 0.
func keyFields(dst []byte, i uint64) { writeUint(dst, i*0x9e3779b97f4a7c15) } // odd: a bijection at each length

func writeUint(dst []byte, x uint64) {
	clear(dst)
	for j := range min(8, len(dst)) {
		dst[j] = byte(x >> (8 * j))
	}
}

// TestMurmurStartsAtNoLength: where a start equals a length, Murmur3 has half a digest.
func TestMurmurStartsAtNoLength(t *testing.T) {
	require.Zero(t, probe.MurmurStart(0), "plain Murmur3")
	seen := map[uint64]uint64{}
	for _, seed := range seedsToTry(1000) {
		start := probe.MurmurStart(seed)
		if seed != 0 {
			require.Negative(t, int64(start), "seed %#x starts at what may be a length", seed)
		}
		if other, ok := seen[start]; ok {
			require.Equal(t, seed^1<<63, other, "seeds %#x and %#x", seed, other)
		}
		seen[start] = seed
	}
}

// TestRateOfEverySeedAndLength: the rate holds for every strategy, seed, length and shape of
// keys: each small filter for itself, and all of a strategy, shape and length together.
// Murmur3 started at the seed has half a digest of keys that are as long: Blocked1's rate is
// then 35 times p, and a probe of SeededHashing falls on even positions only.
func TestRateOfEverySeedAndLength(t *testing.T) {
	sequential(t)
	t.Parallel()
	const n, p = 500, 0.01
	probes := effort.Times(100, 100, 1000)
	seeds := seedsToTry(effort.Times(0, 4, 100))
	longest := effort.Times(16, 24, 64)
	for _, s := range ours {
		params := must(ParamsFor(n, p, s))
		predicted := s.FalsePositiveRate(params.M, params.K, n)
		for shape, write := range keyShapes {
			for length := 2; length <= longest; length++ {
				buf, sum, sumOfFilters, filters := make([]byte, length), 0.0, 0.0, 0.0
				for _, seed := range seeds {
					f := must(NewWithParams(params, WithStrategy(s), WithSeed(seed)))
					for i := range uint64(n) {
						write(buf, i)
						f.Add(buf)
					}
					hits := 0.0
					for i := range uint64(probes) {
						if write(buf, n+i); f.Contains(buf) {
							hits++
						}
					}
					rate := f.Stats().EstimatedFalsePositiveRate
					expected := rate * float64(probes)
					if off := (hits - expected) / math.Sqrt(expected+1); off > 9 {
						t.Errorf("%s, seed %#x, %s keys of %d bytes: %v of %d, the bits say %.1f, %.1f sigma less", s, seed, shape, length, hits, probes, expected, off)
					}
					sum += hits
					sumOfFilters += rate
					filters++
				}
				// The rates of filters differ, by less than half of their mean.
				want := predicted * filters * float64(probes)
				sigma := math.Sqrt(want + want*want/4/filters)
				if off := (sum - want) / sigma; off > 4.5 {
					t.Errorf("%s, %s keys of %d bytes: %v hits, predicted are %.0f, %.1f sigma less; the bits say %.0f", s, shape, length, sum, want, off, sumOfFilters*float64(probes))
				}
			}
		}
	}
}

// TestSeededHashingReachesAllPositions: each of its probes, at every length, with zero tails.
func TestSeededHashingReachesAllPositions(t *testing.T) {
	const keys, k, m = 256, 24, 16
	for _, seed := range []uint64{0, 1, 9, mix(1)} {
		s := must(NewSchemeWithParams(Params{M: m, K: k}, WithStrategy(SeededHashing), WithSeed(seed)))
		for length := 2; length <= 20; length++ {
			var counts [k][m]float64
			buf := make([]byte, length)
			for i := range uint64(keys) {
				keyFields(buf, i)
				for j, pos := range s.AppendPositions(nil, buf) {
					counts[j][pos]++
				}
			}
			for j := range counts {
				require.Less(t, chiSquareSigmas(counts[j][:], keys/m), 7.0, "seed %d, %d bytes, probe %d: %v", seed, length, j, counts[j])
			}
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
