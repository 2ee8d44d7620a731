package bloom

import (
	"github.com/seed3447c163/bloom/internal/divide"
	"github.com/twmb/murmur3"
)

// BitsAndBlooms is the scheme of github.com/bits-and-blooms/bloom, versions 2 and
// 3; package interop/bitsandblooms reads and writes its filters. It takes two
// Murmur3 digests of a key, (h0, h1) of the key itself and (h2, h3) of the key with a
// byte 0x01 after it. The positions are
//
//	h[i mod 2] + i·h[2 + (floor((i+1)/2) mod 2)]  mod 2^64 mod m  for i = 0..k-1
//
// The rate that [New] promises holds from n = 100 on down to p = 1e-6; at n = 10 and
// p = 1e-6 it was measured as 6 times that.
//
// It needs the key: [BloomFilter.AddHash] and [BloomFilter.ContainsHash] panic on a
// filter with this strategy.
var BitsAndBlooms = Strategy{&bitsAndBlooms}

var bitsAndBlooms = definition{id: idBitsAndBlooms, name: "bits-and-blooms", Definition: Definition{MaxK: maxOwnK}}

// digest256 are the two digests of a key.
type digest256 [4]uint64

// sum256 hashes a key, and the key with a 1 after it. The streaming hash works
// through the key once and, its type being known here, stays on the stack.
func sum256(seed uint64, key []byte) (d digest256) {
	h := murmur3.SeedNew128(seed, seed)
	h.Write(key)
	d[0], d[1] = h.Sum128()
	h.Write(one)
	d[2], d[3] = h.Sum128()
	return d
}

var one = []byte{1}

// at returns the i-th position before the reduction modulo m.
func (d *digest256) at(i uint64) uint64 {
	return d[i%2] + i*d[2+(i+1)/2%2]
}

func bitsAndBloomsAdd(b bitArray, d *divide.Divisor, k int, h digest256) bool {
	var kept [keptPositions]uint64
	last := noBit
	for i := range k {
		pos := d.Remainder(h.at(uint64(i)))
		if i < len(kept) {
			kept[i] = pos
		}
		if b.get(pos) == 0 {
			last = pos
		}
	}
	if last == noBit {
		return false
	}
	for _, pos := range kept[:min(k, len(kept))] {
		if pos != last {
			b.set(pos)
		}
	}
	for i := len(kept); i < k; i++ {
		if pos := d.Remainder(h.at(uint64(i))); pos != last {
			b.set(pos)
		}
	}
	return b.flip(last)
}

// bitsAndBloomsContains looks at four bits at a time, as doubleContains does: in each
// four, the digests take part in the same order.
func bitsAndBloomsContains(b bitArray, d *divide.Divisor, k int, h digest256) bool {
	i, n := uint64(0), uint64(k)
	for ; i+4 < n; i += 4 {
		x0, x1, x2, x3 := h[0]+i*h[2], h[1]+(i+1)*h[3], h[0]+(i+2)*h[3], h[1]+(i+3)*h[2]
		if b.get(d.Remainder(x0))&b.get(d.Remainder(x1))&b.get(d.Remainder(x2))&b.get(d.Remainder(x3)) == 0 {
			return false
		}
	}
	all := uint64(1)
	switch n - i {
	case 4:
		all &= b.get(d.Remainder(h[1] + (i+3)*h[2]))
		fallthrough
	case 3:
		all &= b.get(d.Remainder(h[0] + (i+2)*h[3]))
		fallthrough
	case 2:
		all &= b.get(d.Remainder(h[1] + (i+1)*h[3]))
		fallthrough
	case 1:
		all &= b.get(d.Remainder(h[0] + i*h[2]))
	}
	return all != 0
}
