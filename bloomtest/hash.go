package bloomtest

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/seed3447c163/bloom"
)

// TestHash tests a hash, and returns all that is wrong with it:
//
//   - the digest of a key is always the same, on all goroutines and wherever the key lies
//     in memory, and the key is not changed;
//   - it allocates nothing;
//   - keys that differ in any bit have digests that differ in about half of their bits: no
//     bit of the digest is ignored, and none depends on another, also between the halves;
//   - filters with it keep their rate, with every strategy of package bloom, and keys that
//     are sequential numbers, words that differ at the end, or long;
//   - batches do what single calls do;
//   - a filter can be written, and read only with the hash.
//
// opts are further options of the filters, such as [bloom.WithKey]; for that alone, h is
// the zero Hash.
func TestHash(h bloom.Hash, opts ...bloom.Option) error {
	if h != (bloom.Hash{}) {
		opts = append([]bloom.Option{bloom.WithHash(h)}, opts...)
	}
	s, err := bloom.NewScheme(1000, 0.01, opts...)
	if err != nil {
		return fmt.Errorf("bloomtest: %q: %w", h, err)
	}
	filter := func(n uint64, p float64, st bloom.Strategy) (*bloom.BloomFilter, error) {
		return bloom.New(n, p, append([]bloom.Option{bloom.WithStrategy(st)}, opts...)...)
	}
	return all(s.Hash().String(),
		check{"the same digest", func() error { return stable(s) }},
		check{"allocations", func() error {
			k, i, sum := []byte("a key of some bytes"), byte(0), uint64(0)
			return noAllocations(map[string]func(){"Hash": func() {
				var stack [16]byte
				copy(stack[:], k)
				stack[0] = i
				i++
				h1, h2 := s.Digest(stack[:])
				sum += h1 ^ h2
			}})
		}},
		check{"digest bits", func() error { return avalanche(s) }},
		check{"halves", func() error { return halves(s) }},
		check{"rate", func() error { return hashRates(filter) }},
		check{"batches", func() error {
			f, err := filter(3000, 0.01, bloom.DoubleHashing)
			if err != nil {
				return err
			}
			return batchesEqualSingle(f, f.Clone())
		}},
		check{"files", func() error {
			f, err := filter(100, 0.01, bloom.DoubleHashing)
			if err != nil {
				return err
			}
			f.AddString("key")
			return files(f, opts, s.Hash() == bloom.Murmur3 || s.Hash() == bloom.RapidHash)
		}},
	)
}

// stable tries keys of every length at every alignment.
func stable(s bloom.Scheme) error {
	type digest struct{ h1, h2 uint64 }
	const lengths = 200
	want := make([]digest, lengths)
	long := bytes.Repeat([]byte("abcdefg\xff\x00"), 40)
	for n := range want {
		k := bytes.Clone(long[:n])
		want[n].h1, want[n].h2 = s.Digest(k)
		if !bytes.Equal(k, long[:n]) {
			return fmt.Errorf("a key of %d bytes was changed", n)
		}
	}
	return concurrently(func(worker int) error {
		for n := range want {
			for at := range 9 {
				memory := bytes.Repeat([]byte{byte(worker)}, 16+n)
				k := memory[at : at+n : at+n]
				copy(k, long)
				h1, h2 := s.Digest(k)
				if got := (digest{h1, h2}); got != want[n] {
					return fmt.Errorf("a key of %d bytes has digest %x, and then %x", n, want[n], got)
				}
				if !bytes.Equal(k, long[:n]) {
					return fmt.Errorf("a key of %d bytes was changed", n)
				}
				for _, i := range []int{at - 1, at + n} {
					if i >= 0 && memory[i] != byte(worker) {
						return fmt.Errorf("memory beside a key of %d bytes was changed", n)
					}
				}
			}
		}
		return nil
	})
}

