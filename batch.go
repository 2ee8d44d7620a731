package bloom

import (
	"unsafe"

	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/vector"
)

// batchSize is the number of keys in a group. AddMany and ContainsMany hash the next group and prefetch its cache
// lines, then add or look up the previous group. See BenchmarkBatch.
const batchSize = 32

// AddMany adds keys in order, as [BloomFilter.Add] does, but faster if the filter is larger than the cache. It returns
// how many of them were definitely new. If added is not nil, AddMany sets added[i] to what Add(keys[i]) would return.
// Of equal keys in one batch, only the first can be new.
//
// It panics if added is neither nil nor as long as keys. Package typed has batches of strings.
func (f *BloomFilter) AddMany(keys [][]byte, added []bool) int {
	return f.batch(keys, nil, added, vector.Add)
}

// ContainsMany looks up keys as [BloomFilter.Contains] does, but faster if the filter is larger
// than the cache. It returns how many of them were probably added. If found is not nil,
// ContainsMany sets found[i] to what Contains(keys[i]) would return.
//
// It panics if found is neither nil nor as long as keys.
func (f *BloomFilter) ContainsMany(keys [][]byte, found []bool) int {
	return f.batch(keys, nil, found, vector.Look)
}

// AddDigests is [BloomFilter.AddMany] for keys whose digests are already known, see
// [BloomFilter.AddDigest]. Each element is (h1, h2).
//
// It panics if added is neither nil nor as long as digests, and where AddDigest does.
func (f *BloomFilter) AddDigests(digests [][2]uint64, added []bool) int {
	return f.batch(nil, digests, added, vector.Add)
}

// ContainsDigests is [BloomFilter.ContainsMany] for keys whose digests are already known.
//
// It panics if found is neither nil nor as long as digests, and where ContainsDigest does.
func (f *BloomFilter) ContainsDigests(digests [][2]uint64, found []bool) int {
	return f.batch(nil, digests, found, vector.Look)
}

// batch adds or looks up keys or, if there are none, digests.
func (f *BloomFilter) batch(keys [][]byte, digests []digest, answers []bool, op vector.Op) (count int) {
	batch.CheckAnswers("bloom", len(keys)+len(digests), answers)
	switch {
	case f.kernel == nil && digests != nil:
		panic(f.scheme.misuse("a batch of digests"))
	case f.kernel == nil:
		return oneByOne(f, keys, answers, op)
	case len(keys) == 0 || f.prefetches(false, op):
	case f.byKey.HasMany():
		return f.byRow(keys, answers, op)
	case f.byDigest == nil || op == vector.Add && f.faster[vector.Add] == nil && f.byKey == nil:
		// One by one is faster in the cache: the processor hashes the next key during the lookup of this one.
		return oneByOne(f, keys, answers, op)
	}
	var buffer [2][batchSize]digest
	next := f.prepare(keys, digests, &buffer[0], op)
	for turn := 1; len(next) > 0; turn = 1 - turn {
		group := next
		if len(keys) > 0 {
			keys = keys[len(group):]
		} else {
			digests = digests[len(group):]
		}
		next = f.prepare(keys, digests, &buffer[turn], op)
		var part []bool
		if answers != nil {
			part, answers = answers[:len(group)], answers[len(group):]
		}
		count += f.group(group, part, op)
	}
	return count
}

// prefetches reports whether prefetching pays for this filter. hashed is true if the digests are known. Without a
// prefetch instruction, an ordinary load takes its place, so each cache line is loaded twice. If each key has several
// lines, that pays only for adds of keys that are not hashed yet: other keys are hashed during the loads. See
// TestBatchRatios.
func (f *BloomFilter) prefetches(hashed bool, op vector.Op) bool {
	return len(f.bits) >= f.kernel.prefetchFrom && (vector.Built || f.kernel.blockBytes > 0 || op == vector.Add && !hashed)
}

// prepare returns the next group of digests: the first of digests or, if there are keys, the digests of the first keys.
// It prefetches the cache lines of the group if that pays.
func (f *BloomFilter) prepare(keys [][]byte, digests []digest, buffer *[batchSize]digest, op vector.Op) []digest {
	group := digests[:min(batchSize, len(digests))]
	if len(keys) > 0 {
		group = buffer[:min(batchSize, len(keys))]
		f.scheme.sum(keys[:len(group)], group)
	}
	if len(group) > 0 && f.prefetches(len(keys) == 0, op) {
		f.prefetch(group, op == vector.Add)
	}
	return group
}

// prefetch prefetches the cache lines that lookups or, if write is true, adds of the group will use.
func (f *BloomFilter) prefetch(group []digest, write bool) {
	var at [vector.MostPrefetched]uint64 // byte offsets in the filter
	b, code := &f.kernelArgs, f.kernel
	if code.blockBytes > 0 {
		for i := range group {
			at[i%vector.MostPrefetched] = probe.Reduce(group[i][0]&code.selects, b.blocks) * code.blockBytes
		}
		vector.Prefetch(b.bits.start(), &at, len(group), write)
		return
	}
	lines := min(b.k, vector.MostPrefetched)
	if !write {
		lines = min(lines, 8) // most lookups of absent keys read at most four
	}
	positions := memory.NoEscape(at[:lines])
	for _, d := range group {
		code.positions(b, positions, d[0], d[1])
		for i, pos := range positions {
			positions[i] = pos / 64 * 8
		}
		vector.Prefetch(b.bits.start(), &at, lines, write)
	}
}

// group adds or looks up the keys of a group.
func (f *BloomFilter) group(group []digest, answers []bool, op vector.Op) (count int) {
	row := f.byDigest
	if op == vector.Add {
		row = f.faster[vector.Add]
	}
	if row != nil {
		var scratch [batchSize]bool
		if answers == nil {
			answers = scratch[:len(group)]
		}
		_, count = row.Many(f.vector(), unsafe.Pointer(&group[0]), unsafe.Sizeof(group[0]), answers, op)
		return count
	}
	do := f.kernel.contains
	if op == vector.Add {
		do = f.kernel.add
	}
	for i := range group {
		count += batch.Answer(do(&f.kernelArgs, group[i][0], group[i][1]), answers, i)
	}
	return count
}

// byRow adds or looks up keys by kernels in assembly. Keys that are too long for the kernels go through do, one by one.
func (f *BloomFilter) byRow(keys [][]byte, answers []bool, op vector.Op) (count int) {
	var scratch [8 * batchSize]bool
	for len(keys) > 0 {
		part := scratch[:min(len(scratch), len(keys))]
		if answers != nil {
			part = answers[:len(part)]
		}
		done, yes := f.byKey.Many(f.vector(), unsafe.Pointer(&keys[0]), unsafe.Sizeof(keys[0]), part, op)
		if count += yes; done < len(part) {
			count += batch.Answer(f.do(keys[done], op), part, done)
			done++
		}
		if keys = keys[done:]; answers != nil {
			answers = answers[done:]
		}
	}
	return count
}

func oneByOne(f *BloomFilter, keys [][]byte, answers []bool, op vector.Op) (count int) {
	f.scheme.must()
	for i, key := range keys {
		count += batch.Answer(f.do(key, op), answers, i)
	}
	return count
}
