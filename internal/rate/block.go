package rate

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/floats"
)

// The rate of filters whose keys choose a block at random, and all their bits in it. A
// block gets a binomial number of keys, and those with many keys have by far the most
// false positives. The classical formula, which knows only the average, is too low: by
// a factor of 1.7 at p = 1 % and of 30 at 1e-6, for the block of [Blocked].
//
// Source for the mixture over the keys of a block: Putze, Sanders & Singler 2009,
// "Cache-, hash- and space-efficient Bloom filters", section 2.

const (
	wordBits   = 64
	blockWords = 8

	// maxBlockK is the largest k that Blocked takes.
	maxBlockK = 64
)

// Blocked returns the expected rate of n keys in so many blocks of 512 bits, each of 8
// words in z groups: a key sets k/z bits in one word of each group. It is for z of 1, 2,
// 4, 8 and k of a multiple of z, up to 64.
func Blocked(blocks uint64, k, z int, n uint64) float64 {
	return mixture(float64(blocks-1), n, hitsOf(k, z))
}

// SplitBlock returns the expected rate of n keys in so many blocks of 256 bits, each of
// 8 words of 32 bits, in each of which a key sets one bit: Parquet's filter. It is for less than
// 2^32 blocks.
//
// A key selects its block by 32 bits, so that a block has q = floor(2^32/blocks) of their 2^32 values, or
// q+1. With many blocks that matters: those with q+1 get more keys, and are looked up more often.
//
// Source: Apple 2020, "Split block Bloom filters", arXiv:2101.01719.
func SplitBlock(blocks, n uint64) float64 {
	const values = 1 << 32
	q, more := values/blocks, values%blocks
	rate := mixture(values/float64(q)-1, n, splitHits{})
	if more == 0 {
		return rate
	}
	share := float64(float64(more) * float64(q+1) / values) // of keys that select a block with q+1
	return float64(share*mixture(values/float64(q+1)-1, n, splitHits{})) + float64((1-share)*rate)
}

// hits says how likely a block that holds i keys answers true for a further one, which
// rises with i.
type hits interface {
	// upTo returns the first numbers, i of them and more, or all up to the first that
	// is 1.
	upTo(i int) []float64
}

// mixture returns the mean of a block's rate, where its number of keys is binomial(n, 1/(1+others)), to
// 1e-9 of it: others is how much likelier a key is in another block, which for equal blocks is their number.
func mixture[H hits](others float64, n uint64, h H) float64 {
	if n == 0 {
		return at(h.upTo(1), 0)
	}
	mean := float64(n) / (1 + others)
	if mean > 1<<15 {
		return 1 // a block is practically full with half as many keys
	}
	if others == 0 {
		return at(h.upTo(int(n)+1), int(n))
	}
	// From the most likely number of keys, whose weight is taken as 1, to both sides by
	// the ratio of neighbours.
	keys := float64(n)
	mode := int(mean * (1 + 1/keys))
	table := h.upTo(mode + 1)
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
			table = h.upTo(i + 2)
		}
		weights += weight
		sum += float64(weight * at(table, i+1))
		// What is left is less than a geometric series with this ratio.
		if ratio < 1 && weight*ratio < 1e-10*sum*(1-ratio) {
			break
		}
	}
	return min(1, sum/weights)
}

// at returns the i-th number, which is 1 where the table has ended.
func at(table []float64, i int) float64 {
	if i < len(table) {
		return table[i]
	}
	return 1
}

// BlockedZeroLog returns the logarithm of the probability that a key leaves a given bit
// of [Blocked]'s alone. It chooses the bit's word with probability z in m/64, and then
// misses the bit with each of g = k/z balls:
//
//	ln(1 - 64z/m · (1 - (63/64)^g))
func BlockedZeroLog(m uint64, k, z int) float64 {
	return floats.Log1p(wordBits * float64(z) / float64(m) * floats.Expm1(float64(k/z)*floats.Log1p(-1.0/wordBits)))
}

// A blockTable has the numbers of one z and g, as far as somebody has asked for them,
// and what it takes to go on. It is never changed.
type blockTable struct {
	hit   []float64              // hit[i]: i keys in the block cover the bits of a further one
	cover [maxBlockK + 1]float64 // cover[r]: len(hit) keys cover r given bits of one word of a group
}

// blockTables are by log2 z and by g. All of them together, which nobody needs, have
// 1.1 MB.
var blockTables [4][maxBlockK + 1]atomic.Pointer[blockTable]

// blockHits are the hits of z groups with g = k/z bits in each. The groups are alike
// and, given i, independent, so it is the probability for one to the power of z.
type blockHits struct{ g, z int }

func hitsOf(k, z int) blockHits { return blockHits{k / z, z} }

func (h blockHits) upTo(i int) []float64 {
	place := &blockTables[bits.Len(uint(h.z))-1][h.g]
	t := place.Load()
	if t != nil && (len(t.hit) >= i || t.hit[len(t.hit)-1] == 1) {
		return t.hit
	}
	t = h.extend(t, i+i/2+16)
	place.Store(t) // if two do so at the same time, both are right
	return t.hit
}

// extend returns a table of that length, or up to the first 1.
func (h blockHits) extend(old *blockTable, length int) *blockTable {
	t := &blockTable{}
	t.cover[0] = 1
	if old != nil {
		t.cover = old.cover
		t.hit = append(make([]float64, 0, length), old.hit...)
	}
	// probe[r]: the g bits of a key are r different ones.
	var buf [256]float64
	probe := distinct(&buf, wordBits, h.g)
	for len(t.hit) < length {
		hit := 0.0
		for r, prob := range probe {
			hit += float64(prob * t.cover[r])
		}
		if hit > 1-1e-12 { // rounding may keep it from getting nearer
			t.hit = slices.Clone(append(t.hit, 1)) // no longer than it is
			break
		}
		t.hit = append(t.hit, floats.Pow(hit, h.z))
		h.addKey(&t.cover)
	}
	return t
}

// addKey advances cover by a key: with probability z/8 it chooses the word that the
// given bits are in, and throws g balls into it.
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

// splitHits are the hits of Parquet's block. A key's eight bits follow from 32 bits of its digest, which
// another key has equal once in 2^32; apart from that they are as good as independent.
type splitHits struct{}

// splitTable ends where a word lacks the bit once in 1e12.
var splitTable struct {
	sync.Once
	hits []float64
}

func (splitHits) upTo(int) []float64 {
	splitTable.Do(func() {
		for i, hit := 0, 0.0; hit <= 1-1e-12; i++ {
			splitTable.hits = append(splitTable.hits, min(1, floats.Pow(hit, 8)+float64(float64(i)*0x1p-32)))
			hit = -floats.Expm1(float64(i+1) * floats.Log1p(-1.0/32))
		}
		splitTable.hits = append(splitTable.hits, 1)
	})
	return splitTable.hits
}
