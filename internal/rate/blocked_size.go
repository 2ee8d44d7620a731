package rate

import (
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom/internal/floats"
)

// slack is how much memory a smaller z may cost over the best one: it pays back in fewer
// loads and fewer atomic operations.
const slack = 1.03

// MaxBlocks is where a search ends, with 2^53 bits: a small p can want more blocks than a
// uint64 counts.
const MaxBlocks = (MaxM - 1) / (blockWords * wordBits)

// SizeBlocked returns the blocks and the k with which n keys keep the rate p, for the one of
// some z, which rise, that needs little more memory than the best of them and is the smallest
// such. The numbers of blocks and k are the smallest for that z. No z suffices if blocks exceed MaxBlocks.
func SizeBlocked(n uint64, p float64, zs ...int) (blocks uint64, k, z int) {
	if n == 0 {
		return 1, zs[0], zs[0]
	}
	var needs [4]uint64
	var ks [4]int
	best := uint64(math.MaxUint64)
	for j := range zs {
		i := j // first those that are likely the best: large z for small p
		if p < 0.05 {
			i = len(zs) - 1 - j
		}
		search := blockedSearch(n, p, zs[i])
		if needs[i] = math.MaxUint64; best < MaxBlocks {
			// Most z need far too much, which is sooner seen than how much.
			start, _ := search.Start(p)
			if search.someK(min(withSlack(best), MaxBlocks), search.nearest(start)) == 0 {
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

// withSlack returns how many blocks are as good as the best number of them.
func withSlack(best uint64) uint64 { return uint64(slack * float64(best)) }

func blockedSearch(n uint64, p float64, z int) Search {
	u := usual[bits.Len(uint(z))-1]
	return Search{
		N: n, P: p, Unit: blockWords * wordBits, Most: MaxBlocks, MinK: z, MaxK: maxBlockK, StepK: z,
		Rate: func(blocks uint64, k int) float64 { return Blocked(blocks, k, z, n) },
		Start: func(p float64) (k, perKey float64) {
			l := -floats.Log(p) / math.Ln2
			return u.start + float64(u.slope*l), l / math.Ln2 * floats.Exp(u.over*l*l)
		},
	}
}

// usual has, by log2 z, what the best choice for many keys is near to, where a search
// does well to begin: k = slope·L + start and m = e^(over·L²) times the classical bound,
// for L = -log2 p.
var usual = [...]struct{ slope, start, over float64 }{{0.45, 2.4, 0.0042}, {0.5, 3.3, 0.0016}, {0.58, 3.9, 0.00088}, {0.6, 4.6, 0.00072}}

// BlockedK returns the k with the smallest rate for many keys at so many bits each.
func BlockedK(bitsPerKey float64, z int) int {
	g := 1
	for _, from := range moreInAGroup[bits.Len(uint(z))-1] {
		if bitsPerKey >= from {
			g++
		}
	}
	return g * z
}

// moreInAGroup has, by log2 z, from how many bits a key on 2, 3, 4 bits in each group and
// so on have the smallest rate, by Blocked for many keys. More than the last is not
// worth it.
var moreInAGroup = [...][]float64{
	{2.2, 3.9, 5.9, 8.6, 12.4, 17.9, 26.3, 39.4, 60.7},
	{4.3, 7.8, 12.4, 18.8, 28.6, 44.6},
	{8.9, 17.7, 31.8, 58.1},
	{21.3, 60.8},
}
