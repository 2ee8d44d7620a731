package bloom

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/testing/byindex"

	"github.com/seed3447c163/bloom/internal/lockstep"
)

// mix is the finaliser of SplitMix64: a bijection whose outputs look random, so
// that tests have as many different digests and keys as they want, always the same.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// digestOf returns the i-th of a sequence of different random-looking digests.
func digestOf(i uint64) (h1, h2 uint64) { return mix(2 * i), mix(2*i + 1) }

// key40 writes the i-th of a sequence of different keys into b: 40 bytes, as long
// as a short URL.
func key40(b *[40]byte, i uint64) []byte {
	copy(b[:], "https://example.com/articles/2026/")
	binary.LittleEndian.PutUint64(b[32:], mix(i))
	return b[:]
}

// sequential skips a test of one goroutine under the race detector, which has nothing to
// find in it and makes it ten times slower.
func sequential(t *testing.T) {
	if lockstep.RaceDetector {
		t.Skip("NOT TESTED with the race detector: what only one goroutine does")
	}
}

func formatUint(x uint64) string { return strconv.FormatUint(x, 10) }

// ours are the strategies of this package; triple is one of a user's.
var (
	blockeds      = []Strategy{Blocked1, Blocked2, Blocked4, Blocked8}
	independent   = []Strategy{DoubleHashing, SeededHashing}
	ours          = append(append(append([]Strategy{}, independent...), blockeds...), SplitBlock)
	triple        = NewStrategy("triple", tripleDefinition)
	allStrategies = append([]Strategy{triple, customDouble, customSeeded}, ours...)
)

var tripleDefinition = Definition{Positions: byindex.Positions(tripleIndex)}

func tripleIndex(h1, h2 uint64, i int, m uint64) uint64 { return mix(h1+uint64(i)*h2) % m }

// inBlocks reports whether all of a key's bits are in one block.
func inBlocks(s Strategy) bool { return isBlocked(s) || s == SplitBlock }

// groupsOf returns z for Blocked1 to Blocked8, otherwise 0.
func groupsOf(s Strategy) int {
	if !isBlocked(s) {
		return 0
	}
	return s.def.kUnit
}

func isBlocked(s Strategy) bool { return s.get().block == blockBits || s == Blocked }

// positionAt returns the i-th position of a digest with a strategy of this package.
func positionAt(s Strategy, h1, h2 uint64, i int, m uint64) uint64 {
	code, err := s.def.kernelFor(m, 1, 0)
	if err != nil {
		panic(err)
	}
	var positions [maxCustomK]uint64
	code.positions(&bitset{units: m / max(1, s.def.block)}, positions[:i+1], h1, h2)
	return positions[i]
}

// doubleIndex is DoubleHashing by its formula, written down once more.
func doubleIndex(h1, h2 uint64, i int, m uint64) uint64 {
	for range i {
		h1 = h1*0xd1342543de82ef95 + (h2 ^ 0x9e3779b97f4a7c15)
	}
	hi, _ := bits.Mul64(h1, m)
	return hi
}

const splitWordsOf = splitBits / 64

// canHave reports whether a filter with the strategy can have these m and k.
func canHave(s Strategy, m uint64, k int) bool {
	switch {
	case s == SplitBlock:
		return m%splitBits == 0 && k == splitK
	case isBlocked(s):
		return m%blockBits == 0 && k%groupsOf(s) == 0
	}
	return true
}

// addressOf returns where in memory the first word is.
func addressOf(b bitArray) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// eachPosition is a definition by the function of one position.
func eachPosition(at func(h1, h2 uint64, i, k int) uint64) Definition {
	return Definition{Positions: func(_ uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
			return at(h1, h2, i, k), at(h1, h2, i+1, k), at(h1, h2, i+2, k), at(h1, h2, i+3, k)
		}, nil
	}}
}
