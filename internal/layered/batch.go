package layered

import (
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/batch"
)

// Group is the number of keys that are hashed and looked up together, so that their cache misses overlap.
const Group = 64

// A Batch is a group of keys, each with its digest and its answer.
type Batch struct {
	Keys    int // number of keys in the group
	Digests [Group][2]uint64
	Found   [Group]bool

	pending [Group][2]uint64 // digests of the keys that are not found yet
	index   [Group]uint8     // index[i] is the place of pending[i] in the group
	answers [Group]bool      // one layer's answers to pending
}

// Hash hashes the first keys, at most Group, and sets Keys to their number.
func (b *Batch) Hash(s *bloom.Scheme, keys [][]byte) {
	b.Keys = min(len(keys), Group)
	for i, key := range keys[:b.Keys] {
		b.Digests[i][0], b.Digests[i][1] = s.Digest(key)
	}
}

// ask looks up the group, in the newest layer first. It looks up a key in a layer only if no newer layer has it.
func (b *Batch) ask(layers Layers) {
	clear(b.Found[:b.Keys])
	count := 0
	for i := len(layers) - 1; i >= 0 && count < b.Keys; i-- {
		f := layers[i]
		left := 0
		for j, d := range b.Digests[:b.Keys] {
			b.pending[left], b.index[left] = d, uint8(j)
			left += batch.One(!b.Found[j])
		}
		count += f.ContainsDigests(b.pending[:left], b.answers[:left])
		for j, yes := range b.answers[:left] {
			b.Found[b.index[j]] = yes
		}
	}
}

// InCache is the size of a filter in bytes up to which lookups one by one are faster than a batch, see BenchmarkAsk.
// Only tests change it.
var InCache uint64 = 1 << 20

// AddMany calls add for each key until add returns an error. It stores the answers in added, if not nil, and returns
// the number of true ones. now returns the layers; AddMany calls it once per group. If the layers are larger than the
// cache, it calls add only for keys that no layer has.
func AddMany(s *bloom.Scheme, keys [][]byte, added []bool, now func() Layers, add func(h1, h2 uint64) (bool, error)) (count int, err error) {
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
			count += batch.Answer(yes, added, first+i)
		}
	}
	return count, nil
}

// ContainsMany looks up keys and returns the number of true answers. If found is not nil, ContainsMany sets found[i] to
// the answer for key i. now returns the layers; ContainsMany calls it once per group.
func ContainsMany(s *bloom.Scheme, keys [][]byte, found []bool, now func() Layers) (count int) {
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
			count += batch.Answer(yes, found, first+i)
		}
	}
	return count
}

// begin looks up a group of keys if the newest layer is larger than InCache. Otherwise it sets Keys to 0.
func (b *Batch) begin(s *bloom.Scheme, keys [][]byte, layers Layers) {
	b.Keys = 0
	if len(layers) > 0 && layers.Newest().SizeBytes() > InCache {
		b.Hash(s, keys)
		b.ask(layers)
	}
}
