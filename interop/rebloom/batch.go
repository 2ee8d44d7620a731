package rebloom

import "github.com/seed3447c163/bloom/internal/digest"

// AddMany adds keys in order, as BF.MADD does. It returns how many of them were definitely new;
// if added is not nil, added[i] becomes what Add of keys[i] would return. It stops at the first
// key for which there is no room. The keys after it are not added, and their added[i] is false.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	digest.CheckAnswers("rebloom", len(keys), added)
	clear(added)
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		f.lookUp(&b, keys[first:])
		for i := range b.Keys {
			if b.Found[i] {
				continue
			}
			yes, err := f.add(b.H1[i], b.H2[i])
			if err != nil {
				return count, err
			}
			if yes {
				count++
				if added != nil {
					added[first+i] = true
				}
			}
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
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		count += f.lookUp(&b, keys[first:])
		b.Answer(found, first)
	}
	return count
}

// lookUp looks up a group of keys layer by layer and returns how many were found.
func (f *Filter) lookUp(b *digest.Batch, keys [][]byte) (count int) {
	layers := f.all()
	digest.Hash(b, layers[0].Scheme(), keys)
	for i := len(layers) - 1; i >= 0; i-- {
		count += b.Ask(layers[i].BloomFilter)
	}
	return count
}
