package rebloom

import (
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/digest"
	"github.com/seed3447c163/bloom/internal/layered"
)

// AddMany adds keys in order, as BF.MADD does. It returns how many of them were definitely new;
// if added is not nil, added[i] becomes what Add of keys[i] would return. It stops at the first
// key for which there is no room. The keys after it are not added, and their added[i] is false.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	digest.CheckAnswers("rebloom", len(keys), added)
	clear(added)
	var b layered.Batch
	for first := 0; first < len(keys); first += layered.Group {
		layers := f.all()
		b.Hash(layers[0].Scheme(), keys[first:])
		ask(layers, &b)
		for i, d := range b.Digests[:b.Keys] {
			if b.Found[i] {
				continue
			}
			yes, err := f.add(d[0], d[1])
			if err != nil {
				return count, err
			}
			count += layered.Answer(yes, added, first+i)
		}
	}
	return count, nil
}

// ContainsMany looks up keys, faster than [Filter.Contains] if the filter is larger than the
// cache. It returns how many of them were probably added; if found is not nil, found[i] becomes
// what Contains of keys[i] would return.
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	digest.CheckAnswers("rebloom", len(keys), found)
	layers := f.all()
	var b layered.Batch
	for first := 0; first < len(keys); first += layered.Group {
		b.Hash(layers[0].Scheme(), keys[first:])
		count += ask(layers, &b)
		if found != nil {
			copy(found[first:], b.Found[:b.Keys])
		}
	}
	return count
}

// ask looks a group up in the layers, newest first, and returns how many keys were found.
func ask(layers []*layer, b *layered.Batch) int {
	return b.Ask(len(layers), func(i int) *bloom.BloomFilter { return layers[i].BloomFilter })
}
