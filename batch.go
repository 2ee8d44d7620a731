package bloom

import (
	"fmt"
	"hash/maphash"
	"unsafe"

	"github.com/twmb/murmur3"

	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/seed3447c163/bloom/internal/splitvec"
)

// A batch is worked on in groups of this many keys: while one group is asked for or added,
// the next one has been hashed, and its lines are on their way. BenchmarkBatch.
const batchSize = 32

type (
	digest128 = struct{ h1, h2 uint64 }
	digests   [batchSize]digest128
)

// AddMany adds keys as [BloomFilter.Add] does one after the other, and faster if
// the filter is larger than the cache. It returns how many of them were definitely
// new; if added is not nil, added[i] becomes what Add of keys[i] would return. Of
// equal keys in one batch, the first is the new one.
//
// It panics if added is neither nil nor as long as keys.
//
//go:noinline
func (f *BloomFilter) AddMany(keys [][]byte, added []bool) int { return addMany(f, keys, added) }

// AddStrings is [BloomFilter.AddMany] for strings, without copying them.
//
//go:noinline
func (f *BloomFilter) AddStrings(keys []string, added []bool) int { return addMany(f, keys, added) }

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

// ContainsStrings is [BloomFilter.ContainsMany] for strings, without copying
// them.
//
//go:noinline
func (f *BloomFilter) ContainsStrings(keys []string, found []bool) int {
	return containsMany(f, keys, found)
}

// The four are not inlined, as their callers' keys would then be passed to generic
// code, of which other packages do not know that nothing escapes.

// addMany and containsMany differ only in the calls inside their loops. To pass
// those as a function would make the caller's keys escape to the heap.

func addMany[K []byte | string](f *BloomFilter, keys []K, added []bool) (count int) {
	checkAnswers(len(keys), added)
	if !f.batches(true) {
		return addEach(f, keys, added)
	}
	var d [2]digests
	ahead(f, keys[:min(batchSize, len(keys))], &d[0], true)
	for first, turn := 0, 0; first < len(keys); first, turn = first+batchSize, 1-turn {
		end := min(first+batchSize, len(keys))
		ahead(f, keys[end:min(end+batchSize, len(keys))], &d[1-turn], true)
		count += f.addGroup(d[turn][:end-first], group(added, first, end))
	}
	return count
}

func containsMany[K []byte | string](f *BloomFilter, keys []K, found []bool) (count int) {
	checkAnswers(len(keys), found)
	if !f.batches(false) {
		return containsEach(f, keys, found)
	}
	var d [2]digests
	ahead(f, keys[:min(batchSize, len(keys))], &d[0], false)
	for first, turn := 0, 0; first < len(keys); first, turn = first+batchSize, 1-turn {
		end := min(first+batchSize, len(keys))
		ahead(f, keys[end:min(end+batchSize, len(keys))], &d[1-turn], false)
		count += f.containsGroup(d[turn][:end-first], group(found, first, end))
	}
	return count
}

// addEach and containsEach are for filters in the cache: keys one by one, without most of the
// calls that a single key passes through on its way to the kernel.

func addEach[K []byte | string](f *BloomFilter, keys []K, added []bool) (count int) {
	switch {
	case f.hash == idMapHash && f.kernel == kernelSplitVectors:
		for i := range keys {
			count += answer(splitvec.Add(f.bits.start(), f.units, maphash.Bytes(mapSeed, viewBytes(&keys[i]))), added, i)
		}
	case f.hash == idMapHash && f.kernel == idBlocked2:
		for i := range keys {
			h1 := maphash.Bytes(mapSeed, viewBytes(&keys[i]))
			count += answer(blocked2Add(f, h1, widen(h1)), added, i)
		}
	case f.hash == idMapHash:
		for i := range keys {
			h1 := maphash.Bytes(mapSeed, viewBytes(&keys[i]))
			count += answer(f.AddDigest(h1, widen(h1)), added, i)
		}
	case f.hash == idMurmur3:
		for i := range keys {
			h1, h2 := murmur3.SeedSum128(f.seed, f.seed, viewBytes(&keys[i]))
			count += answer(f.AddDigest(h1, h2), added, i)
		}
	default:
		for i := range keys {
			count += answer(f.Add(viewBytes(&keys[i])), added, i)
		}
	}
	return count
}

func containsEach[K []byte | string](f *BloomFilter, keys []K, found []bool) (count int) {
	switch {
	case f.hash == idMapHash && f.kernel == idBlocked2:
		for i := range keys {
			h1 := maphash.Bytes(mapSeed, viewBytes(&keys[i]))
			count += answer(blocked2Contains(f, h1, widen(h1)), found, i)
		}
	case f.hash == idMapHash:
		for i := range keys {
			h1 := maphash.Bytes(mapSeed, viewBytes(&keys[i]))
			count += answer(f.ContainsDigest(h1, widen(h1)), found, i)
		}
	case f.hash == idMurmur3:
		for i := range keys {
			h1, h2 := murmur3.SeedSum128(f.seed, f.seed, viewBytes(&keys[i]))
			count += answer(f.ContainsDigest(h1, h2), found, i)
		}
	default:
		for i := range keys {
			count += answer(f.Contains(viewBytes(&keys[i])), found, i)
		}
	}
	return count
}