// avalanche flips each bit of keys of several lengths: each bit of the digest must flip in
// about half of the cases.
func avalanche(s bloom.Scheme) error {
	const tries = 400
	next := digests(2)
	for _, length := range []int{1, 3, 8, 13, 16, 40} {
		var flips [128]int
		trials := 0
		for range tries {
			k := make([]byte, 0, 48)
			for len(k) < length {
				x, _ := next()
				k = binary.LittleEndian.AppendUint64(k, x)
			}
			k = k[:length]
			h1, h2 := s.Digest(k)
			for bit := range length * 8 {
				k[bit/8] ^= 1 << (bit % 8)
				g1, g2 := s.Digest(k)
				k[bit/8] ^= 1 << (bit % 8)
				if g1 == h1 && g2 == h2 {
					return fmt.Errorf("bit %d of a key of %d bytes makes no difference: %q", bit, length, k)
				}
				for i := range 64 {
					flips[i] += int((g1 ^ h1) >> i & 1)
					flips[64+i] += int((g2 ^ h2) >> i & 1)
				}
				trials++
			}
		}
		for i, n := range flips {
			if share := float64(n) / float64(trials); share < 0.4 || share > 0.6 {
				return fmt.Errorf("bit %d of h%d flips in %.0f %% of the cases in which a bit of a key of %d bytes does, want 50", i%64, 1+i/64, 100*share, length)
			}
		}
	}
	return nil
}

// halves compares all groups of four bits of the digests with each other.
func halves(s bloom.Scheme) error {
	const keys = 1 << 14
	digests := make([][2]uint64, keys)
	for i := range digests {
		digests[i][0], digests[i][1] = s.Digest(key(uint64(i)))
	}
	nibble := func(d [2]uint64, i int) uint64 { return d[i/16] >> (i % 16 * 4) & 15 }
	for a := range 32 {
		for b := range a {
			pairs := table(16, 16)
			for _, d := range digests {
				pairs[nibble(d, a)][nibble(d, b)]++
			}
			if z := dependence(pairs); z > 8 {
				return fmt.Errorf("bits %d to %d of h%d depend on bits %d to %d of h%d: %.1f sigma",
					a%16*4, a%16*4+3, 1+a/16, b%16*4, b%16*4+3, 1+b/16, z)
			}
		}
	}
	return nil
}

// hashRates measures the rate of filters with keys that have a pattern.
func hashRates(filter func(n uint64, p float64, s bloom.Strategy) (*bloom.BloomFilter, error)) error {
	const n, asks, filters = 2000, 20_000, 4
	patterns := map[string]func(dst []byte, i uint64) []byte{
		"sequential numbers":     binary.LittleEndian.AppendUint64,
		"numbers, highest first": binary.BigEndian.AppendUint64,
		"decimal numbers":        func(dst []byte, i uint64) []byte { return fmt.Append(dst, i) },
		"long keys":              func(dst []byte, i uint64) []byte { return fmt.Appendf(dst, "https://example.com/%0100d", i) },
	}
	for _, s := range []bloom.Strategy{bloom.DoubleHashing, bloom.Blocked1, bloom.Blocked2, bloom.Blocked8, bloom.SplitBlock} {
		f, err := filter(n, 0.01, s)
		if err != nil {
			return err
		}
		p := f.Params()
		promised := f.Strategy().FalsePositiveRate(p.M, p.K, n)
		for name, pattern := range patterns {
			hits, k, i := make([]float64, filters), []byte(nil), uint64(0)
			for j := range hits {
				f.Clear()
				for range n {
					k = pattern(k[:0], i)
					f.Add(k)
					i++
				}
				for range asks {
					k = pattern(k[:0], i)
					if f.Contains(k) {
						hits[j]++
					}
					i++
				}
			}
			if err := tooHigh(hits, asks, promised); err != nil {
				return fmt.Errorf("strategy %q, %s: %w", s, name, err)
			}
		}
	}
	return nil
}
