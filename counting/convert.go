package counting

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/seed3447c163/bloom"
)

// BloomFilter returns a plain filter with the keys that are there, in O(m): a quarter of
// the memory, for those who only ask. It answers every key as f does.
//
// While keys are added and removed, it contains every key that was there from before the
// call until after it.
func (f *Filter) BloomFilter() *bloom.BloomFilter {
	b, err := f.scheme.Filter()
	if err != nil {
		panic(err) // never: four times as much was to be had
	}
	words := b.Words()
	for i := range f.counters {
		if set := gather(nonzero(f.counters[i].Load())); set != 0 {
			words[i/4].Or(set << (i % 4 * perWord))
		}
	}
	return b
}

// FillRatio returns the share of counters that are not 0, from 0 to 1, in O(m).
func (f *Filter) FillRatio() float64 {
	return float64(f.count(nonzero)) / float64(f.scheme.Params().M)
}

// Full returns how many counters are full, and stay so, in O(m). If they become
// a noticeable share of [Params].M, the rate is that of a filter that has some keys more
// than it should; a new filter cures that.
func (f *Filter) Full() uint64 { return f.count(fulls) }

func (f *Filter) count(which func(uint64) uint64) (n uint64) {
	for i := range f.counters {
		n += uint64(bits.OnesCount64(which(f.counters[i].Load())))
	}
	return n
}

// EstimatedCount returns how many different keys are most likely there, as
// [bloom.Stats] has it, in O(m) time and a quarter of the filter's
// memory.
func (f *Filter) EstimatedCount() uint64 { return f.BloomFilter().Stats().EstimatedCount }

// EstimatedFalsePositiveRate returns the rate at which keys that are not there are
// answered with true as things stand, as [bloom.Stats] has it
// does, in O(m) time and a quarter of the filter's memory.
func (f *Filter) EstimatedFalsePositiveRate() float64 {
	return f.BloomFilter().Stats().EstimatedFalsePositiveRate
}

// Stats returns what a service wants to watch, as [bloom.BloomFilter.Stats] does, in O(m) time
// and a quarter of the filter's memory: M is the number of counters, Ones is how many of them
// are not 0, and SizeBytes is the memory of all.
func (f *Filter) Stats() bloom.Stats {
	s := f.BloomFilter().Stats()
	s.SizeBytes = f.SizeBytes()
	return s
}

// Params returns what the filter was made with; M is the number of counters.
func (f *Filter) Params() bloom.Params { return f.scheme.Params() }

// SizeBytes returns the memory that the counters take.
func (f *Filter) SizeBytes() uint64 { return uint64(len(f.counters)) * 8 }

// String describes the filter in a line for a log, in constant time.
func (f *Filter) String() string {
	p := f.scheme.Params()
	return fmt.Sprintf("counting.Filter(n=%d p=%g m=%d k=%d strategy=%s bytes=%d)", p.N, p.P, p.M, p.K, f.scheme.Strategy(), f.SizeBytes())
}

// bytesOf views a string as bytes without the copy that a conversion makes. The result
// must not be written to, nor kept beyond the call it is made for.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
