package bitmap

import (
	"fmt"

	"github.com/twmb/murmur3"

	"github.com/seed3447c163/bloom"
)

// In rueidisProb, position i is (h1 + i·h2 mod 2^64) mod m, where (h1, h2) is the Murmur3 x64-128 digest of the key.
var rueidisProb = bloom.NewStrategy("rueidisprob", bloom.Definition{
	Positions: func(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
		return func(h1, h2 uint64, i int) uint64 { return (h1 + uint64(i)*h2) % m }, nil
	},
})

// RueidisProb returns the layout of rueidisprob's Bloom filter with m bits and k positions per key. rueidisprob keeps
// the filter "name" in the key "{name}", with m = ceil(-n·ln p / (ln 2)²) and k = round(m/n·ln 2). Its counter
// "{name}:c" does not count the adds of this package.
func RueidisProb(m uint64, k int) (Positions, error) {
	return bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(rueidisProb))
}

// In goZero, position i is h1 mod m, where h1 is the first half of the Murmur3 x64-128 digest of the key followed by
// the byte i.
type goZero uint64

// GoZero returns the layout of go-zero's bloom.New(store, key, bits), with k = 14.
func GoZero(bits uint64) (Positions, error) {
	if bits == 0 || bits > maxBits {
		return nil, fmt.Errorf("%w: %d bits, want 1 to %d", bloom.ErrInvalid, bits, uint64(maxBits))
	}
	return goZero(bits), nil
}

// AppendPositions implements [Positions].
func (bits goZero) AppendPositions(dst []uint64, key []byte) []uint64 {
	key = append(key[:len(key):len(key)], 0) // a copy, because the caller may need the bytes after the key
	for i := range byte(14) {
		key[len(key)-1] = i
		dst = append(dst, murmur3.Sum64(key)%uint64(bits))
	}
	return dst
}
