package redisbloom

import (
	"encoding/binary"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// Strategy is the strategy of RedisBloom's layers: positions (h1 + i·h2 mod 2^64) mod m for
// i = 0..k-1, with [Hash].
//
// [bloom.New] with this strategy makes RedisBloom's layer of n keys at rate p. RedisBloom rounds k up without more
// bits. This raises the rate by 0.3 % at p = 1 %, and by at most 6 %, at p = 12 %. For few keys and a small p, the rate
// is higher than with independent positions: at p = 1e-6, 87 times p for n = 100 and 9 times p for n = 1000.
var Strategy = bloom.NewStrategy("redisbloom", definition)

var definition = bloom.Definition{
	Positions: func(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
		by := probe.NewDivisor(m)
		return func(h1, h2 uint64, i int) uint64 { return by.Remainder(h1 + uint64(i)*h2) }, nil
	},
	MaxK: foreign.MaxK,
	Size: func(n uint64, p float64) (m uint64, k int, err error) {
		params, _, err := layerParams(max(n, 1), p)
		return params.M, params.K, err
	},
}

// Hash is the hash of RedisBloom: h1 is MurmurHash64A of the key with seed 0xc6a4a7935bd1e995, and h2 is MurmurHash64A
// of the key with seed h1.
var Hash = bloom.NewHash("redisbloom-murmur64a", memory.Own(sum))

func sum(key []byte) (h1, h2 uint64) {
	h1 = murmur64A(key, firstSeed)
	return h1, murmur64A(key, h1)
}

const (
	firstSeed = 0xc6a4a7935bd1e995
	factor    = 0xc6a4a7935bd1e995
)

// murmur64A is Appleby's MurmurHash64A with little-endian words.
func murmur64A(key []byte, seed uint64) uint64 {
	h := seed ^ uint64(len(key))*factor
	for ; len(key) >= 8; key = key[8:] {
		x := binary.LittleEndian.Uint64(key) * factor
		h = (h ^ (x^x>>47)*factor) * factor
	}
	if len(key) > 0 {
		rest := uint64(0)
		for i, b := range key {
			rest |= uint64(b) << (8 * i)
		}
		h = (h ^ rest) * factor
	}
	h = (h ^ h>>47) * factor
	return h ^ h>>47
}

// layerParams returns the parameters of a layer as the server computes them.
func layerParams(capacity uint64, rate float64) (p bloom.Params, bitsPerKey float64, err error) {
	if rate == 0 { // the rate of the layer before was the smallest float64
		return p, 0, failure.Errorf(bloom.ErrTooLarge, "a further layer would have rate 0")
	}
	bitsPerKey = -foreign.Log(rate) / 0.480453013918201
	bits := math.Floor(float64(capacity) * bitsPerKey)
	if bits >= 1<<53 {
		return p, 0, failure.Errorf(bloom.ErrTooLarge, "%d keys at rate %v need %.4g bits", capacity, rate, bits)
	}
	k := int(math.Ceil(ln2 * bitsPerKey))
	return bloom.Params{N: capacity, P: rate, M: (uint64(max(bits, 1)) + 63) / 64 * 64, K: k}, bitsPerKey, nil
}

// ln2 is the server's value of ln 2.
const ln2 = 0.693147180559945
