package bloomtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom"
)

var defaultPoints = []bloom.Params{
	{N: 1000, P: 0.01}, {N: 1000, P: 1e-4}, {N: 20_000, P: 0.01}, {N: 20_000, P: 1e-3},
	{N: 10, P: 0.1}, {N: 100, P: 0.05}, {N: 100, P: 0.01}, {N: 100, P: 1e-3},
}

// TestStrategy tests a strategy and returns the first failure as an error. It checks that
//
//   - [bloom.New] makes a filter with it for the N and P of each of the points;
//   - the positions of a key are below m and always the same, on all goroutines and in every
//     filter with the same m and k, and Add sets exactly these bits;
//   - Add, Contains and AppendPositions allocate nothing;
//   - the rate is at most that of FalsePositiveRate;
//   - no bit of the digest is used twice: the part of the filter where a key's bits are says nothing
//     about the bits within this part. This check uses the k of the first point, and sizes that are
//     multiples of its m, if the strategy accepts them.
//
// The default points have 10 to 20,000 keys and p >= 1e-4. Pass other points for a strategy that is known not to keep
// its rate there. The rates are measured with independent digests, or with different keys for a strategy that needs the
// key.
func TestStrategy(s bloom.Strategy, points ...bloom.Params) error {
	if len(points) == 0 {
		points = defaultPoints
	}
	for _, p := range points {
		if err := caught(func() error { return atPoint(s, p) }); err != nil {
			return fmt.Errorf("bloomtest: %q: n = %d, p = %v: %w", s, p.N, p.P, err)
		}
	}
	if err := caught(func() error { return digestBits(s, points[0]) }); err != nil {
		return fmt.Errorf("bloomtest: %q: %w", s, err)
	}
	return nil
}

func atPoint(s bloom.Strategy, p bloom.Params) error {
	if p.N == 0 {
		return fmt.Errorf("%w: no keys, want at least 1", bloom.ErrInvalid)
	}
	f, err := bloom.New(p.N, p.P, bloom.WithStrategy(s))
	if err != nil {
		return err
	}
	for _, check := range []func(*bloom.BloomFilter) error{bitsOf, allocations, rateAt} {
		if err := check(f); err != nil {
			return err
		}
	}
	return nil
}

// bitsOf checks that a key has the same positions in every call, in another scheme, and on other goroutines. It also
// checks that Add sets as many bits as the key has different positions.
func bitsOf(f *bloom.BloomFilter) error {
	const keys = 2000
	other, err := bloom.NewSchemeWithParams(bloom.Params{M: f.Params().M, K: f.Params().K}, bloom.WithStrategy(f.Scheme().Strategy()))
	if err != nil {
		return fmt.Errorf("the m and k of New are refused: %w", err)
	}
	positions := make([][]uint64, keys)
	for i := range positions {
		positions[i] = f.Scheme().AppendPositions(nil, key(uint64(i)))
	}
	if err := concurrently(func(worker int) error {
		for i := range positions {
			i = (i + worker*keys/4) % keys
			if got := other.AppendPositions(nil, key(uint64(i))); !slices.Equal(got, positions[i]) {
				return fmt.Errorf("key %q has positions %v, and then %v", key(uint64(i)), positions[i], got)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for i := range 50 {
		f.Clear()
		f.Add(key(uint64(i)))
		want := slices.Compact(slices.Sorted(slices.Values(positions[i])))
		if got := f.Stats().Ones; got != uint64(len(want)) || !f.Contains(key(uint64(i))) {
			return fmt.Errorf("adding key %q sets %d bits, and its positions are %v", key(uint64(i)), got, positions[i])
		}
	}
	return nil
}

func allocations(f *bloom.BloomFilter) error {
	k, i := []byte("a key of some bytes"), byte(0)
	next := func() []byte { k[0] = i; i++; return k }
	positions := make([]uint64, 0, 1024)
	return errors.Join(
		noAllocations("Add", func() { f.Add(next()) }),
		noAllocations("Contains", func() { f.Contains(next()) }),
		noAllocations("AppendPositions", func() { f.Scheme().AppendPositions(positions, next()) }),
	)
}

// rateAt checks the rate with enough lookups for about 2000 false positives, at most 4 million.
func rateAt(f *bloom.BloomFilter) error {
	p := f.Params()
	if promised := f.Scheme().Strategy().FalsePositiveRate(p.M, p.K, p.N); !(promised <= p.P*(1+1e-9)) {
		return fmt.Errorf("m = %d and k = %d are chosen, whose promised rate is %v", p.M, p.K, promised)
	}
	filters := int(min(max(4, 40_000/p.N), 400))
	lookups := int(min(2000/p.P, 4e6)) / filters
	if f.Scheme().Strategy().NeedsKey() {
		i := uint64(0)
		next := func() []byte { i++; return key(i) }
		return rate(f, p.N, filters, lookups, sigmas, func() { f.Add(next()) }, func() bool { return f.Contains(next()) })
	}
	next := digests(1)
	return rate(f, p.N, filters, lookups, sigmas, func() { f.AddDigest(next()) }, func() bool { return f.ContainsDigest(next()) })
}

// digestBits checks that a strategy uses no bit of the digest twice. It divides a large filter into parts, of several
// sizes. The part with a key's first position must be independent of the place of each position within its word, and of
// the word within its cache line.
func digestBits(s bloom.Strategy, p bloom.Params) error {
	f, err := bloom.New(p.N, p.P, bloom.WithStrategy(s))
	if err != nil || s.NeedsKey() {
		return err
	}
	const keys, parts = 40_000, 32
	k := f.Params().K
	for _, times := range []uint64{37, 1009, 1 << 20} { // multiples of m, so that m stays a multiple of the unit
		m := f.Params().M * times
		scheme, err := bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(f.Scheme().Strategy()))
		if err != nil {
			continue // not every size is possible
		}
		// Each part has at least 16 blocks.
		for scale := uint64(1); scale <= parts*parts*parts && parts*scale*512*16 <= m; scale *= parts {
			bits, words := make([]table, k), make([]table, k)
			next, positions := digests(m+scale), []uint64(nil)
			for range keys {
				h1, h2 := next()
				positions = scheme.AppendDigestPositions(positions[:0], h1, h2)
				part := uint64(float64(positions[0])/float64(m)*float64(parts*scale)) % parts
				for i, pos := range positions {
					bits[i][part][pos%64]++
					words[i][part][pos/64%8]++
				}
			}
			for i := range k {
				if z := max(bits[i].dependence(), words[i].dependence()); z > sigmas+2 {
					return fmt.Errorf("with m = %d, bit %d of a key depends on the part of the filter that the key falls into: %.1f sigma",
						m, i, z)
				}
			}
		}
	}
	return nil
}
