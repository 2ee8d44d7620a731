package rate

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/rate/floats"
)

// The rate of filters in which all bits of a key are in one block, chosen at random. The number of keys in a block is
// binomial, and crowded blocks have by far the most false positives. The classical formula uses only the mean number
// and is too low: with [Blocked], by a factor of 1.7 at p = 1 % and of 30 at 1e-6.
//
// Source for the mixture over the keys of a block: Putze, Sanders & Singler 2009,
// "Cache-, hash- and space-efficient Bloom filters", section 2.

const (
	wordBits   = 64
	blockWords = 8

	// maxBlockK is the largest k that Blocked takes.
	maxBlockK = 64
)

// Blocked returns the expected rate of n keys in blocks of 512 bits, each of 8 words in z groups: a key sets
// k/z bits in one word of each group. z is 1, 2, 4 or 8, and k a multiple of z up to 64.
func Blocked(blocks uint64, k, z int, n uint64) float64 {
	return mixture(float64(blocks-1), n, hitsOf(k, z).upTo)
}

// SplitBlock returns the expected rate of n keys in fewer than 2^32 blocks of 256 bits, each of 8 words of 32
// bits. A key sets one bit in each word of its block.
//
// A key selects its block by a value of 32 bits. Each block is selected by q = floor(2^32/blocks) values or by q+1.
// Blocks with q+1 values get more keys and more lookups. This matters with many blocks.
//
// Source: Apple 2020, "Split block Bloom filters", arXiv:2101.01719.
func SplitBlock(blocks, n uint64) float64 {
	const values = 1 << 32
	q, more := values/blocks, values%blocks
	rate := mixture(values/float64(q)-1, n, splitHits)
	if more == 0 {
		return rate
	}
	share := float64(float64(more) * float64(q+1) / values) // of keys whose block has q+1 values
	return float64(share*mixture(values/float64(q+1)-1, n, splitHits)) + float64((1-share)*rate)
}

// mixture returns the mean rate over blocks, to a relative error of 1e-9. The number of keys in a block is binomial(n,
// 1/(1+others)). With equal blocks, others is the number of other blocks.
//
// hits, called with a length, returns a table of at least that length. Element i is the probability that i keys in a
// block cover the bits of another key; it rises with i. The table may be shorter if its last element is 1: then all
// further elements would be 1.
func mixture(others float64, n uint64, hits func(i int) []float64) float64 {
	if n == 0 {
		return at(hits(1), 0)
	}
	mean := float64(n) / (1 + others)
	if mean > 1<<15 {
		return 1 // half as many keys already fill a block
	}
	if others == 0 {
		return at(hits(int(n)+1), int(n))
	}
	// Start at the most likely number of keys with weight 1. Compute the weights on both sides by ratios of neighbours.
	keys := float64(n)
	mode := int(mean * (1 + 1/keys))
	table := hits(mode + 1)
	top := at(table, mode)
	weights, sum := 1.0, top
	weight := 1.0
	for i := mode; i > 0; i-- {
		weight = float64(weight * (float64(i) * others / (keys - float64(i-1))))
		weights += weight
		sum += float64(weight * at(table, i-1))
		if weight < 1e-12 {
			break
		}
	}
	weight = 1
	for i := mode; float64(i) < keys; i++ {
		ratio := (keys - float64(i)) / (float64(i+1) * others)
		weight = float64(weight * ratio)
		if i+1 >= len(table) && table[len(table)-1] < 1 {
			table = hits(i + 2)
		}
		weights += weight
		sum += float64(weight * at(table, i+1))
		// The remaining weights are less than a geometric series with this ratio, so they would change sum by less than
		// 1e-10.
		if ratio < 1 && weight*ratio < 1e-10*sum*(1-ratio) {
			break
		}
	}
	return min(1, sum/weights)
}

func at(table []float64, i int) float64 {
	if i < len(table) {
		return table[i]
	}
	return 1
}

