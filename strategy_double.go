package bloom

import (
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
)

// DoubleHashing derives all positions from one 128-bit digest (h1, h2), by
// the congruential sequence
//
//	x_0 = h1
//	x_(i+1) = x_i·0xd1342543de82ef95 + (h2 xor 0x9e3779b97f4a7c15)  mod 2^64
//
// and maps each x_i to floor(x_i·m / 2^64). One hash a key, no division.
//
// Adding h2 without the multiplication, as the textbook's double hashing
// does, puts a key's positions on an arithmetic progression. Small filters
// suffer from that: at p = 1e-6 and n = 100 the measured rate is over 50 times the
// promised one. With the multiplication it cannot be told from k independent
// hashes. The xor is for the empty key, whose Murmur3 digest is (0, 0): without
// it all its positions would be 0.
var DoubleHashing = Strategy{&doubleHashing}

var doubleHashing = definition{id: idDoubleHashing, name: "double-hashing", index: doubleIndex, foldUnit: 1, Definition: Definition{Rate: rate.Double}}

// doubleIndex is DoubleHashing as a pure function, for reference.
func doubleIndex(h1, h2 uint64, i int, m uint64) uint64 {
	x, y := h1, h2^probe.Xor
	for range i {
		x = x*probe.Mul + y
	}
	return probe.Reduce(x, m)
}

func doubleAdd(f *BloomFilter, h1, h2 uint64) bool {
	b, m, k := f.bits, f.units, int(f.k)
	last := noBit
	x, y := h1, h2^probe.Xor
	for range k {
		pos := probe.Reduce(x, m)
		if b.get(pos) == 0 {
			last = pos
		}
		x = x*probe.Mul + y
	}
	if last == noBit {
		return false
	}
	x = h1
	for range k {
		if pos := probe.Reduce(x, m); pos != last {
			b.set(pos)
		}
		x = x*probe.Mul + y
	}
	return b.flip(last)
}

// doubleContains looks at all k bits, or stops after four if one of them is not set. Either
// is the right thing somewhere. A stop makes misses cheap, but where some keys are in and
// some are not, the branch is mispredicted half the time, and costs as much as six probes in the cache.
// So filters with few probes that are in the cache have none; BenchmarkContains with
// key=hit, key=miss and key=mixed. More than one stop would help nobody: fifteen of
// sixteen absent keys are found out by the first.
func doubleContains(f *BloomFilter, h1, h2 uint64) bool {
	m, k := f.units, f.k
	x, y := h1, h2^probe.Xor
	lack := uint64(0)
	for stop := f.kernel == idDoubleHashing; k >= 4; k -= 4 {
		x1 := x*probe.Mul + y
		x2 := x1*probe.Mul + y
		x3 := x2*probe.Mul + y
		lack |= f.lackAt(probe.Reduce(x, m)) | f.lackAt(probe.Reduce(x1, m)) | f.lackAt(probe.Reduce(x2, m)) | f.lackAt(probe.Reduce(x3, m))
		if stop && lack != 0 {
			return false
		}
		stop = false
		x = x3*probe.Mul + y
	}
	if k&2 != 0 {
		x1 := x*probe.Mul + y
		lack |= f.lackAt(probe.Reduce(x, m)) | f.lackAt(probe.Reduce(x1, m))
		x = x1*probe.Mul + y
	}
	if k&1 != 0 {
		lack |= f.lackAt(probe.Reduce(x, m))
	}
	return lack == 0
}

// kernelOfDouble returns the kernel for filters with m bits and k of them to a key.
// Up to 4 MiB the look at every bit wins for the mean of hits, misses and both mixed;
// beyond, and for a larger k, the stop does.
func kernelOfDouble(m uint64, k int) strategyID {
	if k <= 8 && m <= 4<<20*8 {
		return kernelDoubleStraight
	}
	return idDoubleHashing
}

// lackAt returns 0 if the bit is set. There is no bounds check: probe.Reduce returns
// less than m, and the words hold m bits.
func (f *BloomFilter) lackAt(pos uint64) uint64 {
	w := atomic.LoadUint64(wordAt(f.bits.start(), pos/64))
	return (w | probe.Bit(pos)) ^ w
}
