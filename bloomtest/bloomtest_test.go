package bloomtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/bits"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

var good64 = bloom.NewHash64("good", murmur3.Sum64)

// TestBuiltinsPass: strategies and hashes of package bloom pass, and so do the custom ones that the
// broken ones below are made from.
func TestBuiltinsPass(t *testing.T) {
	for _, s := range append(bloom.Strategies(), at(bloom.Definition{}, good)) {
		require.NoError(t, TestStrategy(s, bloom.Params{N: 10, P: 0.1}, bloom.Params{N: 1000, P: 0.01}))
	}
	require.NoError(t, TestStrategy(blocked(func(h1, h2 uint64) (uint64, uint64) { return h1, h2 }), bloom.Params{N: 1000, P: 0.03}))
	if !testkit.RaceDetector && !testing.Short() {
		require.NoError(t, TestStrategy(bloom.DoubleHashing), "at the default points")
	}
	small := at(bloom.Definition{MaxM: 2048}, good) // as Ethereum's
	require.NoError(t, TestStrategy(small, bloom.Params{N: 100, P: 0.01}))
	require.ErrorContains(t, TestStrategy(small), "no m up to 2048 bits")
	for _, h := range conformance.Hashes() {
		require.NoError(t, TestHash(h))
	}
	require.NoError(t, TestHash(bloom.Murmur3, bloom.WithSeed(3)))
	require.NoError(t, TestHash(nil, bloom.WithSecret([16]byte{1, 2, 3})))
	require.NoError(t, TestHash(good64))
}

// at makes a strategy of a function of one position.
func at(d bloom.Definition, at func(h1, h2 uint64, i int, m uint64, k int) uint64) bloom.Strategy {
	d.Positions = func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
		return func(h1, h2 uint64, i int) uint64 { return at(h1, h2, i, m, k) }, nil
	}
	return bloom.NewStrategy("broken", d)
}

func good(h1, h2 uint64, i int, m uint64, _ int) uint64 {
	for range i {
		h1 = h1*0xd1342543de82ef95 + h2 | 1
	}
	pos, _ := bits.Mul64(h1, m)
	return pos
}

// blocked puts a key's bits into a block of 512, as block and y say.
func blocked(of func(h1, h2 uint64) (block, y uint64)) bloom.Strategy {
	rate := func(m uint64, k int, n uint64) float64 {
		if k != 8 {
			return 1 // never chosen
		}
		return bloom.Blocked.FalsePositiveRate(m, k, n)
	}
	size := func(n uint64, p float64) (m uint64, k int, err error) {
		m, k = 512, 8
		for rate(m, k, n) > p {
			m += 512 * (1 + m/(512*64))
		}
		return m, k, nil
	}
	return at(bloom.Definition{Size: size, Rate: rate, MaxK: 8}, func(h1, h2 uint64, i int, m uint64, _ int) uint64 {
		block, y := of(h1, h2)
		block, _ = bits.Mul64(block, m/512)
		return block*512 + uint64(i)%8*64 + y>>(6*i)&63
	})
}

// TestBrokenStrategies: each mistake is found, for the right reason.
func TestBrokenStrategies(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("NOT TESTED with the race detector: it takes a minute")
	}
	var calls atomic.Uint64
	var kept atomic.Pointer[[]uint64]
	scratch := make([]atomic.Uint64, 64)
	for _, c := range []struct {
		text   string
		point  bloom.Params
		broken bloom.Strategy
	}{
		{`n = 10, p = 0.1: panic: bloom: strategy "broken" returned position`, bloom.Params{N: 10, P: 0.1}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			if i == 0 && h1%256 == 0 {
				return m
			}
			return good(h1, h2, i, m, k)
		})},
		// The function is not pure.
		{"has positions [", bloom.Params{N: 10, P: 0.1}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			return good(h1+calls.Add(1)%3, h2, i, m, k)
		})},
		// All calls share one scratch.
		{"and then [", bloom.Params{N: 1000, P: 0.01}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			scratch[i].Store(good(h1, h2, i, m, k)) // atomically, or the race detector would find it first
			runtime.Gosched()                       // another call comes in between, as it may at any time
			return scratch[i].Load()
		})},
		{"Add allocates", bloom.Params{N: 10, P: 0.1}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			more := make([]uint64, 1+int(h1>>63))
			kept.Store(&more)
			return good(h1, h2, i, m, k)
		})},
		// The steps between a key's positions are equal.
		{"n = 100, p = 0.001: the rate is", bloom.Params{N: 100, P: 1e-3}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			pos, _ := bits.Mul64(h1+uint64(i)*(h2|1), m)
			return pos
		})},
		// A key has one position twice.
		{"the rate is", bloom.Params{N: 100, P: 0.05}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			return good(h1, h2, i%(k-1), m, k)
		})},
		// All positions are in the first half of the filter.
		{"the rate is", bloom.Params{N: 1000, P: 0.01}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			return good(h1, h2, i, (m+1)/2, k)
		})},
		// A key has at most four different positions.
		{"the rate is", bloom.Params{N: 20_000, P: 0.01}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			return good(h1, h2, i%4, m, k)
		})},
		// The strategy promises too low a rate.
		{"the rate is", bloom.Params{N: 10, P: 0.1}, at(bloom.Definition{
			Rate: func(m uint64, k int, n uint64) float64 { return bloom.DoubleHashing.FalsePositiveRate(m, k, n) / 3 },
		}, good)},
		// The sizes are too small.
		{"whose promised rate is", bloom.Params{N: 100, P: 0.05}, at(bloom.Definition{
			Size: func(n uint64, p float64) (uint64, int, error) { return n*4/64*64 + 64, 3, nil },
		}, good)},
		{"no function", bloom.Params{N: 10, P: 0.1}, bloom.NewStrategy("broken", bloom.Definition{Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
			return nil, nil
		}})},
		{"depends on the part of the filter", bloom.Params{N: 1000, P: 0.03}, blocked(func(h1, h2 uint64) (uint64, uint64) { return h1, h1 })},
		// The same bits of the digest choose the word and the bit.
		{"depends on the part of the filter", bloom.Params{N: 10, P: 0.1}, at(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			for range i {
				h1 = h1*0xd1342543de82ef95 + h2
			}
			word, _ := bits.Mul64(h1, m/64)
			return word*64 + h1>>58
		})},
	} {
		err := TestStrategy(c.broken, c.point)
		require.ErrorContains(t, err, c.text, "%v", c.point)
		require.ErrorContains(t, err, `bloomtest: "broken": `)
	}
	err := TestStrategy(bloom.DoubleHashing, bloom.Params{N: 100, P: 0.01}, bloom.Params{N: 0, P: 0.01})
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.ErrorContains(t, err, "n = 0")
}

