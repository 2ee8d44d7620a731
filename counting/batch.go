package counting

import "github.com/seed3447c163/bloom/internal/digest"

// AddMany adds keys as [Filter.Add] does one after the other. It returns how many of
// them were definitely new; if added is not nil, added[i] becomes what Add of keys[i]
// would return.
//
// It panics if added is neither nil nor as long as keys.
func (f *Filter) AddMany(keys [][]byte, added []bool) (count int) {
	digest.CheckAnswers("counting", len(keys), added)
	for i, key := range keys {
		yes := f.Add(key)
		count = answer(added, i, yes, count)
	}
	return count
}

// AddStrings is [Filter.AddMany] for strings, without copying them.
func (f *Filter) AddStrings(keys []string, added []bool) (count int) {
	digest.CheckAnswers("counting", len(keys), added)
	for i, key := range keys {
		yes := f.AddString(key)
		count = answer(added, i, yes, count)
	}
	return count
}

// RemoveMany removes keys as [Filter.Remove] does one after the other. It returns how
// many of them were probably there; if removed is not nil, removed[i] becomes what Remove
// of keys[i] would return.
//
// It panics if removed is neither nil nor as long as keys.
func (f *Filter) RemoveMany(keys [][]byte, removed []bool) (count int) {
	digest.CheckAnswers("counting", len(keys), removed)
	for i, key := range keys {
		yes := f.Remove(key)
		count = answer(removed, i, yes, count)
	}
	return count
}

// RemoveStrings is [Filter.RemoveMany] for strings, without copying them.
func (f *Filter) RemoveStrings(keys []string, removed []bool) (count int) {
	digest.CheckAnswers("counting", len(keys), removed)
	for i, key := range keys {
		yes := f.RemoveString(key)
		count = answer(removed, i, yes, count)
	}
	return count
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other. It returns
// how many of them are probably there; if found is not nil, found[i] becomes what
// Contains of keys[i] would return.
//
// It panics if found is neither nil nor as long as keys.
func (f *Filter) ContainsMany(keys [][]byte, found []bool) (count int) {
	digest.CheckAnswers("counting", len(keys), found)
	for i, key := range keys {
		yes := f.Contains(key)
		count = answer(found, i, yes, count)
	}
	return count
}

// ContainsStrings is [Filter.ContainsMany] for strings, without copying them.
func (f *Filter) ContainsStrings(keys []string, found []bool) (count int) {
	digest.CheckAnswers("counting", len(keys), found)
	for i, key := range keys {
		yes := f.ContainsString(key)
		count = answer(found, i, yes, count)
	}
	return count
}

// answer notes one answer, if there is room for them, and counts those that are yes.
func answer(answers []bool, i int, yes bool, count int) int {
	if answers != nil {
		answers[i] = yes
	}
	if yes {
		count++
	}
	return count
}