// BlockedZeroLog returns the logarithm of the probability that a key does not set a given bit of [Blocked]. The key has
// bits in the bit's word with probability 64z/m. Then each of the g = k/z bits in this word differs from the given bit
// with probability 63/64:
//
//	ln(1 - 64z/m · (1 - (63/64)^g))
func BlockedZeroLog(m uint64, k, z int) float64 {
	return floats.Log1p(wordBits * float64(z) / float64(m) * floats.Expm1(float64(k/z)*floats.Log1p(-1.0/wordBits)))
}

// A blockTable is a table for mixture, for one z and g, and the state to extend it. It is never changed.
type blockTable struct {
	hit []float64
	// cover[r] is the probability that len(hit) keys cover r given bits of one word of a group.
	cover [maxBlockK + 1]float64
}

// blockTables is indexed by log2 z and by g. All tables together would have 1.1 MB.
var blockTables [4][maxBlockK + 1]atomic.Pointer[blockTable]

// blockHits computes the tables of z groups with g = k/z bits in each. The groups are alike and, given the number of
// keys, independent. So an element is the probability for one group to the power of z.
type blockHits struct{ g, z int }

func hitsOf(k, z int) blockHits { return blockHits{k / z, z} }

func (h blockHits) upTo(i int) []float64 {
	place := &blockTables[bits.Len(uint(h.z))-1][h.g]
	t := place.Load()
	if t != nil && (len(t.hit) >= i || t.hit[len(t.hit)-1] == 1) {
		return t.hit
	}
	t = h.extend(t, i+i/2+16)
	place.Store(t) // concurrent calls may store tables of different lengths, all correct
	return t.hit
}

// extend returns a table of the given length, which begins with the elements of old, if not nil. The table is shorter
// if an element is 1 up to rounding: it ends there, because all further elements would be 1.
func (h blockHits) extend(old *blockTable, length int) *blockTable {
	t := &blockTable{}
	t.cover[0] = 1
	if old != nil {
		t.cover = old.cover
		t.hit = append(make([]float64, 0, length), old.hit...)
	}
	var buf [256]float64
	probe := distinct(&buf, wordBits, h.g) // probe[r] is the probability that the g bits of a key are r different bits
	for len(t.hit) < length {
		hit := 0.0
		for r, prob := range probe {
			hit += float64(prob * t.cover[r])
		}
		if hit > 1-1e-12 { // because of rounding, hit may never be 1
			t.hit = slices.Clone(append(t.hit, 1)) // without spare capacity
			break
		}
		t.hit = append(t.hit, floats.Pow(hit, h.z))
		h.addKey(&t.cover)
	}
	return t
}

// addKey updates cover for one more key. With probability z/8, the key sets g bits in the word of the given bits.
func (h blockHits) addKey(cover *[maxBlockK + 1]float64) {
	thrown := *cover
	for range h.g {
		for r := h.g; r >= 1; r-- {
			thrown[r] += float64(float64(r) / wordBits * (thrown[r-1] - thrown[r]))
		}
	}
	q := float64(h.z) / blockWords
	for r := range h.g + 1 {
		cover[r] += float64(q * (thrown[r] - cover[r]))
	}
}

// splitTable ends where the probability that a given bit of a word is unset is below 1e-12.
var splitTable struct {
	sync.Once
	hits []float64
}

// splitHits returns the table of [SplitBlock]. A key's eight bits depend on 32 bits of its digest. Two keys have the
// same 32 bits with probability 2^-32. Otherwise their bits are independent.
func splitHits(int) []float64 {
	splitTable.Do(func() {
		for i, hit := 0, 0.0; hit <= 1-1e-12; i++ {
			splitTable.hits = append(splitTable.hits, min(1, floats.Pow(hit, 8)+float64(float64(i)*0x1p-32)))
			hit = -floats.Expm1(float64(i+1) * floats.Log1p(-1.0/32))
		}
		splitTable.hits = append(splitTable.hits, 1)
	})
	return splitTable.hits
}
