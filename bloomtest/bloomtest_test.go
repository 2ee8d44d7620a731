package bloomtest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/bits"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

func TestBuiltinStrategiesPass(t *testing.T) {
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked, bloom.SplitBlock, bloom.SeededHashing} {
		require.NoError(t, TestStrategy(s, Point{10, 0.1}, Point{1000, 0.01}, Point{1000, 1e-4}))
	}
	if !lockstep.RaceDetector {
		require.NoError(t, TestStrategy(bloom.DoubleHashing), "at the default points")
	}
}

func TestBuiltinHashesPass(t *testing.T) {
	require.NoError(t, TestHash(bloom.Murmur3, bloom.WithSeed(3)))
	require.NoError(t, TestHash(bloom.RapidHash))
	require.NoError(t, TestHash(bloom.Hash{}, bloom.WithKey([16]byte{1, 2, 3})))
	require.NoError(t, TestHash(good64))
}

func mix(x uint64) uint64 {
	h1, _ := bloom.Digest64(x)
	return h1
}

var good64 = bloom.NewHash64("good", func(key []byte) uint64 { return murmur3.Sum64(key) })

// positions makes a strategy of a function of one position.
func positions(d bloom.Definition, at func(h1, h2 uint64, i int, m uint64, k int) uint64) bloom.Strategy {
	d.Positions = func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
			return at(h1, h2, i, m, k), at(h1, h2, i+1, m, k), at(h1, h2, i+2, m, k), at(h1, h2, i+3, m, k)
		}, nil
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
	return positions(bloom.Definition{Unit: 512, Rate: blockRate, MaxK: 8}, func(h1, h2 uint64, i int, m uint64, _ int) uint64 {
		block, y := of(h1, h2)
		block, _ = bits.Mul64(block, m/512)
		return block*512 + uint64(i)%8*64 + y>>(6*i)&63
	})
}

// blockRate is that of Blocked8; a k other than 8 is never chosen.
func blockRate(m uint64, k int, n uint64) float64 {
	if k != 8 {
		return 1
	}
	return bloom.Blocked8.FalsePositiveRate(m, k, n)
}

// TestBrokenStrategies: each of them is found, for the right reason.
func TestBrokenStrategies(t *testing.T) {
	if lockstep.RaceDetector {
		t.Skip("NOT TESTED with the race detector: it takes a minute")
	}
	points := []Point{{10, 0.1}, {100, 0.05}, {100, 1e-3}, {1000, 0.01}, {20_000, 0.01}} // at which one of them fails
	var calls atomic.Uint64
	var kept atomic.Pointer[[]uint64]
	scratch := make([]atomic.Uint64, 64)
	require.NoError(t, TestStrategy(blocked(func(h1, h2 uint64) (uint64, uint64) { return h1, h2 }), Point{1000, 0.03}, Point{20_000, 0.03}), "the block is not what is broken")
	require.NoError(t, TestStrategy(positions(bloom.Definition{}, good), Point{1000, 0.01}), "nor are positions")
	for text, s := range map[string]bloom.Strategy{
		"bits: n = 10, p = 0.1: panic: bloom: strategy \"broken\" returned position": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			if i == 0 && h1%256 == 0 {
				return m
			}
			return good(h1, h2, i, m, k)
		}),
		"bits: n = 10": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // not pure
			return good(h1+calls.Add(1)%3, h2, i, m, k)
		}),
		"and then [": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // one scratch for all
			scratch[i].Store(good(h1, h2, i, m, k)) // atomically, as the race detector would find it first
			runtime.Gosched()                       // another call comes in between, as it may at any time
			return scratch[i].Load()
		}),
		"allocates": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 {
			more := make([]uint64, 1+int(h1>>63))
			kept.Store(&more)
			return good(h1, h2, i, m, k)
		}),
		"n = 100, p = 0.001: the rate is": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // equal steps
			pos, _ := bits.Mul64(h1+uint64(i)*(h2|1), m)
			return pos
		}),
		"n = 100, p = 0.05: the rate is": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // one position twice
			return good(h1, h2, i%(k-1), m, k)
		}),
		"n = 1000, p = 0.01: the rate": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // half of the filter
			return good(h1, h2, i, (m+1)/2, k)
		}),
		"n = 20000, p = 0.01: the rate": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // each four the same
			return good(h1, h2, i%4, m, k)
		}),
		"on the part of the filter": blocked(func(h1, h2 uint64) (uint64, uint64) { return h1, h1 }),
		"n = 10, p = 0.1: the rate is": positions(bloom.Definition{ // promises too much
			Rate: func(m uint64, k int, n uint64) float64 { return bloom.DoubleHashing.FalsePositiveRate(m, k, n) / 3 },
		}, good),
		"whose promised rate is": positions(bloom.Definition{ // sizes too small
			Size: func(n uint64, p float64) (uint64, int, error) { return n*4/64*64 + 64, 3, nil },
		}, good),
		"no function": bloom.NewStrategy("broken", bloom.Definition{Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
			return nil, nil
		}}),
		"digest bits": positions(bloom.Definition{}, func(h1, h2 uint64, i int, m uint64, k int) uint64 { // low bits serve as word and as bit
			for range i {
				h1 = h1*0xd1342543de82ef95 + h2
			}
			word, _ := bits.Mul64(h1, m/64)
			return word*64 + h1>>58
		}),
	} {
		err := TestStrategy(s, points...)
		if err == nil || text != "digest bits" && !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in %v", text, err)
			continue
		}
		if text == "digest bits" { // the error that names it may be that of its rate
			continue
		}
		require.ErrorContains(t, err, `bloomtest: "broken": `)
	}
}

