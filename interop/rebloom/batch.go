package rebloom

import "github.com/seed3447c163/bloom/internal/digest"

// AddMany adds keys as [Filter.Add] does one after the other, which is BF.MADD. It returns
// how many of them were definitely new; if added is not nil, added[i] becomes what Add of
// keys[i] would return. It stops at the first key for which there is no room; those after
// it are not added, and their added[i] is false.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (int, error) { return addMany(f, keys, added) }

// AddStrings is [Filter.AddMany] for strings, without copying them.
func (f *Filter) AddStrings(keys []string, added []bool) (int, error) {
	return addMany(f, keys, added)
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other, and faster if
// the filter is larger than the cache. It returns how many of them were probably added; if
// found is not nil, found[i] becomes what Contains of keys[i] would return.
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) int { return containsMany(f, keys, found) }

// ContainsStrings is [Filter.ContainsMany] for strings, without copying them.
func (f *Filter) ContainsStrings(keys []string, found []bool) int {
	return containsMany(f, keys, found)
}

func addMany[K []byte | string](f *Filter, keys []K, added []bool) (count int, err error) {
	digest.CheckAnswers("rebloom", len(keys), added)
	clear(added)
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		layers := f.all()
		digest.Hash(&b, layers[0].Scheme(), keys[first:])
		askGroup(layers, &b)
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

func containsMany[K []byte | string](f *Filter, keys []K, found []bool) (count int) {
	digest.CheckAnswers("rebloom", len(keys), found)
	layers := f.all()
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		digest.Hash(&b, layers[0].Scheme(), keys[first:])
		count += askGroup(layers, &b)
		b.Answer(found, first)
	}
	return count
}

// askGroup asks for a group of keys layer by layer and returns how many were found.
func askGroup(layers []*layer, b *digest.Batch) (count int) {
	for i := len(layers) - 1; i >= 0; i-- {
		count += b.Ask(layers[i].BloomFilter)
	}
	return count
}
