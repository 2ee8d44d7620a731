package bloom

import "github.com/seed3447c163/bloom/internal/vector"

// A kernel is the code of a strategy for filters with one m and k. It is a struct of functions, because the fastest
// code depends on k. Each scheme of a custom strategy has a kernel of its own. The functions take digests, because a
// key that is passed to a function variable escapes to the heap, except through memory.NoEscape.
type kernel struct {
	// add adds a key, see "How an add finds its one winner". contains looks up a key.
	add, contains func(b *kernelArgs, h1, h2 uint64) bool

	// fill adds one or more keys by ordinary stores: no other goroutine has the filter yet.
	fill func(b *kernelArgs, group []digest)

	// positions sets dst to a key's positions. It is the strategy's specification as code and reads no bits of the
	// filter.
	positions func(b *kernelArgs, dst []uint64, h1, h2 uint64)

	// A batch prefetches cache lines if the filter has at least prefetchFrom words. If blockBytes is 0, it prefetches
	// the lines of a key's positions. Otherwise it prefetches the key's block of blockBytes bytes; only the bits of h1
	// that are set in selects determine the block.
	prefetchFrom        int
	blockBytes, selects uint64

	layout vector.Layout // of the kernels in assembly

	// A strategy that hashes the key itself has only the following functions. The keys come through memory.NoEscape.
	addKey, containsKey func(b *kernelArgs, key []byte) bool
	positionsOfKey      func(dst []uint64, key []byte)
}

// The sizes in words from which prefetching pays: smaller filters are in the cache of one core. scatteredWords is for
// strategies that put a key's bits in many cache lines. It is larger, because the processor then loads several lines at
// once even without prefetching. BenchmarkBatch measures both.
const (
	prefetchWords  = 1 << 20 / 8
	scatteredWords = 4 << 20 / 8
)

// A digest is h1 and h2 of a key.
type digest = [2]uint64

// over returns the filter with these bits, and with the kernels in assembly for its layout and hash.
func (s *Scheme) over(bits bitArray) *BloomFilter {
	f := &BloomFilter{kernelArgs: s.empty, kernel: s.kernel, hash: s.hash, scheme: s}
	f.bits = bits
	if s.hash == &noHash {
		f.kernel = nil
	}
	layout := s.kernel.layout
	f.byKey = vector.For(layout, s.hash.vector, f.vector(), true)
	f.byDigest = vector.For(layout, vector.Digest, f.vector(), true)
	two, few := layout == vector.Blocked2, layout == vector.Blocked2 || layout == vector.Blocked4
	if !(few && s.hash == &sipHash || vector.Has512 && (two || few && s.hash == &mapHash)) {
		// In the cases that the condition excludes, Go code adds faster, and looks up as fast, see TestKernelRatios.
		// The cases without AVX-512 were measured on Zen 3, the others on Emerald Rapids. On Zen 4, which has AVX-512,
		// kernels take 0.6 to 1.0 of the Go code's time for keys of up to 100 bytes.
		f.faster = [2]*vector.Row{f.byDigest, f.byDigest}
	}
	if s.hash == &mapHash { // its lookups are faster by kernels for keys of up to 128 bytes
		f.faster[vector.Look] = f.byDigest
	}
	f.usesH2 = layout != vector.Split
	if f.byKey != nil {
		f.lengths = vector.Lengths
	}
	return f
}
