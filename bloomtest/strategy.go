package bloomtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed3447c163/bloom"
)

// defaultPoints are those whose rate is tried if no others are given.
var defaultPoints = []Point{{10, 0.1}, {100, 0.05}, {100, 0.01}, {100, 1e-3}, {1000, 0.01}, {1000, 1e-4}, {20_000, 0.01}, {20_000, 1e-3}}

// TestStrategy tests a strategy, and returns all that is wrong with it:
//
//   - [bloom.New] makes a filter with it for each of the points;
//   - the bits of a key are inside the filter, not all of them the same, and always the
//     same, on all goroutines, and in every filter of the same m and k;
//   - of goroutines that add the same key, one is told that it was new;
//   - Add, Contains and AppendPositions allocate nothing;
//   - the rate is at most what its FalsePositiveRate promises, at each of the points;
//   - batches do what single calls do;
//   - a filter can be written, and read only with the strategy;
//   - which block or word a key falls into says nothing of its bits there: no bit of the
//     digest serves twice.
//
// A strategy that is known to break its promise for small filters, as those of other
// systems do, is tried at points of its own. The rates are measured with digests that are
// independent of each other, or for a strategy that takes the key with different keys.
func TestStrategy(s bloom.Strategy, points ...Point) error {
	if len(points) == 0 {
		points = defaultPoints
	}
	if _, err := filterAt(s, points[0]); err != nil {
		return fmt.Errorf("bloomtest: %q: %w", s, err)
	}
	checks := []check{
		{"bits", func() error { return each(points, func(p Point) error { return bitsOf(s, p) }) }},
		{"one winner", func() error { return withFilter(s, Point{2000, 0.01}, oneWinner) }},
		{"allocations", func() error { return withFilter(s, points[0], strategyAllocations) }},
		{"rate", func() error { return each(points, func(p Point) error { return rate(s, p) }) }},
		{"batches", func() error {
			return each([]Point{{3000, 0.01}, {300_000, 0.01}}, func(p Point) error { // in the cache, and larger
				return withFilter(s, p, func(f *bloom.BloomFilter) error { return batchesEqualSingle(f, f.Clone()) })
			})
		}},
		{"files", func() error {
			return withFilter(s, points[0], func(f *bloom.BloomFilter) error {
				f.AddString("key")
				return files(f, []bloom.Option{bloom.WithStrategy(f.Strategy())}, isBuiltin(f.Strategy()))
			})
		}},
	}
	if !s.NeedsKey() {
		checks = append(checks, check{"digest bits", func() error { return digestBits(s) }})
	}
	return all(s.String(), checks...)
}

func filterAt(s bloom.Strategy, p Point) (*bloom.BloomFilter, error) {
	f, err := bloom.New(p.N, p.P, bloom.WithStrategy(s))
	if err != nil {
		return nil, fmt.Errorf("n = %d and p = %v: %w", p.N, p.P, err)
	}
	return f, nil
}

func withFilter(s bloom.Strategy, p Point, test func(f *bloom.BloomFilter) error) error {
	f, err := filterAt(s, p)
	if err != nil {
		return err
	}
	return test(f)
}

func each(points []Point, test func(p Point) error) error {
	var failed []error
	for _, p := range points {
		if err := caught(func() error { return test(p) }); err != nil {
			failed = append(failed, fmt.Errorf("n = %d, p = %v: %w", p.N, p.P, err))
		}
	}
	return errors.Join(failed...)
}

// isBuiltin reports whether a file with the strategy is read without being given it.
func isBuiltin(s bloom.Strategy) bool {
	return slices.Contains([]bloom.Strategy{
		bloom.DoubleHashing, bloom.SeededHashing, bloom.SplitBlock,
		bloom.Blocked, bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8,
	}, s)
}

// bitsOf tries the positions of many keys.
func bitsOf(s bloom.Strategy, p Point) error {
	const keys = 2000
	f, err := filterAt(s, p)
	if err != nil {
		return err
	}
	params := f.Params()
	other, err := bloom.NewSchemeWithParams(bloom.Params{M: params.M, K: params.K}, bloom.WithStrategy(f.Strategy()))
	if err != nil {
		return fmt.Errorf("m = %d and k = %d, which New has chosen, are refused: %w", params.M, params.K, err)
	}
	positions := make([][]uint64, keys)
	for i := range positions {
		positions[i] = f.Scheme().AppendPositions(nil, key(uint64(i)))
		for _, pos := range positions[i] {
			if pos >= params.M {
				return fmt.Errorf("key %q has position %d, want less than m = %d", key(uint64(i)), pos, params.M)
			}
		}
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
		if got := f.Stats().Ones; got != uint64(len(want)) {
			return fmt.Errorf("adding key %q sets %d bits, and its positions are %v", key(uint64(i)), got, positions[i])
		}
		if !f.Contains(key(uint64(i))) {
			return fmt.Errorf("key %q was added and is missed", key(uint64(i)))
		}
	}
	return nil
}

