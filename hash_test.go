package bloom

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"testing"

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
		h1, h2 := f.HashString(c.key)
		require.Equal(t, [2]uint64{c.h1, c.h2}, [2]uint64{h1, h2}, c.key)
	}
}

// The reference implementation's vector for 128 bits out: key 00..0f, message
// 00..0e, result 5493e99933b0a8117e08ec0f97cfc3d9.
func TestSipHashVector(t *testing.T) {
	f := MustNew(10, 0.1, WithKey(testKey))
	h1, h2 := f.Hash([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14})
	require.Equal(t, [2]uint64{0x11a8b03399e99354, 0xd9c3cf970fec087e}, [2]uint64{h1, h2})
}

func TestHashesWorkWithEveryStrategy(t *testing.T) {
	hashes := map[string]Option{"murmur3": WithHash(Murmur3), "maphash": WithHash(MapHash), "siphash": WithKey(testKey)}
	for name, opt := range hashes {
		for _, s := range allStrategies {
			f, err := New(3000, 1e-3, opt, WithStrategy(s))
			if s.needsKey() && name != "murmur3" {
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
		"hash Hash(7), want Murmur3 or MapHash":                                  {WithHash(7)},
		"hash siphash, want Murmur3 or MapHash":                                  {WithHash(sipHash)},
		"a seed and a key":                                                       {WithSeed(0), WithKey(testKey)},
		"MapHash has a seed of its own":                                          {WithHash(MapHash), WithSeed(1)},
		"want no seed or key":                                                    {WithHash(MapHash), WithKey(testKey)},
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

// TestMapHashCollisionsAreInTheRate: 64-bit digests of a billion keys collide at a
// rate that a small p must make room for.
func TestMapHashCollisionsAreInTheRate(t *testing.T) {
	const n, p = 1 << 30, 1.1 * (1 << 30) / (1 << 64) // 90 % of p are collisions
	wide, err := ParamsFor(n, p, DoubleHashing)
	require.NoError(t, err)
	o := newOptions([]Option{WithHash(MapHash)})
	h, err := o.hasher()
	require.NoError(t, err)
	narrow, err := ParamsFor(n, p-h.collisions(n), DoubleHashing)
	require.NoError(t, err)
	require.Greater(t, narrow.M, wide.M+wide.M/20)
	require.InEpsilon(t, p, narrowRate(narrow)+h.collisions(n), 1e-6)
}

func narrowRate(p Params) float64 { return DoubleHashing.FalsePositiveRate(p.M, p.K, p.N) }

func TestCompatibleHashes(t *testing.T) {
	other := testKey
	other[15]++
	filters := map[string]*BloomFilter{
		"murmur3":  MustNew(10, 0.1),
		"seed":     MustNew(10, 0.1, WithSeed(1)),
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
	require.ErrorContains(t, filters["murmur3"].Union(filters["maphash"]), "hashes murmur3 and maphash")
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
