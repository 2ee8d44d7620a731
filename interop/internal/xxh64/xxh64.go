// Package xxh64 implements the hash XXH64 for filters of other systems, so that the module needs no dependency for it.
//
// Source: "xxHash fast digest algorithm", specification 0.1.1, Yann Collet.
package xxh64

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime1 = 0x9e3779b185ebca87
	prime2 = 0xc2b2ae3d27d4eb4f
	prime3 = 0x165667b19e3779f9
	prime4 = 0x85ebca77c2b2ae63
	prime5 = 0x27d4eb2f165667c5
)

// Sum returns the hash of a key under a seed.
func Sum(seed uint64, key []byte) uint64 {
	le := binary.LittleEndian
	length := uint64(len(key))
	var h uint64
	if len(key) >= 32 {
		// These are variables, because constant expressions must not overflow.
		v1, v2, v3, v4 := seed+prime2, seed+prime2, seed, seed
		p1 := uint64(prime1)
		v1, v4 = v1+p1, v4-p1
		for len(key) >= 32 {
			stripe := (*[32]byte)(key)
			v1 = round(v1, le.Uint64(stripe[0:]))
			v2 = round(v2, le.Uint64(stripe[8:]))
			v3 = round(v3, le.Uint64(stripe[16:]))
			v4 = round(v4, le.Uint64(stripe[24:]))
			key = key[32:]
		}
		h = bits.RotateLeft64(v1, 1) + bits.RotateLeft64(v2, 7) + bits.RotateLeft64(v3, 12) + bits.RotateLeft64(v4, 18)
		h = merge(h, v1)
		h = merge(h, v2)
		h = merge(h, v3)
		h = merge(h, v4)
	} else {
		h = seed + prime5
	}
	h += length
	for ; len(key) >= 8; key = key[8:] {
		h = bits.RotateLeft64(h^round(0, le.Uint64(key)), 27)*prime1 + prime4
	}
	if len(key) >= 4 {
		h = bits.RotateLeft64(h^uint64(le.Uint32(key))*prime1, 23)*prime2 + prime3
		key = key[4:]
	}
	for _, b := range key {
		h = bits.RotateLeft64(h^uint64(b)*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

func round(v, x uint64) uint64 { return bits.RotateLeft64(v+x*prime2, 31) * prime1 }

func merge(h, v uint64) uint64 { return (h^round(0, v))*prime1 + prime4 }