func strategyAllocations(f *bloom.BloomFilter) error {
	k, i := []byte("a key of some bytes"), byte(0)
	positions := make([]uint64, 0, 1024)
	return noAllocations(map[string]func(){
		"Add":             func() { k[0] = i; i++; f.Add(k) },
		"Contains":        func() { k[0] = i; i++; f.Contains(k) },
		"AppendPositions": func() { k[0] = i; i++; f.Scheme().AppendPositions(positions, k) },
	})
}

// rate measures the rate at n keys in as many filters as it takes.
func rate(s bloom.Strategy, p Point) error {
	const wanted = 2000 // false positives
	filters := int(min(max(4, 40_000/p.N), 400))
	asks := int(min(wanted/p.P, 4e6)) / filters
	f, err := filterAt(s, p)
	if err != nil {
		return err
	}
	params := f.Params()
	promised := f.Strategy().FalsePositiveRate(params.M, params.K, p.N)
	if !(promised <= p.P*(1+1e-9)) {
		return fmt.Errorf("m = %d and k = %d are chosen, whose promised rate is %v", params.M, params.K, promised)
	}
	hits, next, number := make([]float64, filters), digests(1), uint64(0)
	for i := range hits {
		f.Clear()
		if s.NeedsKey() {
			for range p.N {
				f.Add(key(number))
				number++
			}
			for range asks {
				if f.Contains(key(number)) {
					hits[i]++
				}
				number++
			}
			continue
		}
		for range p.N {
			f.AddDigest(next())
		}
		for range asks {
			if f.ContainsDigest(next()) {
				hits[i]++
			}
		}
	}
	return tooHigh(hits, asks, promised)
}

// digestBits looks at the positions of many digests in large filters: in which part of the
// filter a key is must be independent of which bits it has there. The parts are looked at
// coarsely and finely.
func digestBits(s bloom.Strategy) error {
	const keys, parts = 40_000, 32
	f, err := filterAt(s, Point{1000, 0.01})
	if err != nil {
		return err
	}
	k := f.Params().K
	for _, m := range largeSizes(f) {
		scheme, err := bloom.NewSchemeWithParams(bloom.Params{M: m, K: k}, bloom.WithStrategy(f.Strategy()))
		if err != nil {
			continue // not every size is possible
		}
		for _, scale := range []uint64{1, parts, parts * parts, parts * parts * parts} {
			if parts*scale*512*16 > m {
				break // the parts must be much larger than blocks
			}
			bits, words := make([][][]float64, k), make([][][]float64, k)
			for i := range k {
				bits[i], words[i] = table(parts, 64), table(parts, 8)
			}
			next, positions := digests(m+scale), []uint64(nil)
			for range keys {
				h1, h2 := next()
				positions = scheme.AppendDigestPositions(positions[:0], h1, h2)
				part := uint64(float64(positions[0])/float64(m)*float64(parts*scale)) % parts
				for i, pos := range positions[:min(k, len(positions))] {
					bits[i][part][pos%64]++
					words[i][part][pos/64%8]++
				}
			}
			for i := range k {
				for name, pairs := range map[string][][]float64{"bit": bits[i], "word": words[i]} {
					if z := dependence(pairs); z > sigmas+2 {
						return fmt.Errorf("with m = %d, the %s of a key's probe %d depends on the part of the filter that the key is in: %.1f sigma", m, name, i, z)
					}
				}
			}
		}
	}
	return nil
}

func table(rows, columns int) [][]float64 {
	t := make([][]float64, rows)
	for i := range t {
		t[i] = make([]float64, columns)
	}
	return t
}

// largeSizes are multiples of the m that New has chosen, which have its unit.
func largeSizes(f *bloom.BloomFilter) []uint64 {
	m := f.Params().M
	return []uint64{37 * m, 1009 * m, 1 << 20 * m}
}
