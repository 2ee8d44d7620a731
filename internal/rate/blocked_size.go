package rate

import (
	"math"
	"math/bits"
)

// slack is how much memory a smaller z may cost over the best one: it pays back in fewer
// loads and fewer atomic operations.
const slack = 1.03

// MaxBlocks is where a search ends, with 2^53 bits: a small p can want more blocks than a
// uint64 counts.
const MaxBlocks = 1 << 53 / (blockWords * wordBits)

// SizeBlocked returns the blocks and the k with which n keys keep the rate p, for the one of
// some z, which rise, that needs little more memory than the best of them and is the smallest
// such. The numbers of blocks and k are the smallest for that z.
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
		search := blockSearch{n, p, zs[i]}
		if needs[i] = math.MaxUint64; best < math.MaxUint64 {
			// Most z need far too much, which is sooner seen than how much.
			if _, excess := search.bestK(withSlack(best), search.usualK()); excess > 0 {
				continue
			}
		}
		needs[i], ks[i] = search.leastBlocks()
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

// A blockSearch is for the smallest number of blocks that keeps n keys at or below
// rate p with z groups.
type blockSearch struct {
	n uint64
	p float64
	z int
}

// excess returns the logarithm of the rate over p: at most 0 is enough.
func (s blockSearch) excess(blocks uint64, k int) float64 {
	return math.Log(Blocked(blocks, k, s.z, s.n) / s.p)
}

// usual has, by log2 z, what the best choice for many keys is near to, where a search
// does well to begin: k = slope·L + start and m = e^(over·L²) times the classical bound,
// for L = -log2 p.
var usual = [...]struct{ slope, start, over float64 }{{0.45, 2.4, 0.0042}, {0.5, 3.3, 0.0016}, {0.58, 3.9, 0.00088}, {0.6, 4.6, 0.00072}}

func (s blockSearch) usualK() int {
	u := usual[bits.Len(uint(s.z))-1]
	k := u.start - u.slope*math.Log2(s.p)
	return min(max(1, int(math.Round(k/float64(s.z)))), maxBlockK/s.z) * s.z
}

// usualBlocks is at least what k bits a key want of any filter, which for a large p are more
// than is best.
func (s blockSearch) usualBlocks(k int) uint64 {
	l := -math.Log2(s.p)
	classical := l / math.Ln2 * math.Exp(usual[bits.Len(uint(s.z))-1].over*l*l) // bits a key
	return uint64(float64(s.n) * max(classical, float64(k)/load(s.p, k)) / (blockWords * wordBits))
}

// load returns k·n/m of a classical filter whose rate is p.
func load(p float64, k int) float64 { return -math.Log1p(-math.Pow(p, 1/float64(k))) }

// leastBlocks returns the smallest number of blocks at which some k is enough, and the
// smallest such k.
func (s blockSearch) leastBlocks() (blocks uint64, k int) {
	k = s.usualK()
	blocks = s.leastFor(k, s.usualBlocks(k))
	for blocks > 1 {
		better, excess := s.bestK(blocks-1, k)
		if excess > 0 {
			break
		}
		k = better
		blocks = s.leastFor(k, blocks-1)
	}
	for k > s.z && s.excess(blocks, k-s.z) <= 0 {
		k -= s.z
	}
	return blocks, k
}

// bestK returns the k with the smallest rate, from a guess, and its excess. The rate
// falls with k, then rises.
func (s blockSearch) bestK(blocks uint64, guess int) (k int, excess float64) {
	k, excess = guess, s.excess(blocks, guess)
	for _, step := range []int{s.z, -s.z} {
		for c := k + step; c >= s.z && c <= maxBlockK; c += step {
			e := s.excess(blocks, c)
			if e >= excess {
				break
			}
			k, excess = c, e
		}
		if k != guess {
			break
		}
	}
	return k, excess
}

// leastFor returns the smallest number of blocks that is enough with this k, or
// MaxBlocks. The search goes by the secant, for the load that a classical filter of this rate
// has: there its logarithm falls as that of the number of blocks rises, and here nearly so.
func (s blockSearch) leastFor(k int, guess uint64) uint64 {
	low, high := uint64(0), uint64(MaxBlocks) // too few; enough, or too many anyway
	blocks := min(max(1, guess), MaxBlocks-1)
	lastX, lastExcess := 0.0, 0.0
	slope := -1.0
	want := math.Log(load(s.p, k))
	for i := 0; ; i++ {
		rate := Blocked(blocks, k, s.z, s.n)
		excess := math.Log(load(rate, k)) - want
		if rate > s.p {
			low = blocks
		} else {
			high = blocks
		}
		if high-low <= 1 {
			return high
		}
		x := math.Log(float64(blocks))
		if i > 0 && x != lastX && excess != lastExcess {
			slope = (excess - lastExcess) / (x - lastX)
		}
		lastX, lastExcess = x, excess
		aim := math.Ceil(math.Exp(x - excess/slope))
		switch {
		case i > 40 || math.IsNaN(aim):
			blocks = low + (high-low)/2
		case aim >= float64(high):
			blocks = high - 1
		default:
			blocks = max(low+1, uint64(aim))
		}
	}
}

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
