package bloom

import "github.com/seed3447c163/bloom/internal/vector"

// A kernel is the code of a strategy for filters with one m and k. It is a struct of functions and
// not part of strategy, because it is chosen for a filter, by k and by the processor, and built for
// a custom strategy. Only digests cross these functions, which are called through variables: a key
// would escape to the heap, except through memory.NoEscape.
type kernel struct {
	// add adds a key, as "How an add finds its one winner" says; contains asks for one.
	add, contains func(b *bitset, h1, h2 uint64) bool

	// fill adds keys, at least one, by ordinary stores: no other goroutine has the filter yet.
	fill func(b *bitset, group []digest)

	// positions sets dst to a key's positions: the strategy's specification as code. It looks
	// at no bits.
	positions func(b *bitset, dst []uint64, h1, h2 uint64)

	// Batches of filters with at least prefetchFrom words ask for a group's lines before its turn comes:
	// those of the key's positions, or of its block of blockBytes, which these bits of h1 select.
	prefetchFrom        int
	blockBytes, selects uint64

	layout vector.Layout // of the kernels in assembly

	// A strategy that hashes the key itself has only these. The keys come through memory.NoEscape.
	addKey, containsKey func(b *bitset, key []byte) bool
	positionsOfKey      func(dst []uint64, key []byte)
}

// The sizes from which it pays to ask for lines beforehand, in words: smaller filters are in the
// cache of one core. Strategies whose bits are in many lines wait for several of them at once
// anyway. BenchmarkBatch.
const (
	prefetchWords  = 1 << 20 / 8
	scatteredWords = 4 << 20 / 8
)

// A digest is h1 and h2 of a key.
type digest = [2]uint64

// filter returns the filter with these bits, and with the kernels in assembly that serve them.
func (s *scheme) filter(bits bitArray) *BloomFilter {
	f := &BloomFilter{bitset: s.empty, kernel: s.kernel, hash: s.hash, scheme: s}
	f.bits = bits
	if s.hash == &noHash {
		f.kernel = nil
	}
	layout := s.kernel.layout
	f.byKey = vector.For(layout, s.hash.vector, f.vector(), true)
	f.byDigest = vector.For(layout, vector.Digest, f.vector(), true)
	two, few := layout == vector.Blocked2, layout == vector.Blocked2 || layout == vector.Blocked4
	if !(few && s.hash == &sipHash || vector.Has512 && (two || few && s.hash == &mapHash)) {
		// Go code adds faster otherwise, see TestKernelRatios. What has no AVX-512 was measured on Zen 3, the rest on
		// Emerald Rapids.
		f.addsDigest = f.byDigest
	}
	if f.byKey != nil {
		f.lengths = vector.Lengths
	}
	return f
}
