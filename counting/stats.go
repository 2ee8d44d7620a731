package counting

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/rate"
)

// BloomFilter returns a plain filter with the same keys, in O(m). It takes a quarter of the memory,
// and Contains gives the same answers.
//
// While keys are added and removed, it contains every key that is present during the whole call.
func (f *Filter) BloomFilter() *bloom.BloomFilter {
	b, err := f.scheme.Filter()
	if err != nil {
		panic(err) // never: there was memory for four times as much
	}
	f.set(b.Words(), 0)
	return b
}

// set sets the bits of the counters that are not 0. The first bit is that of word first of plain.
func (f *Filter) set(plain []atomic.Uint64, first int) {
	for i := range plain {
		var word uint64
		for j := 4 * (first + i); j < min(4*(first+i+1), len(f.counters)); j++ {
			word |= gather(nonzero(f.counters[j].Load())) << (j % 4 * perWord)
		}
		plain[i].Store(word)
	}
}

// Full returns how many counters are full, in O(m). They stay full, and count as set bits.
func (f *Filter) Full() (count uint64) {
	for i := range f.counters {
		count += uint64(bits.OnesCount64(fulls(f.counters[i].Load())))
	}
	return count
}

// Stats returns the filter's numbers, in O(m), like [bloom.BloomFilter.Stats]: M is the number of
// counters, Ones is how many of them are not 0, SizeBytes is the memory of all.
func (f *Filter) Stats() bloom.Stats {
	p, strategy := f.scheme.Params(), f.scheme.Strategy()
	s := bloom.Stats{
		N: p.N, P: p.P, M: p.M, K: p.K, Strategy: strategy.Name(), Hash: f.scheme.Hash().Name(), SizeBytes: f.bytes(),
	}
	// Piece by piece: a plain filter would take a quarter of the memory.
	var piece [512]atomic.Uint64
	total := int(p.M/64 + min(p.M%64, 1))
	mean := 0.0
	for first := 0; first < total; first += len(piece) {
		part := piece[:min(len(piece), total-first)]
		f.set(part, first)
		ones, of := ofPart(part, strategy, p.K)
		s.Ones += ones
		mean += of * float64(len(part)) / float64(total)
	}
	s.FillRatio = float64(s.Ones) / float64(p.M)
	if s.Ones > 0 {
		s.EstimatedCount = rounded(strategy.EstimatedN(p.M, p.K, s.Ones))
	}
	s.EstimatedFalsePositiveRate = math.Pow(s.FillRatio, float64(p.K))
	if blocks[strategy] > 0 {
		s.EstimatedFalsePositiveRate = mean
	} else if strategy != bloom.DoubleHashing && s.Ones > 0 && s.EstimatedCount < math.MaxUint64 {
		own := strategy.FalsePositiveRate(p.M, p.K, s.EstimatedCount)
		if own != rate.Independent(p.M, p.K, s.EstimatedCount) { // a custom strategy with a Rate
			s.EstimatedFalsePositiveRate = own
		}
	}
	return s
}

// blocks are the strategies whose rate is the mean of their blocks' rates, with z of Blocked.
var blocks = map[bloom.Strategy]int{bloom.Blocked1: 1, bloom.Blocked2: 2, bloom.Blocked4: 4, bloom.Blocked8: 8, bloom.SplitBlock: 8}

// ofPart returns how many bits are set, and the mean rate of blocks.
func ofPart(part []atomic.Uint64, s bloom.Strategy, k int) (ones uint64, mean float64) {
	switch z := blocks[s]; {
	case s == bloom.SplitBlock:
		return rate.OfSplitBlocks(part)
	case z > 0:
		return rate.OfBlocks(part, k, z)
	}
	for i := range part {
		ones += uint64(bits.OnesCount64(part[i].Load()))
	}
	return ones, 0
}

// rounded returns the nearest count, and the largest one for other numbers.
func rounded(n float64) uint64 {
	if !(n >= 0 && n < math.MaxUint64) {
		return math.MaxUint64
	}
	return uint64(math.Round(n))
}

// bytes returns the memory of the counters.
func (f *Filter) bytes() uint64 { return uint64(len(f.counters)) * 8 }

// String describes the filter in one line, in constant time.
func (f *Filter) String() string {
	p := f.scheme.Params()
	return fmt.Sprintf("counting.Filter(n=%d p=%g m=%d k=%d strategy=%s bytes=%d)", p.N, p.P, p.M, p.K, f.scheme.Strategy(), f.bytes())
}
