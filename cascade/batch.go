package cascade

import digests "github.com/seed3447c163/bloom/internal/digest"

// ContainsMany asks for keys as [Cascade.Contains] does one after the other, and faster if
// the cascade is larger than the cache. It returns how many of them are in; if found is not
// nil, found[i] becomes what Contains of keys[i] would return.
//
// It panics if found is neither nil nor as long as keys.
func (c *Cascade) ContainsMany(keys [][]byte, found []bool) int { return containsMany(c, keys, found) }

// ContainsStrings is [Cascade.ContainsMany] for strings, without copying them.
func (c *Cascade) ContainsStrings(keys []string, found []bool) int {
	return containsMany(c, keys, found)
}

func containsMany[K []byte | string](c *Cascade, keys []K, found []bool) (count int) {
	digests.CheckAnswers("cascade", len(keys), found)
	clear(found)
	if len(c.filters) == 0 {
		return 0
	}
	var b digests.Batch
	for first := 0; first < len(keys); first += digests.Group {
		digests.Hash(&b, c.filters[0].Scheme(), keys[first:])
		count += c.askGroup(&b)
		b.Answer(found, first)
	}
	return count
}

// askGroup asks level by level, each for the keys that the ones before have: the
// questions to a level do not depend on each other. It returns how many keys are in.
func (c *Cascade) askGroup(b *digests.Batch) (count int) {
	var asked [digests.Group]int // numbers of the keys that all levels so far have
	for j := range b.Keys {
		asked[j] = j
	}
	left := asked[:b.Keys]
	for i, f := range c.filters {
		passed := 0
		for _, j := range left {
			if f.ContainsDigest(level(b.H1[j], b.H2[j], i)) {
				left[passed] = j
				passed++
			} else {
				b.Found[j] = i%2 == 1
			}
		}
		left = left[:passed]
	}
	for _, j := range left {
		b.Found[j] = len(c.filters)%2 == 1
	}
	for _, in := range b.Found[:b.Keys] {
		if in {
			count++
		}
	}
	return count
}
