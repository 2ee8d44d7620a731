package bloom

import "fmt"

// An Option changes what New would choose by itself.
type Option func(*options)

type options struct {
	strategy Strategy
	hash     Hash
	seed     *uint64
	key      *[16]byte
}

func newOptions(opts []Option) options {
	o := options{strategy: DoubleHashing}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithStrategy chooses how a key's positions are found. The default is
// [DoubleHashing].
func WithStrategy(s Strategy) Option {
	return func(o *options) { o.strategy = s }
}

// WithHash chooses the hash, [Murmur3] or [MapHash]. The default is Murmur3.
func WithHash(h Hash) Option {
	return func(o *options) { o.hash = h }
}

// WithSeed starts Murmur3 at a seed other than 0, so that the filters of two
// services err on different keys. Filters with different seeds are not
// compatible. A seed is no secret key: keys that collide under every seed can be
// made in a millisecond. For those there is [WithKey].
//
// A key of 1 to 8 bytes whose length is the seed is hashed with the seed xor
// 0x9e3779b97f4a7c15 instead: with its own length as the seed, Murmur3 makes a
// digest whose halves follow from each other.
func WithSeed(seed uint64) Option {
	return func(o *options) { o.seed = &seed }
}

// WithKey hashes by SipHash-2-4 under a secret key, for filters whose keys are
// chosen by strangers and that other processes must understand too. Without the
// key nobody can make keys that collide, or tell which keys are false positives.
// It takes about twice the time of Murmur3. The key should be 16 random bytes, from
// crypto/rand; filters with different keys are not compatible. Where the filter
// does not leave the process, [MapHash] gives the same safety and is faster.
func WithKey(key [16]byte) Option {
	return func(o *options) { o.key = &key }
}

// hasher puts the options about hashing together, and refuses those that exclude
// each other.
func (o *options) hasher() (hasher, error) {
	switch {
	case o.hash != Murmur3 && o.hash != MapHash:
		return hasher{}, fmt.Errorf("%w: hash %v, want Murmur3 or MapHash", ErrInvalid, o.hash)
	case o.key != nil && o.seed != nil:
		return hasher{}, fmt.Errorf("%w: a seed and a key, want at most one", ErrInvalid)
	case o.hash == MapHash && (o.key != nil || o.seed != nil):
		return hasher{}, fmt.Errorf("%w: MapHash has a seed of its own, want no seed or key", ErrInvalid)
	case o.strategy.needsKey() && (o.hash == MapHash || o.key != nil):
		return hasher{}, fmt.Errorf("%w: strategy %q has a hash of its own, want no other hash or key", ErrInvalid, o.strategy)
	case o.key != nil:
		return keyedHasher(*o.key), nil
	case o.seed != nil:
		return hasher{hash: Murmur3, k0: *o.seed}, nil
	}
	return hasher{hash: o.hash}, nil
}
