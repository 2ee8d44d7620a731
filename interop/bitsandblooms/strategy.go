package bitsandblooms

import (
	"errors"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/twmb/murmur3"
)

// Strategy is the scheme of github.com/bits-and-blooms/bloom, versions 2 and 3. It takes
// two Murmur3 digests of a key, (h0, h1) of the key itself and (h2, h3) of the key with a
// byte 0x01 after it. The positions are
//
//	h[i mod 2] + i·h[2 + (floor((i+1)/2) mod 2)]  mod 2^64 mod m  for i = 0..k-1
//
// The rate that [bloom.New] promises holds from n = 100 on down to p = 1e-6; at n = 10 and
// p = 1e-6 it was measured as 6 times that.
//
// It needs the key: [bloom.BloomFilter.AddHash] and all else that takes a digest panics on
// a filter with it. It has no seed.
var Strategy = bloom.NewStrategy("bits-and-blooms", bloom.Definition{KeyPositions: keyPositions, MaxK: maxK})

func keyPositions(m uint64, _ int, seed uint64) (func(dst []uint64, key []byte), error) {
	if seed != 0 {
		return nil, errors.New("bits-and-blooms has no seed")
	}
	by := divide.New(m)
	return func(dst []uint64, key []byte) {
		by, h := by, sum256(key) // a copy that dst cannot overlap, as far as the compiler knows
		i := uint64(0)
		for ; len(dst) >= 4; i += 4 { // in each four, the digests take part in the same order
			dst[0], dst[1] = by.Remainder(h[0]+i*h[2]), by.Remainder(h[1]+(i+1)*h[3])
			dst[2], dst[3] = by.Remainder(h[0]+(i+2)*h[3]), by.Remainder(h[1]+(i+3)*h[2])
			dst = dst[4:]
		}
		for j := range dst {
			dst[j] = by.Remainder(h[j&1] + (i+uint64(j))*h[2+(j+1)>>1&1])
		}
	}, nil
}

// sum256 hashes a key, and the key with a 1 after it. The streaming hash works
// through the key once and, its type being known here, stays on the stack.
func sum256(key []byte) (h [4]uint64) {
	streaming := murmur3.New128()
	streaming.Write(key)
	h[0], h[1] = streaming.Sum128()
	streaming.Write(one)
	h[2], h[3] = streaming.Sum128()
	return h
}

var one = []byte{1}
