package rate

import "math"

// slack is how many times the least memory a filter may take if a key's bits are then in fewer words: that saves loads
// and atomic operations.
const slack = 1.03

// maxBlocks ends a search, at 2^53 bits: a small p can need more blocks than a uint64 counts.
const maxBlocks = (MaxM - 1) / (blockWords * wordBits)

// blockedWords has, for each number z of words with bits of a key, the range of k that New tries, and the bits per key
// up to which z is best. From more[i] bits per key on, the best k is (i+2)·z.
var blockedWords = [...]struct {
	z, minK, maxK int
	bits          float64
	more          []float64
}{
	{2, 2, 6, 10, []float64{4.3, 7.8}},
	{4, 8, 12, 25, []float64{8.9, 17.7}},
	{8, 16, maxBlockK, math.Inf(1), []float64{21.3, 60.8}},
}

// SizeBlocked returns the number of blocks and the k for n keys at rate p. The bits of a key are in z words, where z is
// the smallest that takes at most slack times the memory of the best z. For this z, the number of blocks and then k are
// the smallest. If no k suffices, the blocks have more than 2^53 bits.
func SizeBlocked(n uint64, p float64) (blocks uint64, k int) {
	best := uint64(math.MaxUint64)
	var needs [len(blockedWords)]uint64
	var ks [len(blockedWords)]int
	for j := range blockedWords {
		i := j // begin with the z that is likely best, the largest for small p
		if p < 0.05 {
			i = len(blockedWords) - 1 - j
		}
		search := blockedSearch(n, p, i)
		if needs[i] = math.MaxUint64; best < maxBlocks {
			// Most z need more memory than slack allows. One check, of the largest allowed size, shows that and saves
			// the search.
			if search.someK(min(withSlack(best), maxBlocks), search.startK()) == 0 {
				continue
			}
		}
		needs[i], ks[i] = search.Smallest()
		best = min(best, needs[i])
	}
	i := 0
	for needs[i] > withSlack(best) {
		i++
	}
	return needs[i], ks[i]
}

// withSlack returns best·slack. On some architectures, the conversion to uint64 first subtracts 2^63. The conversion to
// float64 keeps the compiler from fusing this subtraction with the product, so all architectures have the same result.
func withSlack(best uint64) uint64 { return uint64(float64(slack * float64(best))) }

// blockedSearch returns the search for the smallest number of blocks with row i of blockedWords.
func blockedSearch(n uint64, p float64, i int) Search {
	row := &blockedWords[i]
	return Search{
		N: n, P: p, Unit: blockWords * wordBits, Most: maxBlocks, MinK: row.minK, MaxK: row.maxK, StepK: row.z,
		Rate: func(blocks uint64, k int) float64 { return Blocked(blocks, k, row.z, n) },
	}
}

// BlockedK returns the k with the smallest rate for many keys at the given bits per key.
func BlockedK(bitsPerKey float64) int {
	i := 0
	for bitsPerKey > blockedWords[i].bits {
		i++
	}
	g := 1
	for _, from := range blockedWords[i].more {
		if bitsPerKey >= from {
			g++
		}
	}
	return g * blockedWords[i].z
}
