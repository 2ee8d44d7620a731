package bloom

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// A batch is worked on in groups of this many keys: first all digests, then one
// look at each of their lines, so that the cache misses of the whole group overlap,
// then the operations. BenchmarkBatch.
const batchSize = 64

type digests [batchSize]struct{ h1, h2 uint64 }

// batchWords is the size from which the look ahead pays: smaller filters are in
// the cache of one core.
const batchWords = 256 << 10 / 8

// AddMany adds keys as [BloomFilter.Add] does one after the other, and faster if
// the filter is larger than the cache. It returns how many of them were definitely
// new; if added is not nil, added[i] becomes what Add of keys[i] would return. Of
// equal keys in one batch, the first is the new one.
//
// It panics if added is neither nil nor as long as keys.
//
//go:noinline
func (f *BloomFilter) AddMany(keys [][]byte, added []bool) int { return addMany(f, keys, added) }

// AddManyStrings is [BloomFilter.AddMany] for strings, without copying them.
//
//go:noinline
func (f *BloomFilter) AddManyStrings(keys []string, added []bool) int { return addMany(f, keys, added) }

// ContainsMany asks for keys as [BloomFilter.Contains] does one after the other,
// and faster if the filter is larger than the cache. It returns how many of them
// were probably added; if found is not nil, found[i] becomes what Contains of
// keys[i] would return.
//
// It panics if found is neither nil nor as long as keys.
//
//go:noinline
func (f *BloomFilter) ContainsMany(keys [][]byte, found []bool) int {
	return containsMany(f, keys, found)
}

// ContainsManyStrings is [BloomFilter.ContainsMany] for strings, without copying
// them.
//
//go:noinline
func (f *BloomFilter) ContainsManyStrings(keys []string, found []bool) int {
	return containsMany(f, keys, found)
}

// The four are not inlined, as their callers' keys would then be passed to generic
// code, of which other packages do not know that nothing escapes.

// addMany and containsMany differ only in the calls inside their loops. To pass
// those as a function would make the caller's keys escape to the heap.

func addMany[K []byte | string](f *BloomFilter, keys []K, added []bool) (count int) {
	checkAnswers(len(keys), added)
	if !f.looksAhead() {
		for i := range keys {
			count += answer(f.Add(viewBytes(&keys[i])), added, i)
		}
		return count
	}
	var d digests
	for first := 0; first < len(keys); first += batchSize {
		group := keys[first:min(first+batchSize, len(keys))]
		lookAhead(f, group, &d)
		for i := range group {
			count += answer(f.AddHash(d[i].h1, d[i].h2), added, first+i)
		}
	}
	return count
}

func containsMany[K []byte | string](f *BloomFilter, keys []K, found []bool) (count int) {
	checkAnswers(len(keys), found)
	if !f.looksAhead() {
		for i := range keys {
			count += answer(f.Contains(viewBytes(&keys[i])), found, i)
		}
		return count
	}
	var d digests
	for first := 0; first < len(keys); first += batchSize {
		group := keys[first:min(first+batchSize, len(keys))]
		lookAhead(f, group, &d)
		for i := range group {
			count += answer(f.ContainsHash(d[i].h1, d[i].h2), found, first+i)
		}
	}
	return count
}

// answer notes the answer to the i-th key where the caller wants it, and counts it.
func answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	if yes {
		return 1
	}
	return 0
}

// looksAhead reports whether there is something to gain: not where the filter is
// small, and not with a strategy whose time goes into hashing each key k times.
func (f *BloomFilter) looksAhead() bool {
	return len(f.bits) >= batchWords && f.hash != idOfKey
}

func checkAnswers(keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("bloom: room for %d answers to %d keys, want as many, or nil", len(answers), keys))
	}
}

// lookAhead hashes a group of keys and loads the words that they will need: the
// loads do not depend on each other, so that the processor waits for all of them at
// the same time.
func lookAhead[K []byte | string](f *BloomFilter, group []K, d *digests) {
	for i := range group {
		d[i].h1, d[i].h2 = f.scheme.hash.sum(viewBytes(&group[i]))
	}
	switch {
	case f.kernel.groups() > 0:
		for i := range group {
			(*block)(f.block(d[i].h1))[0].Load()
		}
	case f.kernel == kernelSplitVectors || f.kernel == idSplitBlock:
		for i := range group {
			atomic.LoadUint64((*uint64)(f.splitBlock(d[i].h1)))
		}
	case f.kernel == idDoubleHashing || f.kernel == kernelDoubleStraight:
		for i := range group {
			x, y := d[i].h1, d[i].h2^doubleXor
			for range f.k {
				f.bits.get(reduce(x, f.units))
				x = x*doubleMul + y
			}
		}
	}
}

// viewBytes views a key of either kind as bytes, without a copy. A string and a
// slice begin alike, with the pointer and the length.
func viewBytes[K []byte | string](key *K) []byte {
	return bytesOf(*(*string)(unsafe.Pointer(key)))
}
