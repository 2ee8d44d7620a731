package rate

import (
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom/internal/floats"
)

// slack is how much more memory a smaller z may take than the best one, because it has fewer
// loads and fewer atomic operations.
const slack = 1.03

// maxBlocks is where a search ends, with 2^53 bits: a small p can need more blocks than a uint64 counts.
const maxBlocks = (MaxM - 1) / (blockWords * wordBits)

// SizeBlocked returns the smallest number of blocks with which n keys keep the rate p, and the smallest such
// k, for one of the given z, which rise: the smallest one that needs at most slack times the memory of the
// best. If no z suffices, the blocks have more than 2^53 bits.
func SizeBlocked(n uint64, p float64, zs ...int) (blocks uint64, k, z int) {
	if n == 0 {
		return 1, zs[0], zs[0]
	}
	var needs [4]uint64
	var ks [4]int
	best := uint64(math.MaxUint64)
	for j := range zs {
		i := j // in the likely order: large z first for small p
		if p < 0.05 {
			i = len(zs) - 1 - j
		}
		search := blockedSearch(n, p, zs[i])
		if needs[i] = math.MaxUint64; best < maxBlocks {
			// Most z need far too much. That is sooner seen than how much.
			start, _ := search.Start(p)
			if search.someK(min(withSlack(best), maxBlocks), search.nearest(start)) == 0 {
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
	return needs[i], ks[i], zs[i]
}

// The conversion to uint64 subtracts 2^63, which must not be fused with the product.
func withSlack(best uint64) uint64 { return uint64(float64(slack * float64(best))) }

func blockedSearch(n uint64, p float64, z int) Search {
	u := usual[bits.Len(uint(z))-1]
	return Search{
		N: n, P: p, Unit: blockWords * wordBits, Most: maxBlocks, MinK: z, MaxK: maxBlockK, StepK: z,
		Rate: func(blocks uint64, k int) float64 { return Blocked(blocks, k, z, n) },
		Start: func(p float64) (k, perKey float64) {
			l := -floats.Log(p) / math.Ln2
			return u.start + float64(u.slope*l), l / math.Ln2 * floats.Exp(u.over*l*l)
		},
	}
}

// usual approximates, by log2 z, the best choice for many keys, where a search begins: k = slope·L + start and
// m = e^(over·L²) times the classical bound, for L = -log2 p.
var usual = [...]struct{ slope, start, over float64 }{{0.45, 2.4, 0.0042}, {0.5, 3.3, 0.0016}, {0.58, 3.9, 0.00088}, {0.6, 4.6, 0.00072}}

// BlockedK returns the k with the smallest rate for many keys at the given bits per key.
func BlockedK(bitsPerKey float64, z int) int {
	g := 1
	for _, from := range moreInAGroup[bits.Len(uint(z))-1] {
		if bitsPerKey >= from {
			g++
		}
	}
	return g * z
}

// moreInAGroup has, by log2 z, the bits per key from which 2, 3, 4 and so on bits in each group have the
// smallest rate, by Blocked for many keys.
var moreInAGroup = [...][]float64{
	{2.2, 3.9, 5.9, 8.6, 12.4, 17.9, 26.3, 39.4, 60.7},
	{4.3, 7.8, 12.4, 18.8, 28.6, 44.6},
	{8.9, 17.7, 31.8, 58.1},
	{21.3, 60.8},
}
