package bloom

import (
	"github.com/seed3447c163/bloom/internal/prefetch"
	"github.com/seed3447c163/bloom/internal/probe"
)

// prefetchWords is the size from which it pays to ask for lines beforehand: smaller
// filters are in the cache of one core. DoubleHashing waits for several lines at once anyway,
// and own strategies have to find their bits twice: they gain from scatteredWords on.
// BenchmarkBatch, BenchmarkOwnStrategy.
const (
	prefetchWords  = 1 << 20 / 8
	scatteredWords = 4 << 20 / 8
)

// prefetches reports whether it pays to ask for lines beforehand.
func (f *BloomFilter) prefetches() bool {
	switch {
	case f.kernel <= idOwnKeyPositions, f.kernel == idDoubleHashing, f.kernel == kernelDoubleStraight:
		return len(f.bits) > scatteredWords
	}
	return len(f.bits) >= prefetchWords
}

// prefetch asks the processor for the lines of a group's keys: it goes on meanwhile, and
// has many on their way at the same time. For adds it asks for them to be written, so that
// no other processor has to be asked again between an add's look and its first bit.
func (f *BloomFilter) prefetch(d []digest128, write bool) {
	var at [prefetch.Most]uint64 // in bytes
	switch kernel := f.kernel; {
	case kernel.groups() > 0:
		for i := range d {
			at[i&(prefetch.Most-1)] = probe.Reduce(d[i].h1, f.units) * (blockBits / 8)
		}
	case kernel == kernelSplitVectors || kernel == idSplitBlock:
		for i := range d {
			at[i&(prefetch.Most-1)] = probe.SplitBlock(d[i].h1, f.units) * (splitBits / 8)
		}
	default:
		for i := range d {
			prefetch.Lines(f.bits.start(), &at, f.linesOf(d[i], write, &at), write)
		}
		return
	}
	prefetch.Lines(f.bits.start(), &at, len(d), write)
}

// linesOf finds the lines of a key whose bits are anywhere, and returns how many there are.
func (f *BloomFilter) linesOf(d digest128, write bool, at *[prefetch.Most]uint64) int {
	probes := at[:min(int(f.k), prefetch.Most)]
	switch f.kernel {
	case idDoubleHashing, kernelDoubleStraight:
		if !write {
			probes = probes[:min(len(probes), 8)] // absent keys stop after four
		}
		x, y := d.h1, d.h2^probe.Xor
		for i := range probes {
			probes[i] = probe.Reduce(x, f.units) / 64 * 8
			x = x*probe.Mul + y
		}
	case idOwnPositions:
		if int(f.k) > prefetch.Most {
			return 0
		}
		for i, pos := range f.scheme.findPositions(at[:], d.h1, d.h2) {
			if pos >= f.units { // the kernel says so
				return 0
			}
			at[i] = pos / 64 * 8
		}
	default: // the positions come one by one
		return 0
	}
	return len(probes)
}
