package layered

import "github.com/seed3447c163/bloom"

// Group is how many keys of a batch are hashed together: enough for package bloom to overlap cache
// misses.
const Group = 64

// A Batch is a group of keys, each with its digest and its answer.
type Batch struct {
	Keys    int // in the group
	Digests [Group][2]uint64
	Found   [Group]bool

	pending [Group][2]uint64 // digests of the keys that were not found yet
	index   [Group]uint8     // of these keys in the group
	answers [Group]bool      // of one filter to pending
}

// Hash begins a group with the first keys of a batch.
func (b *Batch) Hash(s bloom.Scheme, keys [][]byte) {
	b.Keys = min(len(keys), Group)
	for i, key := range keys[:b.Keys] {
		b.Digests[i][0], b.Digests[i][1] = s.Digest(key)
	}
}

// Ask looks the group up in filters, the last one first, and returns how many keys were found. A
// filter is asked only for the keys that no later one has.
func (b *Batch) Ask(filters int, filter func(i int) *bloom.BloomFilter) (count int) {
	clear(b.Found[:b.Keys])
	for i := filters - 1; i >= 0 && count < b.Keys; i-- {
		f := filter(i)
		if f.SizeBytes() <= inCache {
			for j, d := range b.Digests[:b.Keys] {
				if !b.Found[j] && f.ContainsDigest(d[0], d[1]) {
					b.Found[j] = true
					count++
				}
			}
			continue
		}
		left := 0
		for j, d := range b.Digests[:b.Keys] {
			b.pending[left], b.index[left] = d, uint8(j)
			left += one(!b.Found[j])
		}
		count += f.ContainsDigests(b.pending[:left], b.answers[:left])
		for j, yes := range b.answers[:left] {
			b.Found[b.index[j]] = yes
		}
	}
	return count
}

// inCache is the size up to which lookups one by one are faster than a batch. BenchmarkAsk.
const inCache = 1 << 20

// one is 1 for true. The compiler makes no branch of it.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// AddMany adds keys that no layer has by add, and stops at its first error. It loads the layers once per
// group.
func AddMany(s bloom.Scheme, keys [][]byte, added []bool, now func() Layers, add func(h1, h2 uint64) (bool, error)) (count int, err error) {
	clear(added)
	var b Batch
	for first := 0; first < len(keys); first += Group {
		layers := now()
		b.Hash(s, keys[first:])
		layers.Ask(&b)
		for i, d := range b.Digests[:b.Keys] {
			if b.Found[i] {
				continue
			}
			yes, err := add(d[0], d[1])
			if err != nil {
				return count, err
			}
			count += Answer(yes, added, first+i)
		}
	}
	return count, nil
}

// ContainsMany looks up keys. It loads the layers once per group.
func ContainsMany(s bloom.Scheme, keys [][]byte, found []bool, now func() Layers) (count int) {
	var b Batch
	for first := 0; first < len(keys); first += Group {
		layers := now()
		b.Hash(s, keys[first:])
		count += layers.Ask(&b)
		if found != nil {
			copy(found[first:], b.Found[:b.Keys])
		}
	}
	return count
}

// Answer stores the answer to the i-th key if the caller wants it, and counts it.
func Answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	return one(yes)
}
