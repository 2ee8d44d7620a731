package bloom

import (
	"math"
	"slices"
)

// An Option changes a default of New.
type Option func(*options)

// options holds the caller's choices; nil and the zero Strategy mean unset.
type options struct {
	strategy Strategy
	hash     *Hash
	seed     *uint64
	keyed    func(key []byte) (h1, h2 uint64) // SipHash under the secret, nil if there is none
	maxBytes uint64
	err      error // of the first option that is invalid by itself
}

// newOptions returns the options of a new filter. The strategy and the hash are set.
func newOptions(opts []Option) (o options, err error) {
	o = options{strategy: Strategy{&doubleHashing}, maxBytes: math.MaxUint64}
	if len(opts) > 0 { // without options, o stays on the stack
		if o, err = o.with(opts); err != nil {
			return o, err
		}
	}
	o.hash, err = o.chooseHash()
	return o, err
}

// readOptions returns the options of a reader.
func readOptions(opts []Option) (options, error) {
	return options{maxBytes: math.MaxUint64}.with(opts)
}

func (o options) with(opts []Option) (options, error) {
	for i, opt := range opts {
		if opt == nil {
			return o, invalid("option %d of %d is nil", i+1, len(opts))
		}
		opt(&o)
	}
	return o, o.err
}

// refuse keeps err if it is the first error. err may be nil.
func (o *options) refuse(err error) {
	if o.err == nil {
		o.err = err
	}
}

// WithStrategy sets the strategy. The default is [DoubleHashing].
func WithStrategy(s Strategy) Option {
	return func(o *options) {
		o.refuse(s.validate())
		o.strategy = s
	}
}

// WithHash sets the hash, such as [MapHash] or a custom one. The default is [Murmur3]. The hash of a scheme with a
// secret needs [WithSecret], too.
func WithHash(h *Hash) Option {
	return func(o *options) {
		o.refuse(h.validate())
		o.hash = h
	}
}

// WithSeed sets the seed of Murmur3, RapidHash, or a strategy that hashes the key itself. The default is 0. Filters
// with different seeds have different false positives and are not compatible. A seed does not protect against chosen
// keys, because an attacker can make keys that collide under every seed: use [WithSecret]. Murmur3 ignores the highest
// bit of a seed. Seeds that differ only in this bit give the same positions, but their filters are not compatible.
//
// The initial state of Murmur3 is two equal halves: 0 for seed 0, otherwise seed·0x9e3779b97f4a7c15 mod 2^64 with the
// highest bit set. Without the highest bit, a half could equal the length of a key, and one half of the digest would
// follow from the other.
func WithSeed(seed uint64) Option {
	return func(o *options) { o.seed = &seed }
}

// WithSecret hashes with SipHash-2-4 and a secret. Use it if keys come from untrusted sources and
// other processes read the filter. Without the secret, an attacker cannot make keys that collide or
// predict false positives. SipHash takes about twice the time of Murmur3. The secret should be
// 16 random bytes from crypto/rand. Filters with different secrets are not compatible.
// [MapHash] is as safe, and faster for filters that do not leave the process.
//
// A secret of zeros is refused, because it looks unset.
func WithSecret(secret [16]byte) Option {
	return func(o *options) {
		if secret == ([16]byte{}) {
			o.refuse(invalid("the secret is 16 zero bytes, want random ones"))
		}
		o.keyed = keyed(secret)
	}
}

// WithMaxBytes limits the memory of a filter's bits, for parameters or bytes from untrusted
// sources. A larger filter is refused with an error that wraps [ErrTooLarge]. The default limit is
// the machine's memory.
func WithMaxBytes(bytes uint64) Option {
	return func(o *options) { o.maxBytes = bytes }
}

// MaxBytes returns the limit that [WithMaxBytes] sets in opts, or math.MaxUint64 if none does. It is for packages that
// apply one limit to several filters together.
func MaxBytes(opts ...Option) uint64 {
	opts = slices.DeleteFunc(slices.Clone(opts), func(opt Option) bool { return opt == nil }) // New refuses nil
	o, _ := readOptions(opts)
	return o.maxBytes
}

// chooseHash returns the hash, or an error for options that exclude each other.
func (o *options) chooseHash() (*Hash, error) {
	hash := o.hash
	switch {
	case hash != nil:
	case o.strategy.NeedsKey():
		hash = &noHash
	default:
		hash = &murmur3Hash
	}
	switch {
	case o.strategy.NeedsKey() && (hash != &noHash || o.keyed != nil):
		return nil, invalid("strategy %q has a hash of its own, want no other hash or secret", o.strategy)
	case !o.strategy.NeedsKey() && hash == &noHash:
		return nil, invalid("no hash with strategy %q, want one such as Murmur3", o.strategy)
	case o.keyed != nil && o.seed != nil:
		return nil, invalid("a seed and a secret, want at most one")
	case o.keyed == nil && hash == &sipHash:
		return nil, invalid("hash %v without a secret, want WithSecret", hash)
	case o.keyed != nil && o.hash != nil && hash != &sipHash:
		return nil, invalid("hash %q and a secret, want at most one: WithSecret chooses SipHash", hash)
	case o.keyed != nil:
		return &sipHash, nil
	case o.seed != nil && hash.start == nil:
		return nil, invalid("hash %q and a seed, which it does not take", hash)
	}
	return hash, nil
}
