package bloom

import "math"

// The rate of Blocked. Keys choose their blocks at random, so a block gets a
// binomial number of them, and those with many keys have by far the most false
// positives. The classical formula, which knows only the average, is too low: by
// a factor of 1.7 at p = 1 % and of 30 at 1e-6.
//
// Source for the mixture over the keys of a block: Putze, Sanders & Singler 2009,
// "Cache-, hash- and space-efficient Bloom filters", section 2.

// blockedSlack is how much memory a smaller z may cost over the best one: it pays
// back in fewer loads and fewer atomic operations.
const blockedSlack = 1.03

// minBlockedP is the smallest p for which Blocked is sized: its memory grows out
// of all proportion, from 1.9 times the classical bound at 1e-9 to 4 times at 1e-12.
const minBlockedP = 1e-12

// candidates returns the strategies that a Blocked may become.
func (s Strategy) candidates() []Strategy {
	if s.id() == idBlocked {
		return []Strategy{{&blocked1}, {&blocked2}, {&blocked4}, {&blocked8}}
	}
	return []Strategy{s}
}

// blockedParams returns m, k and the strategy with the z to use for n keys at
// rate p.
func blockedParams(n uint64, p float64, s Strategy) (m uint64, k int, resolved Strategy) {
	candidates := s.candidates()
	best := uint64(math.MaxUint64)
	blocks, ks := make([]uint64, len(candidates)), make([]int, len(candidates))
	for i, c := range candidates {
		blocks[i], ks[i] = leastBlocks(n, p, c.groups())
		best = min(best, blocks[i])
	}
	for i, c := range candidates {
		if float64(blocks[i]) <= blockedSlack*float64(best) {
			m, k, resolved = blocks[i]*blockBits, ks[i], c
			break
		}
	}
	return m, k, resolved
}

// leastBlocks returns the smallest number of blocks at which some k keeps p with
// z groups, and the smallest such k. The number falls with k, then rises.
func leastBlocks(n uint64, p float64, z int) (blocks uint64, k int) {
	blocks = math.MaxUint64
	for c := z; c <= maxK; c += z {
		b := newBlockModel(c, z).minBlocks(n, p)
		if b > blocks {
			break
		}
		if b < blocks {
			blocks, k = b, c
		}
	}
	return blocks, k
}

// A blockModel computes, for one k and z, how likely a block that holds i keys
// answers true for a further one. The z groups are alike and, given i,
// independent, so it is the probability for one group to the power of z.
type blockModel struct {
	z, g  int       // groups, and the bits that a key sets in one word of each
	hit   []float64 // hit[i]: i keys in the block cover the bits of a further one
	cover []float64 // cover[r]: i = len(hit) keys cover r given bits of one word of a group
	probe []float64 // probe[r]: the g bits of a key are r different ones
}

func newBlockModel(k, z int) *blockModel {
	bm := &blockModel{z: z, g: k / z}
	bm.cover = make([]float64, bm.g+1)
	bm.cover[0] = 1
	bm.probe = make([]float64, bm.g+1)
	bm.probe[0] = 1
	for range bm.g {
		for r := bm.g; r >= 1; r-- {
			bm.probe[r] = bm.probe[r]*float64(r)/64 + bm.probe[r-1]*float64(64-r+1)/64
		}
		bm.probe[0] = 0
	}
	return bm
}

// at returns the probability for a block with i keys.
func (bm *blockModel) at(i int) float64 {
	for len(bm.hit) <= i {
		if last := len(bm.hit) - 1; last >= 0 && bm.hit[last] == 1 {
			return 1
		}
		hit := 0.0
		for r, prob := range bm.probe {
			hit += prob * bm.cover[r]
		}
		if hit > 1-1e-12 { // rounding may keep it from getting nearer
			hit = 1 // or a block with 2^40 keys would take 2^40 steps
		}
		bm.hit = append(bm.hit, math.Pow(hit, float64(bm.z)))
		bm.addKey()
	}
	return bm.hit[i]
}

