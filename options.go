package bloom

// An Option changes what New would choose by itself.
type Option func(*options)

type options struct {
	strategy Strategy
	hash     hasher
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

// WithSeed starts Murmur3 at a seed other than 0, so that the filters of two
// services err on different keys. Filters with different seeds are not
// compatible. A seed is no secret key: keys that collide under every seed can be
// made in a millisecond.
func WithSeed(seed uint64) Option {
	return func(o *options) { o.hash.seed = seed }
}
