package redisfilter

import "context"

// Add adds a key. It returns true if the key is definitely new and this call is the
// one that added it, false if it was probably there already. Of any number of
// processes that add the same new key at the same time, exactly one gets true;
// unless adding other keys has set all its bits before, an ordinary false
// positive, and then none does.
//
// An add is sent at most once. If no answer comes, the key may or may not be in
// the filter: the error then wraps [ErrUnknown], and [AddError] says what to do. It wraps
// [ErrLost] if the filter is gone or has gone back to an older value. One round trip, or
// none if the front filter knows the key, see [WithFront]; the first add of a handle takes
// three more. While some adds are under way, those of other goroutines wait for each other
// and go together in one command.
func (f *Filter) Add(ctx context.Context, key []byte) (added bool, err error) {
	return f.adds.do(ctx, key)
}

// AddString is [Filter.Add] for a string, without copying it.
func (f *Filter) AddString(ctx context.Context, key string) (added bool, err error) {
	return f.adds.do(ctx, bytesOf(key))
}

// AddMany adds keys as [Filter.Add] does one after the other, in one round trip for
// each 500. It returns how many of them were definitely new; if added is not nil, added[i]
// becomes what Add of keys[i] would return. Of equal keys in one batch, the first is the
// new one. It panics if added is neither nil nor as long as keys.
//
// If the error is not nil, it is an [AddError], which says which keys have no
// answer; the answers of the others are valid, and counted.
func (f *Filter) AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error) {
	return addMany(ctx, f, keys, added)
}

// AddStrings is [Filter.AddMany] for strings, without copying them.
func (f *Filter) AddStrings(ctx context.Context, keys []string, added []bool) (count int, err error) {
	return addMany(ctx, f, keys, added)
}

// Contains returns false if the key was definitely never added, true if it
// probably was. The error wraps [ErrLost] if the filter is gone, or has gone back to an older
// value than one that this handle has added to; false is no answer then.
func (f *Filter) Contains(ctx context.Context, key []byte) (found bool, err error) {
	return f.asks.do(ctx, key)
}

// ContainsString is [Filter.Contains] for a string, without copying it.
func (f *Filter) ContainsString(ctx context.Context, key string) (found bool, err error) {
	return f.asks.do(ctx, bytesOf(key))
}

// ContainsMany asks for keys as [Filter.Contains] does one after the other, in one
// round trip for each 500. It returns how many of them were probably added; if found is not
// nil, found[i] becomes what Contains of keys[i] would return. It panics if found is neither
// nil nor as long as keys.
//
// After an error, true is an answer, and false is none.
func (f *Filter) ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}

// ContainsStrings is [Filter.ContainsMany] for strings, without copying them.
func (f *Filter) ContainsStrings(ctx context.Context, keys []string, found []bool) (count int, err error) {
	return containsMany(ctx, f, keys, found)
}