func TestPointOfNoKeys(t *testing.T) {
	err := TestStrategy(bloom.DoubleHashing, Point{100, 0.01}, Point{0, 0.01})
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.ErrorContains(t, err, "n = 0")
}

func TestBrokenHashes(t *testing.T) {
	var calls atomic.Uint64
	sum := func(key []byte) (h1, h2 uint64) { return murmur3.Sum128(key) }
	with := func(edit func(key []byte, h1, h2 uint64) (uint64, uint64)) bloom.Hash {
		return bloom.NewHash("broken", func(key []byte) (uint64, uint64) {
			h1, h2 := sum(key)
			return edit(key, h1, h2)
		})
	}
	for text, h := range map[string]bloom.Hash{
		"halves: bits":              with(func(_ []byte, h1, _ uint64) (uint64, uint64) { return h1, h1 }),
		"bit 0 of h2 flips in 0 %":  with(func(_ []byte, h1, _ uint64) (uint64, uint64) { return h1, 0 }),
		"bit 32 of h1 flips in 0 %": with(func(_ []byte, h1, h2 uint64) (uint64, uint64) { return h1 & (1<<32 - 1), h2 }),
		"bit 0 of h1 flips in 0 %":  with(func(_ []byte, h1, h2 uint64) (uint64, uint64) { return h1 &^ 1, h2 }),
		"rate: strategy":            with(func(_ []byte, h1, h2 uint64) (uint64, uint64) { return h1, h1<<8 | h1>>56 }),
		"has digest":                with(func(_ []byte, h1, h2 uint64) (uint64, uint64) { return h1 + calls.Add(1)%3, h2 }),
		"was changed": bloom.NewHash64("broken", func(key []byte) uint64 {
			h := murmur3.Sum64(key)
			if len(key) > 0 {
				key[0]++
			}
			return h
		}),
		"allocates": bloom.NewHash64("broken", func(key []byte) uint64 {
			h := fnv.New64a()
			h.Write(key)
			return mix(h.Sum64()) + uint64(len(string(append([]byte(nil), key...))))*0
		}),
		"makes no difference": bloom.NewHash64("broken", func(key []byte) uint64 { return murmur3.Sum64(key[:min(len(key), 12)]) }),
		"flips in": bloom.NewHash64("broken", func(key []byte) uint64 { // FNV without a finalizer
			h := uint64(14695981039346656037)
			for _, c := range key {
				h = (h ^ uint64(c)) * 1099511628211
			}
			return h
		}),
		"digest bits": bloom.NewHash64("broken", func(key []byte) uint64 { // a number is its own hash
			var b [8]byte
			copy(b[:], key)
			return binary.LittleEndian.Uint64(b[:])
		}),
		"has no function": bloom.NewHash64("broken", nil),
	} {
		err := TestHash(h)
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in %v", text, err)
			continue
		}
		require.ErrorContains(t, err, `bloomtest: "broken": `)
	}
}

func ExampleTestStrategy() {
	textbook := bloom.NewStrategy("textbook", bloom.Definition{
		Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
			return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
				x := h1 + uint64(i)*h2
				return x % m, (x + h2) % m, (x + 2*h2) % m, (x + 3*h2) % m
			}, nil
		},
	})
	// Equal steps keep their rate with many keys and a large p, and not with few.
	fmt.Println(TestStrategy(textbook, Point{20_000, 0.01}))
	fmt.Println(TestStrategy(textbook, Point{100, 1e-3}) != nil)
	// Output:
	// <nil>
	// true
}
