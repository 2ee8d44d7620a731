package bloom

// compatible returns nil if every key has the same positions in both filters: equal m, k, strategy, hash, and seed or
// secret. n and p may differ.
func (f *BloomFilter) compatible(other *BloomFilter) error {
	if other == nil {
		return invalid("the other filter is nil")
	}
	x, y := f.scheme, other.scheme
	if x == nil || y == nil {
		return errZero
	}
	a, b := x.params, y.params
	switch {
	case x == y:
		return nil
	case a.M != b.M:
		return fail(ErrIncompatible, "m = %d and %d", a.M, b.M)
	case a.K != b.K:
		return fail(ErrIncompatible, "k = %d and %d", a.K, b.K)
	case x.strategy.identity() != y.strategy.identity():
		return fail(ErrIncompatible, "strategies %s and %s", x.strategy.identity(), y.strategy.identity())
	case x.hash.identity() != y.hash.identity():
		return fail(ErrIncompatible, "hashes %s and %s", x.hash.identity(), y.hash.identity())
	case x.hash == &sipHash && x.checkValue() != y.checkValue():
		return fail(ErrIncompatible, "different secrets")
	case x.seed != y.seed:
		return fail(ErrIncompatible, "seeds %d and %d", x.seed, y.seed)
	}
	return nil
}

// Union adds every key of other to f, in O(m). Afterwards f equals a filter to which the keys of both were added. Keys
// may be added to both filters while Union runs. Then f may lack a key that is added to other during Union, and an Add
// to f of a key that is in other may have no winner.
//
// Union sets bits by locked instructions. To unite filters in a new one, begin with a [BloomFilter.Clone] of the
// fullest: Clone needs no locked instructions.
//
// The error wraps [ErrIncompatible] if m, k, strategy, hash, seed or secret differ, or [ErrInvalid] if other is nil.
// Then f is unchanged. n and p may differ.
func (f *BloomFilter) Union(other *BloomFilter) error {
	if err := f.compatible(other); err != nil {
		return err
	}
	f.bits.or(other.bits)
	return nil
}

// Intersect clears the bits of f that are unset in other, in O(m). Afterwards f contains every key
// that was in both filters, and some keys that were in only one. Its rate is at most the rate of
// either filter, and at least the rate of a filter of the common keys.
//
// A key that is added to f at the same time may be lost, and its Add may have no winner or two. A key that is added to
// other at the same time may be missing in f.
//
// The error wraps [ErrIncompatible], or [ErrInvalid] if other is nil, and then f is unchanged.
func (f *BloomFilter) Intersect(other *BloomFilter) error {
	if err := f.compatible(other); err != nil {
		return err
	}
	f.bits.and(other.bits)
	return nil
}

// Equal reports whether Union accepts the other filter and both have the same bits, in O(m). The answer depends on
// timing while keys are added to either.
func (f *BloomFilter) Equal(other *BloomFilter) bool {
	f.scheme.must()
	return f.compatible(other) == nil && f.bits.equal(other.bits)
}

// Clone returns an independent copy, in O(m) time and memory. It contains every key whose Add had returned before Clone
// was called. A copy by assignment is not independent: it shares the bits.
func (f *BloomFilter) Clone() *BloomFilter {
	bits := makeWords(uint64(len(f.Words())))
	bits.copyFrom(f.bits)
	return f.scheme.over(bits)
}

// Clear forgets all keys, in O(m).
//
// A key that is added while Clear runs may be kept, be lost, or keep some of its bits. Such bits raise the rate a
// little. The key's Add may have no winner or two.
func (f *BloomFilter) Clear() {
	f.scheme.must()
	f.bits.clear()
}
