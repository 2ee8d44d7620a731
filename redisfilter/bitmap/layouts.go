package bitmap

import (
	"fmt"

	"github.com/twmb/murmur3"

	"github.com/seed3447c163/bloom"
)

// rueidisProb is the strategy of rueidisprob: with (h1, h2) the Murmur3 x64-128 digest of the key,
// position i is (h1 + i·h2 mod 2^64) mod m.
var rueidisProb = bloom.NewStrategy("rueidisprob", bloom.Definition{
	Positions: func(m uint64, _ int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
			x := h1 + uint64(i)*h2
			return x % m, (x + h2) % m, (x + 2*h2) % m, (x + 3*h2) % m
		}, nil
	},
})

// RueidisProb returns the layout of rueidisprob's Bloom filter with m bits and k bits per key, for
// [Open]. The bitmap of its filter "name" has the key "{name}". It computes m = ceil(-n·ln p / (ln 2)²)
// and k = round(m/n·ln 2). Its counter "{name}:c" does not count the adds made here.
func RueidisProb(m uint64, k int) (Positions, error) {
	s, err := bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(rueidisProb))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// goZero is the layout of go-zero's core/bloom: position i is the first half of the Murmur3 x64-128
// digest of the key with the byte i behind it, modulo the number of bits.
type goZero uint64

const goZeroK = 14

// GoZero returns the layout of go-zero's bloom.New(store, key, bits), for [Open]: 14 bits per key.
func GoZero(bits uint64) (Positions, error) {
	if bits == 0 || bits > maxBits {
		return nil, fmt.Errorf("%w: %d bits, want 1 to %d", bloom.ErrInvalid, bits, uint64(maxBits))
	}
	return goZero(bits), nil
}

// AppendPositions appends the positions of a key's bits.
func (bits goZero) AppendPositions(dst []uint64, key []byte) []uint64 {
	// The caller may need the bytes behind the key.
	salted := append(make([]byte, 0, len(key)+1), key...)
	salted = append(salted, 0)
	for i := range byte(goZeroK) {
		salted[len(key)] = i
		dst = append(dst, murmur3.Sum64(salted)%uint64(bits))
	}
	return dst
}
