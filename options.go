package bloom

import (
	"fmt"
	"math"
)

// An Option changes what New would choose by itself.
type Option func(*options)

// options are what was asked for; nil and the zero Strategy stand for no wish.
type options struct {
	strategy Strategy
	hash     *hashDefinition
	seed     *uint64
	key      *[16]byte
	maxBytes uint64
	err      error // the first option that is wrong by itself
}

// newOptions returns what is asked for of a new filter.
func newOptions(opts []Option) (options, error) {
	o := options{strategy: Strategy{&doubleHashing}, maxBytes: math.MaxUint64}
	if len(opts) == 0 {
		return o, nil // which stays on the stack
	}
	return o.with(opts)
}

func (o options) with(opts []Option) (options, error) {
	for i, opt := range opts {
		if opt == nil {
			return o, fmt.Errorf("%w: option %d of %d is nil", ErrInvalid, i+1, len(opts))
		}
		opt(&o)
	}
	return o, o.err
}

// refuse notes the first error of an option.
func (o *options) refuse(err error) {
	if o.err == nil {
		o.err = err
	}
}

// WithStrategy chooses how a key's positions are found. The default is
// [DoubleHashing].
func WithStrategy(s Strategy) Option {
	return func(o *options) {
		o.refuse(s.validate())
		o.strategy = s
	}
}

// WithHash chooses the hash, such as [MapHash] or one of your own. The default is
// [Murmur3].
func WithHash(h Hash) Option {
	return func(o *options) {
		o.refuse(h.validate())
		o.hash = h.def
	}
}

// WithSeed starts Murmur3 at a seed other than 0, so that the filters of two
// services err on different keys; a strategy that takes the key itself gets the seed
// too. Filters with different seeds are not compatible. A seed is no secret key: keys
// that collide under every seed can be made in a millisecond. For those there is
// [WithKey].
//
// The seeds 1 to 8 of Murmur3 stand for themselves xor 0x9e3779b97f4a7c15: Murmur3 with
// one of them makes half a digest of the keys that are as many bytes long.
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

// WithMaxBytes refuses a filter whose bits take more than the given bytes of
// memory, by an error that wraps [ErrTooLarge]: for parameters or bytes that come
// from strangers. Without it the limit is the machine's memory.
func WithMaxBytes(bytes uint64) Option {
	return func(o *options) { o.maxBytes = bytes }
}

// checkSize holds m to WithMaxBytes.
func (o *options) checkSize(m uint64) error {
	if bytes := wordsFor(m) * 8; bytes > o.maxBytes {
		return fmt.Errorf("%w: m = %d bits are %d bytes, want at most %d", ErrTooLarge, m, bytes, o.maxBytes)
	}
	return nil
}

// hasher puts the options about hashing together, and refuses those that exclude
// each other.
func (o *options) hasher() (hasher, error) {
	switch {
	case o.key != nil && o.seed != nil:
		return hasher{}, fmt.Errorf("%w: a seed and a key, want at most one", ErrInvalid)
	case o.hash != nil && o.key != nil:
		return hasher{}, fmt.Errorf("%w: hash %q and a key, want at most one: WithKey stands for SipHash", ErrInvalid, o.hash.name)
	case o.strategy.NeedsKey() && (o.hash != nil && o.hash != &noHash || o.key != nil):
		return hasher{}, fmt.Errorf("%w: strategy %q has a hash of its own, want no other hash or key", ErrInvalid, o.strategy)
	case o.hash == &noHash && !o.strategy.NeedsKey():
		return hasher{}, fmt.Errorf("%w: no hash with strategy %q, want one such as Murmur3", ErrInvalid, o.strategy)
	case o.hash != nil && o.hash != &murmur3Hash && o.hash != &noHash && o.seed != nil:
		return hasher{}, fmt.Errorf("%w: hash %q and a seed, which it does not take", ErrInvalid, o.hash.name)
	case o.key != nil:
		return keyedHasher(*o.key), nil
	}
	h := hasher{hash: &murmur3Hash}
	if o.hash != nil {
		h.hash = o.hash
	}
	if o.seed != nil {
		h.k0 = murmurSeed(*o.seed)
	}
	if o.strategy.NeedsKey() {
		h.hash = &noHash
		if o.seed != nil {
			h.k0 = *o.seed
		}
	}
	return h, nil
}