// addKey advances cover by a key: with probability z/8 it chooses the word that
// the given bits are in, and throws g balls into it.
func (bm *blockModel) addKey() {
	thrown := append([]float64(nil), bm.cover...)
	for range bm.g {
		for r := bm.g; r >= 1; r-- {
			thrown[r] += float64(r) / 64 * (thrown[r-1] - thrown[r])
		}
	}
	q := float64(bm.z) / blockWords
	for r := range bm.cover {
		bm.cover[r] += q * (thrown[r] - bm.cover[r])
	}
}

// rate returns the expected rate of n keys in the given number of blocks: the mean
// of at(i), where i is binomial(n, 1/blocks).
func (bm *blockModel) rate(n, blocks uint64) float64 {
	if blocks == 1 {
		return bm.at(int(min(n, 1<<20)))
	}
	keys, others := float64(n), float64(blocks-1)
	mean := keys / float64(blocks)
	if mean > 1<<15 {
		return 1 // a block is as good as full with half as many keys, for every k and z
	}
	// log P(i = 0), and from there upwards by the ratio of neighbours: as a
	// logarithm for as long as float64 would show it as 0.
	logWeight := keys * math.Log1p(-1/float64(blocks))
	i := 0
	for ; logWeight < -600; i++ {
		logWeight += math.Log((keys - float64(i)) / (float64(i+1) * others))
	}
	sum := 0.0
	for weight := math.Exp(logWeight); float64(i) <= keys; i++ {
		sum += weight * bm.at(i)
		ratio := (keys - float64(i)) / (float64(i+1) * others)
		weight *= ratio
		// What is left is less than a geometric series with this ratio.
		if float64(i) > mean && weight/(1-ratio) < 1e-9*sum {
			break
		}
	}
	return min(sum, 1)
}

// tooManyBlocks ends the search: a small p can want more blocks than a uint64 counts.
const tooManyBlocks = maxM / blockBits

// minBlocks returns the smallest number of blocks that keeps n keys at or below
// rate p, or at least tooManyBlocks where that is too large anyway. The logarithm of
// the rate is a smooth function of the logarithm of that number, so the search goes by
// the secant.
func (bm *blockModel) minBlocks(n uint64, p float64) uint64 {
	excess := func(blocks uint64) float64 { return math.Log(bm.rate(n, blocks) / p) }
	// low is too small, high is large enough. No filter does with less than the
	// classical bound.
	high := max(1, uint64(0.99*OptimalM(n, p)/blockBits))
	atHigh := excess(high)
	low, atLow := high, atHigh
	for ; atLow <= 0; atLow = excess(low) {
		if low == 1 {
			return 1
		}
		high, atHigh = low, atLow
		low /= 2
	}
	for atHigh > 0 {
		if high >= tooManyBlocks {
			return tooManyBlocks
		}
		low, atLow = high, atHigh
		high = min(high+high/4+1, tooManyBlocks) // beyond, a smaller k would hide larger ones
		atHigh = excess(high)
	}
	for high-low > 1 {
		width := float64(high - low)
		aim := width * atLow / (atLow - atHigh)
		// Alone, the secant would creep up from one end. Aim a little beyond the
		// root, to draw in the farther one too.
		if aim < width/2 {
			aim += width / 32
		} else {
			aim -= width / 32
		}
		mid := min(max(low+uint64(aim), low+1), high-1)
		if e := excess(mid); e > 0 {
			low, atLow = mid, e
		} else {
			high, atHigh = mid, e
		}
	}
	return high
}

// blockedZeroLog returns the logarithm of the probability that a key leaves a
// given bit alone. It chooses the bit's word with probability z in m/64, and then
// misses the bit with each of g = k/z balls:
//
//	ln(1 - 64z/m · (1 - (63/64)^g))
func blockedZeroLog(m uint64, k, z int) float64 {
	return math.Log1p(64 * float64(z) / float64(m) * math.Expm1(float64(k/z)*math.Log1p(-1.0/64)))
}
