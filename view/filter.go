package view

import (
	"unsafe"

	"github.com/seed3447c163/bloom/internal/probe"
)

// A Filter is a View to which keys can be added, which changes the bytes. [Over] makes a Filter.
//
// Unlike a [bloom.BloomFilter], it is not safe for concurrent use: nothing else may read or change the
// bytes during a call of Add or AddDigest.
type Filter struct{ View }

// Add adds a key. It returns true if the key is definitely new, and false if it was probably added before.
func (f Filter) Add(key []byte) bool {
	if f.meta>>16&0xff == other && f.scheme.Strategy().NeedsKey() {
		added := !f.Contains(key)
		var room [maxK]uint64
		f.set(f.scheme.AppendPositions(room[:0], key))
		return added
	}
	return f.AddDigest(f.digest(key))
}

// AddDigest is [Filter.Add] for a key whose digest is known, see [bloom.BloomFilter.AddDigest].
func (f Filter) AddDigest(h1, h2 uint64) bool {
	if f.ContainsDigest(h1, h2) {
		return false
	}
	f.addDigest(h1, h2)
	return true
}

func (f Filter) addDigest(h1, h2 uint64) {
	b, m, k, y := f.bits, f.m(), int(f.meta&0xff), h2^probe.Xor
	switch f.meta >> 8 & 0xff {
	case double:
		for x := h1; k > 0; k-- {
			setInBytes(b, probe.Reduce(x, m))
			x = x*probe.Mul + y
		}
	case split:
		p := splitInBytes(b, m, h1)
		m0, m1, m2, m3 := probe.SplitMasks(h1)
		p.or(0, m0)
		p.or(1, m1)
		p.or(2, m2)
		p.or(3, m3)
	case blocked:
		p := blockInBytes(b, m, h1)
		switch z := probe.Words(k); {
		case z == 2 && k <= 6:
			m0, m1 := masks2(0, 0, y, k)
			p.or(y>>62, m0)
			p.or(4+y>>60&3, m1)
		case z == 4 && k <= 12:
			m0, m1, m2, m3 := masks4(0, 0, 0, 0, y, k)
			p.or(y>>63, m0)
			p.or(2+y>>62&1, m1)
			p.or(4+y>>61&1, m2)
			p.or(6+y>>60&1, m3)
		default:
			for i := range k {
				p.or(probeInBlock(y, i, z))
			}
		}
	case 0:
		panic(zeroView)
	default:
		var room [maxK]uint64
		f.set(f.scheme.AppendDigestPositions(room[:0], h1, h2))
	}
}

// set sets the bits at these positions.
func (f Filter) set(positions []uint64) {
	for _, pos := range positions {
		setInBytes(f.bits, pos)
	}
}

func setInBytes(p unsafe.Pointer, pos uint64) { *(*byte)(unsafe.Add(p, pos/8)) |= 1 << (pos % 8) }
