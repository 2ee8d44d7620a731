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

// ask looks the group up in layers, the last one first. A layer is asked only for the keys that no later
// one has.
func (b *Batch) ask(layers Layers) {
	clear(b.Found[:b.Keys])
	count := 0
	for i := len(layers) - 1; i >= 0 && count < b.Keys; i-- {
		f := layers[i]
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
}

// InCache is the size of a filter up to which lookups one by one are faster than a batch, see BenchmarkAsk.
// Only tests change it.
var InCache uint64 = 1 << 20

// one is 1 for true. The compiler makes no branch of it.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// AddMany adds keys by add, and stops at its first error. If the layers are larger than the cache, it calls
// add only for keys that no layer has. It loads the layers once per group.
func AddMany(s bloom.Scheme, keys [][]byte, added []bool, now func() Layers, add func(h1, h2 uint64) (bool, error)) (count int, err error) {
	clear(added)
	var b Batch
	for first := 0; first < len(keys); first += Group {
		group := keys[first:min(first+Group, len(keys))]
		b.begin(s, group, now())
		for i, key := range group {
			var yes bool
			if b.Keys == 0 {
				yes, err = add(s.Digest(key))
			} else if !b.Found[i] {
				yes, err = add(b.Digests[i][0], b.Digests[i][1])
			}
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
		group, layers := keys[first:min(first+Group, len(keys))], now()
		b.begin(s, group, layers)
		for i, key := range group {
			yes := b.Found[i]
			if b.Keys == 0 {
				h1, h2 := s.Digest(key)
				yes = layers.Youngest(h1, h2, 0) != nil
			}
			count += Answer(yes, found, first+i)
		}
	}
	return count
}

// begin looks up a group of keys, or none if the layers fit the cache: lookups one by one are faster there.
func (b *Batch) begin(s bloom.Scheme, keys [][]byte, layers Layers) {
	b.Keys = 0
	if len(layers) > 0 && layers.Newest().SizeBytes() > InCache {
		b.Hash(s, keys)
		b.ask(layers)
	}
}

// Answer stores the answer to the i-th key if the caller wants it, and counts it.
func Answer(yes bool, answers []bool, i int) int {
	if answers != nil {
		answers[i] = yes
	}
	return one(yes)
}
