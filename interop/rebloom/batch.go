package rebloom

import "github.com/seed3447c163/bloom/internal/digest"

// AddMany adds keys as [Filter.Add] does one after the other, which is BF.MADD. It returns
// how many of them were definitely new; if added is not nil, added[i] becomes what Add of
// keys[i] would return. It stops at the first key for which there is no room; those after
// it are not added, and their added[i] is false.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int, err error) {
	digest.CheckAnswers("rebloom", len(keys), added)
	clear(added)
	for i, key := range keys {
		yes, err := f.Add(key)
		if err != nil {
			return count, err
		}
		if yes {
			count++
			if added != nil {
				added[i] = true
			}
		}
	}
	return count, nil
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other, and faster if
// the filter is larger than the cache. It returns how many of them were probably added; if
// found is not nil, found[i] becomes what Contains of keys[i] would return.
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	digest.CheckAnswers("rebloom", len(keys), found)
	layers := f.all()
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		group := keys[first:min(first+digest.Group, len(keys))]
		digest.Hash(&b, layers[0].Scheme(), group)
		for i := len(layers) - 1; i >= 0; i-- {
			for j := range group {
				if !b.Found[j] && layers[i].ContainsHash(b.H1[j], b.H2[j]) {
					b.Found[j] = true
					count++
				}
			}
		}
		if found != nil {
			copy(found[first:], b.Found[:len(group)])
		}
	}
	return count
}
