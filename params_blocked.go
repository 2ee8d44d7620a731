package bloom

import (
	"math"
	"math/bits"

	"github.com/seed3447c163/bloom/internal/rate"
)

// blockedSlack is how much memory a smaller z may cost over the best one: it pays
// back in fewer loads and fewer atomic operations.
const blockedSlack = 1.03

// minBlockedP is the smallest p for which Blocked is sized: its memory grows out
// of all proportion, from 1.9 times the classical bound at 1e-9 to 4 times at 1e-12.
const minBlockedP = 1e-12

// tooManyBlocks ends a search: a small p can want more blocks than a uint64 counts.
const tooManyBlocks = maxM / blockBits

// candidates returns the strategies that a Blocked may become.
func (s Strategy) candidates() []Strategy {
	if s.id() == idBlocked {
		return []Strategy{{&blocked1}, {&blocked2}, {&blocked4}, {&blocked8}}
	}
	return []Strategy{s}
}

// blockedParams returns m, k and the strategy with the z to use for n keys at
// rate p: the smallest z that needs little more than the best one.
func blockedParams(n uint64, p float64, s Strategy) (m uint64, k int, resolved Strategy) {
	candidates := s.candidates()
	if n == 0 {
		return blockBits, candidates[0].groups(), candidates[0]
	}
	var blocks [4]uint64
	var ks [4]int
	best := uint64(math.MaxUint64)
	for j := range candidates {
		i := j // first those that are likely the best: large z for small p
		if p < 0.05 {
			i = len(candidates) - 1 - j
		}
		search := blockSearch{n, p, candidates[i].groups()}
		if blocks[i] = math.MaxUint64; best < math.MaxUint64 {
			// Most z need far too much, which is sooner seen than how much.
			if _, excess := search.bestK(withSlack(best), search.usualK()); excess > 0 {
				continue
			}
		}
		blocks[i], ks[i] = search.leastBlocks()
		best = min(best, blocks[i])
	}
	i := 0
	for blocks[i] > withSlack(best) {
		i++
	}
	return blocks[i] * blockBits, ks[i], candidates[i]
}

// withSlack returns how many blocks are as good as the best number of them.
func withSlack(best uint64) uint64 { return uint64(blockedSlack * float64(best)) }

// A blockSearch is for the smallest number of blocks that keeps n keys at or below
// rate p with z groups.
type blockSearch struct {
	n uint64
	p float64
	z int
}

// excess returns the logarithm of the rate over p: at most 0 is enough.
func (s blockSearch) excess(blocks uint64, k int) float64 {
	return math.Log(rate.Blocked(blocks, k, s.z, s.n) / s.p)
}

// usual has, by log2 z, what the best choice for many keys is near to, where a search
// does well to begin: k = slope·L + start and m = e^(over·L²) times the classical bound,
// for L = -log2 p.
var usual = [...]struct{ slope, start, over float64 }{{0.45, 2.4, 0.0042}, {0.5, 3.3, 0.0016}, {0.58, 3.9, 0.00088}, {0.6, 4.6, 0.00072}}

func (s blockSearch) usualK() int {
	u := usual[bits.Len(uint(s.z))-1]
	k := u.start - u.slope*math.Log2(s.p)
	return min(max(1, int(math.Round(k/float64(s.z)))), maxK/s.z) * s.z
}

func (s blockSearch) usualBlocks() uint64 {
	l := math.Log2(s.p)
	return uint64(OptimalM(s.n, s.p) * math.Exp(usual[bits.Len(uint(s.z))-1].over*l*l) / blockBits)
}

// leastBlocks returns the smallest number of blocks at which some k is enough, and the
// smallest such k.
func (s blockSearch) leastBlocks() (blocks uint64, k int) {
	k = s.usualK()
	blocks = s.leastFor(k, s.usualBlocks())
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
		for c := k + step; c >= s.z && c <= maxK; c += step {
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
// tooManyBlocks. The logarithm of the rate is a smooth function of the logarithm of that
// number, so the search goes by the secant.
func (s blockSearch) leastFor(k int, guess uint64) uint64 {
	low, high := uint64(0), uint64(tooManyBlocks) // too few; enough, or too many anyway
	blocks := min(max(1, guess), tooManyBlocks-1)
	lastX, lastExcess := 0.0, 0.0
	slope := -0.5 * float64(k)
	for i := 0; ; i++ {
		excess := s.excess(blocks, k)
		if excess > 0 {
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