// batches reports whether groups are faster than keys one by one: beyond the cache, and
// lookups of several words also within it, as one key's do not wait for another's. BenchmarkBatch.
func (f *BloomFilter) batches(write bool) bool {
	switch f.kernel {
	case idBlocked4, kernelSplitVectors, idDoubleHashing, kernelDoubleStraight:
		return !write || f.prefetches()
	}
	return f.hash != idOfKey && f.prefetches()
}

// ahead hashes a group, and asks for the lines that it will need.
func ahead[K []byte | string](f *BloomFilter, keys []K, d *digests, write bool) {
	switch {
	case f.hash == idRapidHash:
		rapidAhead(f.seed, keys, d[:len(keys)])
		if f.kernel != kernelSplitVectors { // which has no use for h2
			for i := range keys {
				d[i].h2 = widen(d[i].h1)
			}
		}
	case f.hash == idMapHash && f.kernel == kernelSplitVectors: // which has no use for h2
		for i := range keys {
			d[i].h1 = maphash.Bytes(mapSeed, viewBytes(&keys[i]))
		}
	case f.hash == idMapHash:
		for i := range keys {
			h1 := maphash.Bytes(mapSeed, viewBytes(&keys[i]))
			d[i].h1, d[i].h2 = h1, widen(h1)
		}
	default:
		for i := range keys {
			d[i].h1, d[i].h2 = f.scheme.hash.sum(viewBytes(&keys[i]))
		}
	}
	if f.prefetches() {
		f.prefetch(d[:len(keys)], write)
	}
}

// rapidAhead hashes a group by RapidHash. With this loop in ahead itself, or with nothing but
// calls of Sum, a batch in SplitBlock takes 4 to 8 % longer.
func rapidAhead[K []byte | string](state uint64, keys []K, d []digest128) {
	for i := range d {
		key := viewBytes(&keys[i])
		if rapidhash.Inlines(len(key)) {
			d[i].h1 = rapidhash.Tail(rapidhash.Head(state, key), key)
		} else {
			d[i].h1 = rapidhash.Sum(state, key)
		}
	}
}

// group is the part of the answers that belongs to a group.
func group(answers []bool, first, end int) []bool {
	if answers == nil {
		return nil
	}
	return answers[first:end]
}

// addGroup and containsGroup have a loop for each of the fastest kernels: to choose one
// for each key would take as long as a kernel.

func (f *BloomFilter) addGroup(d []digest128, added []bool) (count int) {
	switch f.kernel {
	case idBlocked2:
		for i := range d {
			count += answer(blocked2Add(f, d[i].h1, d[i].h2), added, i)
		}
	case kernelSplitVectors:
		for i := range d {
			count += answer(splitvec.Add(f.bits.start(), f.units, d[i].h1), added, i)
		}
	default:
		for i := range d {
			count += answer(f.AddDigest(d[i].h1, d[i].h2), added, i)
		}
	}
	return count
}

func (f *BloomFilter) containsGroup(d []digest128, found []bool) (count int) {
	switch f.kernel {
	case idBlocked2:
		for i := range d {
			count += answer(blocked2Contains(f, d[i].h1, d[i].h2), found, i)
		}
	case idBlocked4:
		for i := range d {
			count += answer(blocked4Contains(f, d[i].h1, d[i].h2), found, i)
		}
	case idDoubleHashing, kernelDoubleStraight:
		for i := range d {
			count += answer(doubleContains(f, d[i].h1, d[i].h2), found, i)
		}
	case kernelSplitVectors:
		var scratch [batchSize]bool
		yes := &scratch[0]
		if found != nil {
			yes = &found[0]
		}
		return splitvec.ContainsMany(f.bits.start(), f.units, unsafe.Pointer(&d[0]), len(d), yes)
	default:
		for i := range d {
			count += answer(f.ContainsDigest(d[i].h1, d[i].h2), found, i)
		}
	}
	return count
}

// answer notes the answer to the i-th key where the caller wants it, and counts it.
func answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	return one(yes)
}

// one is 1 for true; the compiler makes no branch of it.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func checkAnswers(keys int, answers []bool) {
	if answers != nil && len(answers) != keys {
		panic(fmt.Sprintf("bloom: room for %d answers to %d keys, want as many, or nil", len(answers), keys))
	}
}

// viewBytes views a key of either kind as bytes, without a copy. A string and a
// slice begin alike, with the pointer and the length.
func viewBytes[K []byte | string](key *K) []byte {
	return bytesOf(*(*string)(unsafe.Pointer(key)))
}
