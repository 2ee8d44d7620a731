package bloom

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// TestFrozenHashes: what the reference implementations return. widen makes h2 of 64 bits.
func TestFrozenHashes(t *testing.T) {
	sip := string([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
	for _, c := range []struct {
		opts   []Option
		key    string
		h1, h2 uint64
	}{
		{nil, "", 0, 0},
		{nil, "hell", 0x629942693e10f867, 0x92db0b82baeb5347},
		{nil, "The quick brown fox jumps over the lazy dog", 0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347},
		{[]Option{WithHash(RapidHash)}, "", 0x0338dc4be2cecdae, probe.Widen(0x0338dc4be2cecdae)},
		{[]Option{WithHash(RapidHash)}, "a", 0x599f47df33a2e1eb, probe.Widen(0x599f47df33a2e1eb)},
		{[]Option{WithHash(RapidHash), WithSeed(0)}, "hello world", 0x2f27cb27d5240940, probe.Widen(0x2f27cb27d5240940)},
		{[]Option{WithHash(RapidHash), WithSeed(1)}, "", 0xad700ecdf353d5ca, probe.Widen(0xad700ecdf353d5ca)},
		{[]Option{WithSecret(testKey)}, sip, 0x11a8b03399e99354, 0xd9c3cf970fec087e},
	} {
		f := MustNew(10, 0.1, c.opts...)
		h1, h2 := f.scheme.Digest([]byte(c.key))
		require.Equal(t, [2]uint64{c.h1, c.h2}, [2]uint64{h1, h2}, "%s: %q", f, c.key)
	}
}

func TestHashOptionsRefused(t *testing.T) {
	sum := func([]byte) uint64 { return 0 }
	copied := *Murmur3
	for text, opts := range map[string][]Option{
		"the hash is nil or the zero Hash, want one such as Murmur3":           {WithHash(nil)},
		"the strategy is the zero Strategy":                                    {WithStrategy(Strategy{})},
		"option 2 of 2 is nil":                                                 {WithHash(Murmur3), nil},
		"hash siphash without a secret, want WithSecret":                       {WithHash(&sipHash)},
		`no hash with strategy "double-hashing"`:                               {WithHash(&noHash)},
		"a seed and a secret":                                                  {WithSeed(0), WithSecret(testKey)},
		`hash "murmur3" and a secret, want at most one`:                        {WithHash(Murmur3), WithSecret(testKey)},
		`hash "rapidhash-v3" and a secret, want at most one`:                   {WithHash(RapidHash), WithSecret(testKey)},
		`hash "maphash" and a secret`:                                          {WithHash(MapHash), WithSecret(testKey)},
		`hash "fnv-mixed" and a secret`:                                        {WithHash(customHash64), WithSecret(testKey)},
		"the secret is 16 zero bytes":                                          {WithSecret([16]byte{})},
		`hash "maphash" and a seed, which`:                                     {WithHash(MapHash), WithSeed(1)},
		`hash "fnv-mixed" and a seed`:                                          {WithHash(customHash64), WithSeed(1)},
		`strategy "seeded-hashing" has a hash of its own, want no other hash`:  {WithSecret(testKey), WithStrategy(SeededHashing)},
		`"seeded-hashing" has a hash of its own, want no other hash or secret`: {WithHash(MapHash), WithStrategy(SeededHashing)},
		`"seeded-hashing" has a hash of its own, want no other`:                {WithHash(customHash64), WithStrategy(SeededHashing)},
		`a copy of hash "murmur3", want the pointer itself`:                    {WithHash(&copied)},
		`hash "nothing" has no function`:                                       {WithHash(NewHash("nothing", nil))},
		`hash "nothing64" has no function`:                                     {WithHash(NewHash64("nothing64", nil))},
		`hash name "murmur3" is taken`:                                         {WithHash(NewHash64("murmur3", sum))},
		`hash name "siphash" is taken`:                                         {WithHash(NewHash64("siphash", sum))},
		`hash name "none" is taken`:                                            {WithHash(NewHash64("none", sum))},
		`… has 256 bytes, want at most 255`:                                    {WithHash(NewHash64(strings.Repeat("x", 256), sum))},
		"p = 1e-10 with rapidhash-v3: equal digests of n = 10000000000 keys":   {WithHash(RapidHash)},
		"p = 1e-10 with maphash: equal digests of n = 10000000000 keys":        {WithHash(MapHash)},
		"p = 1e-10 with fnv-mixed: equal digests of n = 10000000000 keys":      {WithHash(customHash64)},
	} {
		_, err := New(10_000_000_000, 1e-10, opts...)
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, text)
		if text[0] != 'p' {
			_, err = newWithParams(Params{M: 64, K: 1}, opts...)
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
	for _, s := range builtins {
		p := max(1e-12, s.limits().minP)
		if s.NeedsKey() {
			continue // no other hash
		}
		for _, n := range []uint64{1, 1000, 1_000_000} {
			scheme := must(NewScheme(n, p, WithHash(RapidHash), WithStrategy(s)))
			require.LessOrEqual(t, scheme.Strategy().FalsePositiveRate(scheme.Params().M, scheme.Params().K, n)+float64(n)/(1<<64), p*(1+1e-12))
			require.Equal(t, p, scheme.Params().P)
		}
	}
}

// TestMapHashCollisionsAreInTheRate: 64-bit digests of a billion keys collide at a
// rate that a small p must make room for.
func TestMapHashCollisionsAreInTheRate(t *testing.T) {
	const n, p = 1 << 30, 1.1 * (1 << 30) / (1 << 64) // 90 % of p are collisions
	wide := must(sizeFor(n, p, DoubleHashing))
	narrow := must(NewScheme(n, p, WithHash(MapHash)))
	require.Greater(t, narrow.Params().M, wide.M+wide.M/20)
	rate := DoubleHashing.FalsePositiveRate(narrow.Params().M, narrow.Params().K, n)
	require.InEpsilon(t, p, rate+n*math.Pow(2, -64), 1e-6)
}

// TestCollidingKeys: the thousand keys of the file have one digest under every seed
// of Murmur3, so that adding one adds all. The other hashes tell them apart.
func TestCollidingKeys(t *testing.T) {
	file := must(os.Open("testdata/murmur3-collisions.hex"))
	defer file.Close()
	var keys [][]byte
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key := must(hex.DecodeString(lines.Text()))
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
		{"siphash", WithSecret(testKey), 0, 0},
	} {
		for _, s := range Strategies() {
			if s.NeedsKey() || s.limits().minP > 1e-9 {
				continue // it hashes the key itself, or its rate hides the answer
			}
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
			{[]Option{WithSecret(testKey)}, false},
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

// seedsToTry are 0 to 64, some at random, and the seeds that start Murmur3 at 2^63 xor a length.
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
		seeds = append(seeds, length*inverse)
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

// TestMurmurStartsAtNoLength: where a start equals the key's length, Murmur3 has half a digest.
func TestMurmurStartsAtNoLength(t *testing.T) {
	require.Zero(t, probe.MurmurStart(0), "plain Murmur3")
	seen := map[uint64]bool{}
	for _, seed := range seedsToTry(1000) {
		start := probe.MurmurStart(seed)
		if seed != 0 {
			require.Negative(t, int64(start), "seed %#x starts at what may be a length", seed)
		}
		require.False(t, seen[start], "seed %#x starts where another does", seed)
		seen[start] = true
	}
}

// TestRateOfEverySeedAndLength: the rate holds for every strategy, seed, length and shape of
// keys, in each small filter and in all of a strategy, shape and length together. Murmur3
// started at the length of its keys has half a digest: the rate of Blocked is then up to 35 times p.
func TestRateOfEverySeedAndLength(t *testing.T) {
	sequential(t)
	t.Parallel()
	const n, p = 1000, 0.01
	const probes = 300
	all := seedsToTry(100)
	longest, shapes := 64, keyShapes
	if !*testkit.Long {
		longest, shapes = 16, map[string]func(dst []byte, i uint64){"random": keyShapes["random"], "zero tail": keyShapes["zero tail"]}
	}
	for _, s := range builtins {
		params := must(sizeFor(n, p, s))
		predicted := s.FalsePositiveRate(params.M, params.K, n)
		for shape, write := range shapes {
			for length := 2; length <= longest; length++ {
				buf, sum, sumOfFilters, filters := make([]byte, length), 0.0, 0.0, 0.0
				// The length, what starts next to it, and others.
				for _, seed := range []uint64{uint64(length), all[len(all)-16+min(length, 15)], 0, 1, mix(uint64(length))} {
					f := must(newWithParams(params, WithStrategy(s), WithSeed(seed)))
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
					expected := rate * probes
					if off := (hits - expected) / math.Sqrt(expected+1); off > 9 {
						t.Errorf("%s, seed %#x, %s keys of %d bytes: %v of %d, the bits give %.1f, %.1f sigma less", s, seed, shape, length, hits, probes, expected, off)
					}
					sum += hits
					sumOfFilters += rate
					filters++
				}
				// The rates of filters differ, by less than half of their mean.
				want := predicted * filters * probes
				sigma := math.Sqrt(want + want*want/4/filters)
				if off := (sum - want) / sigma; off > 4.5 {
					t.Errorf("%s, %s keys of %d bytes: %v hits, predicted are %.0f, %.1f sigma less; the bits give %.0f", s, shape, length, sum, want, off, sumOfFilters*probes)
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

// customDigest is what the two hashes are defined to be, without the filter.
func customDigest(h *Hash, key []byte) (h1, h2 uint64) {
	if h == customHash {
		return murmur3.SeedSum128(77, 77, key)
	}
	h1, _ = customHash64.sum(key)
	x := (h1 ^ 0x9e3779b97f4a7c15) * 0x9e3779b185ebca87
	return h1, x ^ x>>32
}

// TestFrozenDigest64: they never change.
func TestFrozenDigest64(t *testing.T) {
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
		_, h2 := MustNew(10, 0.1, WithHash(NewHash64("x", func([]byte) uint64 { return h1 }))).Scheme().Digest(nil)
		require.Equal(t, fmt.Sprintf("%#016x", want), fmt.Sprintf("%#016x", h2), "%#x", h1)
	}
}

// lowAndHigh takes the bits of a digest that no strategy of this package takes together:
// the low ones of h1 and the high ones of h2.
var lowAndHigh = NewStrategy("low-and-high", Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
	return h1%(m/64)*64 + h2>>(58-6*i)&63
})})

// equalSteps is Guava's walk, from the low bits of both halves.
var equalSteps = NewStrategy("equal-steps", Definition{Positions: testkit.ByIndex(func(h1, h2 uint64, i int, m uint64) uint64 {
	return (h1 + uint64(i)*h2) & math.MaxInt64 % m
})})

// TestDigest64KeepsTheRate: the rate is the same with independent digests, with those of values
// that are sequential, multiples, or differ in their high bits only, and with 64-bit hashes.
func TestDigest64KeepsTheRate(t *testing.T) {
	sequential(t)
	t.Parallel()
	const n, asks = 10_000, 50_000
	digests := map[string]func(i uint64) (h1, h2 uint64){
		"sequential":       func(i uint64) (h1, h2 uint64) { return Digest64(i) },
		"high bits":        func(i uint64) (h1, h2 uint64) { return Digest64(i << 40) },
		"multiples":        func(i uint64) (h1, h2 uint64) { return Digest64(i * 4096) },
		"bytes swapped":    func(i uint64) (h1, h2 uint64) { return Digest64(bits.ReverseBytes64(i)) },
		"golden multiples": func(i uint64) (h1, h2 uint64) { return Digest64(i * 0x9e3779b97f4a7c15) },
		"64-bit hash":      func(i uint64) (h1, h2 uint64) { h1 = mix(i); return h1, probe.Widen(h1) },
	}
	for _, s := range append([]Strategy{equalSteps, lowAndHigh}, builtins...) {
		if s.NeedsKey() {
			continue // no digest
		}
		params := fit(s, 102_400, 8)
		wrong := func(digest func(i uint64) (h1, h2 uint64)) (count float64) {
			f := must(newWithParams(params, WithStrategy(s)))
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

// TestFrozenDigests compares the digests of keys of every length with those that were written
// down once, for every hash of this package that another process has.
func TestFrozenDigests(t *testing.T) {
	var out strings.Builder
	for _, d := range hashes {
		if d == &mapHash || d == &noHash {
			continue
		}
		for _, seed := range []uint64{0, 42} {
			opts := []Option{hashOptions()[d.name]}
			if d.start != nil {
				opts = append(opts, WithSeed(seed))
			}
			f := must(newWithParams(Params{M: 64, K: 1}, opts...))
			key, sum := make([]byte, 0, 300), uint64(0)
			for i := range uint64(300) {
				h1, h2 := f.scheme.Digest(key)
				sum = mix(sum^h1) ^ h2
				key = append(key, byte(mix(i)))
			}
			fmt.Fprintf(&out, "%s seed=%d: %016x\n", d.name, seed, sum)
		}
	}
	frozen(t, "digests", out.String())
}

// TestSeedsMatter: under another seed or secret, every hash of this package has other digests, and every
// strategy that hashes keys itself other positions.
func TestSeedsMatter(t *testing.T) {
	schemes := map[string][]*Scheme{}
	with := func(name string, opts ...Option) {
		schemes[name] = append(schemes[name], must(NewSchemeWithParams(Params{M: 1 << 40, K: 7}, opts...)))
	}
	for _, seed := range []uint64{0, 1, 2, 42, 1<<63 + 5, math.MaxUint64} {
		for _, d := range hashes {
			if d.start != nil && d != &noHash {
				with(d.name, WithHash(d), WithSeed(seed))
			}
		}
		for _, s := range allStrategies {
			if s.NeedsKey() {
				with(s.Name(), WithStrategy(s), WithSeed(seed))
			}
		}
		with(sipHash.name, WithSecret([16]byte{1, byte(seed), byte(seed >> 56)}))
	}
	for name, list := range schemes {
		for _, key := range []string{"", "a", "hello, world", strings.Repeat("long", 100)} {
			seen := map[string]bool{}
			for _, s := range list {
				seen[fmt.Sprint(s.AppendPositions(nil, []byte(key)))] = true
			}
			require.Len(t, seen, len(list), "%s: seeds with the same positions of %q", name, key)
		}
	}
}

// TestEveryCallHashesAlike: single calls, batches, digests and positions, for keys of every length. A custom
// hash is its function.
func TestEveryCallHashesAlike(t *testing.T) {
	all := hashOptions()
	all["murmur3-77"], all["fnv-mixed"] = WithHash(customHash), WithHash(customHash64)
	for name, opt := range all {
		for _, s := range append([]Strategy{triple}, builtins...) {
			if s.NeedsKey() {
				continue // no digest
			}
			f := MustNew(400, 1e-6, WithStrategy(s), opt)
			g, h := must(f.Scheme().Filter()), must(f.Scheme().Filter())
			var keys [][]byte
			for i := range 200 {
				key := bytes.Repeat([]byte{byte(i)}, i+1)
				h1, h2 := f.scheme.Digest(key)
				if of := f.Scheme().Hash(); of.custom {
					require.Equal(t, fmt.Sprint(customDigest(of, key)), fmt.Sprint(h1, h2))
				}
				require.Equal(t, g.Add(key), f.AddDigest(h1, h2))
				require.Equal(t, f.Scheme().AppendDigestPositions(nil, h1, h2), f.Scheme().AppendPositions(nil, key))
				keys = append(keys, key)
			}
			h.AddMany(keys, nil)
			require.True(t, f.Equal(g) && f.Equal(h), "%s %s", name, s)
			require.Equal(t, len(keys), f.ContainsMany(keys, nil))
		}
	}
}
