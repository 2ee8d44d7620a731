package rotating

import "github.com/seed3447c163/bloom/internal/digest"

// AddMany adds keys as [Filter.Add] does one after the other, and faster if the filter is
// larger than the cache. It returns how many of them were definitely new; if added is not
// nil, added[i] becomes what Add of keys[i] would return.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) int { return addMany(f, keys, added) }

// AddStrings is [Filter.AddMany] for strings, without copying them.
func (f *Filter) AddStrings(keys []string, added []bool) int { return addMany(f, keys, added) }

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

func addMany[K []byte | string](f *Filter, keys []K, added []bool) (count int) {
	digest.CheckAnswers("rotating", len(keys), added)
	clear(added)
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		digest.Hash(&b, f.scheme, keys[first:])
		f.askGroup(&b)
		for i := range b.Keys {
			if !b.Found[i] && f.AddDigest(b.H1[i], b.H2[i]) {
				count++
				if added != nil {
					added[first+i] = true
				}
			}
		}
	}
	return count
}

func containsMany[K []byte | string](f *Filter, keys []K, found []bool) (count int) {
	digest.CheckAnswers("rotating", len(keys), found)
	var b digest.Batch
	for first := 0; first < len(keys); first += digest.Group {
		digest.Hash(&b, f.scheme, keys[first:])
		count += f.askGroup(&b)
		b.Answer(found, first)
	}
	return count
}

// askGroup asks for a group of keys layer by layer and returns how many were found. It reads the
// clock once.
func (f *Filter) askGroup(b *digest.Batch) (count int) {
	now := f.live.Load()
	oldest := f.oldest(now)
	for i := len(*now) - 1; i >= 0 && (*now)[i].generation >= oldest; i-- {
		count += b.Ask((*now)[i].BloomFilter)
	}
	if f.live.Load() == now { // as in ContainsDigest: only then false is false
		return count
	}
	for j := range b.Keys {
		if !b.Found[j] && f.follow(b.H1[j], b.H2[j], oldest) {
			b.Found[j] = true
			count++
		}
	}
	return count
}
