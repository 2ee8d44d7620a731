package bloom

import (
	"fmt"
	"hash/maphash"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/noescape"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/twmb/murmur3"
)

// A batch is worked on in groups of this many keys. Before one group is added or looked up, the
// next group is hashed and its cache lines are prefetched. BenchmarkBatch.
const batchSize = 32

// AddMany adds keys in order, as [BloomFilter.Add] does, but faster if the filter is larger than
// the cache. It returns how many of them were definitely new. If added is not nil, AddMany sets
// added[i] to what Add(keys[i]) would return. Of equal keys in one batch, the first is new.
//
// It panics if added is neither nil nor as long as keys.
func (f *BloomFilter) AddMany(keys [][]byte, added []bool) int {
	return f.batch(listOf(keys, false), added, true)
}

// AddStrings is [BloomFilter.AddMany] for strings, without copying them.
func (f *BloomFilter) AddStrings(keys []string, added []bool) int {
	return f.batch(listOf(keys, false), added, true)
}

// ContainsMany looks up keys as [BloomFilter.Contains] does, but faster if the filter is larger
// than the cache. It returns how many of them were probably added. If found is not nil,
// ContainsMany sets found[i] to what Contains(keys[i]) would return.
//
// It panics if found is neither nil nor as long as keys.
func (f *BloomFilter) ContainsMany(keys [][]byte, found []bool) int {
	return f.batch(listOf(keys, false), found, false)
}

// ContainsStrings is [BloomFilter.ContainsMany] for strings, without copying them.
func (f *BloomFilter) ContainsStrings(keys []string, found []bool) int {
	return f.batch(listOf(keys, false), found, false)
}

// AddDigests is [BloomFilter.AddMany] for keys whose digests are already known, see
// [BloomFilter.AddDigest]. Each element is (h1, h2).
//
// It panics if added is neither nil nor as long as digests, and where AddDigest does.
func (f *BloomFilter) AddDigests(digests [][2]uint64, added []bool) int {
	return f.batch(listOf(digests, true), added, true)
}

// ContainsDigests is [BloomFilter.ContainsMany] for keys whose digests are already known.
//
// It panics if found is neither nil nor as long as digests, and where ContainsDigest does.
func (f *BloomFilter) ContainsDigests(digests [][2]uint64, found []bool) int {
	return f.batch(listOf(digests, true), found, false)
}

// A keyList is a slice of keys, of strings or of digests.
type keyList struct {
	start  unsafe.Pointer
	n      int
	size   uintptr // of an element
	hashed bool    // the elements are digests
}

func listOf[E []byte | string | digest](elements []E, hashed bool) keyList {
	return keyList{unsafe.Pointer(unsafe.SliceData(elements)), len(elements), unsafe.Sizeof(*new(E)), hashed}
}

// key views the key at an offset in bytes as bytes, without a copy. A string and a slice begin
// with the pointer and the length.
func (l *keyList) key(offset uintptr) []byte {
	return bytesOf(*(*string)(unsafe.Add(l.start, offset)))
}

// digests returns the digests of the group that begins at first. It uses room unless they are
// known.
func (l *keyList) digests(h *hasher, first int, room *[batchSize]digest, h1Only bool) []digest {
	if first >= l.n {
		return nil
	}
	group, at := room[:min(batchSize, l.n-first)], uintptr(first)*l.size
	if l.hashed {
		return unsafe.Slice((*digest)(unsafe.Add(l.start, at)), len(group))
	}
	switch state := h.k1; h.id {
	case idRapidHash:
		l.rapid(state, at, group)
		if !h1Only {
			for i := range group {
				group[i][1] = widen(group[i][0])
			}
		}
	case idMapHash:
		for i := range group {
			h1 := maphash.Bytes(mapSeed, l.key(at))
			at += l.size
			group[i][0], group[i][1] = h1, widen(h1)
		}
	case idMurmur3:
		for i := range group {
			group[i][0], group[i][1] = murmur3.SeedSum128(state, state, l.key(at))
			at += l.size
		}
	default:
		for i := range group {
			group[i][0], group[i][1] = h.sum(l.key(at))
			at += l.size
		}
	}
	return group
}

// rapid is digests for RapidHash. As a function of its own it makes batches with SplitBlock
// 10 % faster.
func (l *keyList) rapid(state uint64, at uintptr, group []digest) {
	start, size := l.start, l.size
	for i := range group {
		key := bytesOf(*(*string)(unsafe.Add(start, at)))
		at += size
		var h1 uint64
		if rapidhash.Inlines(len(key)) {
			h1 = rapidhash.Tail(rapidhash.Head(state, key), key)
		} else {
			h1 = rapidhash.Sum(state, key)
		}
		group[i][0] = h1
	}
}

// batch adds or looks up keys, strings or digests.
func (f *BloomFilter) batch(l keyList, answers []bool, add bool) (count int) {
	if answers != nil && len(answers) != l.n {
		panic(fmt.Sprintf("bloom: room for %d answers to %d keys, want as many, or nil", len(answers), l.n))
	}
	if f.hash <= idOfKey || add && !l.hashed && !f.far() {
		return f.oneByOne(l, answers, add)
	}
	var room [2][batchSize]digest
	next := f.ahead(&l, 0, &room[0], add)
	for first, turn := 0, 1; first < l.n; first, turn = first+batchSize, 1-turn {
		group := next
		next = f.ahead(&l, first+batchSize, &room[turn], add)
		var part []bool
		if answers != nil {
			part = answers[first : first+len(group)]
		}
		count += f.work(group, part, add)
	}
	return count
}

// far reports whether the filter is so large that prefetching pays.
func (f *BloomFilter) far() bool { return len(f.bits) >= f.kernel.prefetchFrom }

// ahead hashes the group that begins at first, and prefetches its lines if that pays.
func (f *BloomFilter) ahead(l *keyList, first int, room *[batchSize]digest, add bool) []digest {
	group := l.digests(&f.scheme.hash, first, room, f.kernel.h1Only)
	if f.far() && len(group) > 0 {
		f.kernel.prefetch(&f.bitset, noescape.Slice(group), add)
	}
	return group
}

// work adds or looks up a group.
func (f *BloomFilter) work(group []digest, answers []bool, add bool) (count int) {
	do := f.kernel.contains
	switch {
	case add:
		do = f.kernel.add
	case f.kernel.containsMany != nil:
		var scratch [batchSize]bool
		if answers == nil {
			answers = scratch[:len(group)]
		}
		return f.kernel.containsMany(&f.bitset, noescape.Slice(group), noescape.Slice(answers))
	}
	for i := range group {
		count += answer(do(&f.bitset, group[i][0], group[i][1]), answers, i)
	}
	return count
}

// oneByOne is batch for strategies that need the key, and for adds to filters in the cache, where
// one key's hash overlaps the bits of another.
func (f *BloomFilter) oneByOne(l keyList, answers []bool, add bool) (count int) {
	if l.hashed {
		panic(f.scheme.misuse("a batch of digests"))
	}
	f.scheme.must()
	if add {
		for i := range l.n {
			count += answer(f.Add(l.key(uintptr(i)*l.size)), answers, i)
		}
		return count
	}
	for i := range l.n {
		count += answer(f.Contains(l.key(uintptr(i)*l.size)), answers, i)
	}
	return count
}

// answer stores the answer for the i-th key unless answers is nil, and returns 1 for yes.
func answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	if yes { // no branch in the compiled code
		return 1
	}
	return 0
}
