package layered

import "github.com/seed3447c163/bloom"

// Group is how many keys of a batch are hashed together: enough for the batches of package bloom
// to overlap their cache misses.
const Group = 64

// A Batch is a group of keys, each with its digest and its answer.
type Batch struct {
	Keys    int // how many the group has
	Digests [Group][2]uint64
	Found   [Group]bool

	pending [Group][2]uint64 // digests without an answer yet
	index   [Group]uint8     // of pending digests among all
	answers [Group]bool      // to pending digests
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
	if filters == 0 {
		clear(b.Found[:b.Keys])
		return 0
	}
	last := filters - 1
	count = filter(last).ContainsDigests(b.Digests[:b.Keys], b.Found[:b.Keys])
	if last == 0 || count == b.Keys {
		return count
	}
	left := 0
	for i, d := range b.Digests[:b.Keys] {
		b.pending[left], b.index[left] = d, uint8(i)
		left += one(!b.Found[i])
	}
	for i := last - 1; i >= 0 && left > 0; i-- {
		found := filter(i).ContainsDigests(b.pending[:left], b.answers[:left])
		if found == 0 {
			continue
		}
		count += found
		asked := left
		left = 0
		for j, yes := range b.answers[:asked] {
			b.Found[b.index[j]] = yes
			b.pending[left], b.index[left] = b.pending[j], b.index[j]
			left += one(!yes)
		}
	}
	return count
}

// one is 1 for true. The compiler makes no branch of it.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Answer stores the answer to the i-th key if the caller wants it, and counts it.
func Answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	return one(yes)
}