// TestBrokenHashes: each mistake is found, for the right reason.
func TestBrokenHashes(t *testing.T) {
	var calls atomic.Uint64
	with := func(edit func(h1, h2 uint64) (uint64, uint64)) *bloom.Hash {
		return bloom.NewHash("broken", func(key []byte) (uint64, uint64) { return edit(murmur3.Sum128(key)) })
	}
	of := func(sum func(key []byte) uint64) *bloom.Hash { return bloom.NewHash64("broken", sum) }
	for text, h := range map[string]*bloom.Hash{
		"depend on bits":              with(func(h1, _ uint64) (uint64, uint64) { return h1, h1 }),
		"bit 0 of h2 flips with 0 %":  with(func(h1, _ uint64) (uint64, uint64) { return h1, 0 }),
		"bit 32 of h1 flips with 0 %": with(func(h1, h2 uint64) (uint64, uint64) { return h1 & (1<<32 - 1), h2 }),
		"of h2 depend on":             with(func(h1, h2 uint64) (uint64, uint64) { return h1, h1<<8 | h1>>56 }),
		"has digest":                  with(func(h1, h2 uint64) (uint64, uint64) { return h1 + calls.Add(1)%3, h2 }),
		"allocates": of(func(key []byte) uint64 {
			h := fnv.New64a()
			h.Write(key)
			h1, _ := bloom.Digest64(h.Sum64())
			return h1 + uint64(len(string(append([]byte(nil), key...))))*0
		}),
		"byte 200 of a key of 257 bytes makes no difference":   of(func(key []byte) uint64 { return murmur3.Sum64(key[:min(len(key), 200)]) }),
		"byte 4095 of a key of 4096 bytes makes no difference": of(func(key []byte) uint64 { return murmur3.Sum64(key[:min(len(key), 4095)]) }),
		"byte 0 of a key of 257 bytes makes no difference":     of(func(key []byte) uint64 { return murmur3.Sum64(key[max(0, len(key)-256):]) }),
		"bytes of zeros have the same digest":                  of(withoutLength),
		"bit 96 of a key of 13 bytes makes no difference":      of(func(key []byte) uint64 { return murmur3.Sum64(key[:min(len(key), 12)]) }),
		"flips with": of(func(key []byte) uint64 { // FNV without a finalizer
			h := uint64(14695981039346656037)
			for _, c := range key {
				h = (h ^ uint64(c)) * 1099511628211
			}
			return h
		}),
		"long keys: the rate is": of(func(key []byte) uint64 { // it cuts URLs
			if bytes.HasPrefix(key, []byte("https:")) {
				key = key[:min(len(key), 100)]
			}
			return murmur3.Sum64(key)
		}),
		"has no function": of(nil),
	} {
		err := TestHash(h)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, `bloomtest: "broken": `)
	}
}

// withoutLength is a hash that pads keys with zeros.
func withoutLength(key []byte) uint64 {
	h := uint64(0)
	for ; len(key) >= 8; key = key[8:] {
		h = mixed(h ^ binary.LittleEndian.Uint64(key))
	}
	last := uint64(0)
	for i, c := range key {
		last |= uint64(c) << (8 * i)
	}
	if len(key) > 0 {
		h = mixed(h ^ last)
	}
	return mixed(h + 1)
}

func mixed(x uint64) uint64 {
	x, _ = bloom.Digest64(x)
	return x
}

func ExampleTestStrategy() {
	textbook := bloom.NewStrategy("textbook", bloom.Definition{
		Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
			return func(h1, h2 uint64, i int) uint64 { return (h1 + uint64(i)*h2) % m }, nil
		},
	})
	// Equal steps keep their rate with many keys and a large p, and not with few.
	fmt.Println(TestStrategy(textbook, bloom.Params{N: 20_000, P: 0.01}))
	fmt.Println(TestStrategy(textbook, bloom.Params{N: 100, P: 1e-3}) != nil)
	// Output:
	// <nil>
	// true
}
