package redisfilter

import "context"

// A Set is what all filters of this module have in common, so that a program
// can choose by configuration where its filter is: in the process ([Local]), in
// Redis ([Filter], packages growing and window), in a bitmap that another service owns
// (package bitmap), or in the RedisBloom module (package module). All of them are safe for concurrent use.
type Set interface {
	// Add adds a key. It returns true if the key is definitely new and this call
	// is the one that added it, false if it was probably there already.
	Add(ctx context.Context, key []byte) (added bool, err error)

	// AddMany adds keys as Add does one after the other, and returns how many were
	// new. If added is not nil, added[i] becomes what Add of keys[i] would return; of
	// equal keys, the first is the new one.
	AddMany(ctx context.Context, keys [][]byte, added []bool) (count int, err error)

	// Contains returns false if the key was definitely never added, true if it
	// probably was.
	Contains(ctx context.Context, key []byte) (found bool, err error)

	// ContainsMany asks for keys as Contains does one after the other, and returns how
	// many were probably there. If found is not nil, found[i] becomes what Contains of
	// keys[i] would return.
	ContainsMany(ctx context.Context, keys [][]byte, found []bool) (count int, err error)
}

var (
	_ Set = (*Filter)(nil)
	_ Set = (*Local)(nil)
)
