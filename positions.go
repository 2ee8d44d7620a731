package bloom

import (
	"slices"

	"github.com/seed3447c163/bloom/internal/noescape"
	"github.com/seed3447c163/bloom/internal/probe"
)

// AppendPositions appends the positions of a key's k bits, each in [0, m) and not
// necessarily different, in the order in which the strategy finds them.
func (s Scheme) AppendPositions(dst []uint64, key []byte) []uint64 {
	return s.scheme.orNone().appendPositions(dst, key)
}

func (s *scheme) appendPositions(dst []uint64, key []byte) []uint64 {
	switch s.strategy.id() {
	case idSeededHashing:
		for i := range s.params.K {
			dst = append(dst, seededPosition(key, s.hash.k0, i, &s.divisor))
		}
		return dst
	case idOwnKeyPositions:
		dst, positions := s.room(dst)
		s.own.keyPositions(noescape.Slice(positions), noescape.Slice(key))
		return s.inside(dst, len(dst)-s.params.K)
	}
	h1, h2 := s.hash.sum(key)
	return s.appendDigestPositions(dst, h1, h2)
}

// AppendDigestPositions is [Scheme.AppendPositions] for a key whose digest is already known,
// see [BloomFilter.AddDigest]. It panics if the strategy needs the key itself.
func (s Scheme) AppendDigestPositions(dst []uint64, h1, h2 uint64) []uint64 {
	return s.scheme.orNone().appendDigestPositions(dst, h1, h2)
}

func (s *scheme) appendDigestPositions(dst []uint64, h1, h2 uint64) []uint64 {
	if s.strategy.NeedsKey() {
		panic(s.misuse("AppendDigestPositions"))
	}
	switch s.strategy.id() {
	case idDoubleHashing: // its i-th position takes i steps: take each once
		x, y := h1, h2^probe.Xor
		for range s.params.K {
			dst = append(dst, probe.Reduce(x, s.params.M))
			x = x*probe.Mul + y
		}
		return dst
	case idOwnPositions:
		for i := 0; i < s.params.K; i += 4 {
			p0, p1, p2, p3 := s.own.positions(h1, h2, i)
			dst = append(dst, []uint64{p0, p1, p2, p3}[:min(4, s.params.K-i)]...)
		}
		return s.inside(dst, len(dst)-s.params.K)
	}
	for i := range s.params.K {
		dst = append(dst, s.strategy.def.index(h1, h2, i, s.params.M))
	}
	return dst
}

// inside panics if a position from there on is none of the filter's.
func (s *scheme) inside(dst []uint64, from int) []uint64 {
	for _, pos := range dst[from:] {
		if pos >= s.params.M {
			s.beyond(pos)
		}
	}
	return dst
}

// room makes dst longer by a key's k positions, and returns them too.
func (s *scheme) room(dst []uint64) (longer, positions []uint64) {
	n, k := len(dst), s.params.K
	dst = slices.Grow(dst, k)[:n+k]
	return dst, dst[n:]
}
