package bloomtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
)

// TestHash tests a hash and returns the first failure as an error. It checks that
//
//   - the digest of a key is always the same, on all goroutines and at any alignment of the
//     key;
//   - hashing allocates nothing;
//   - keys that differ in any bit have digests that differ in about half of their bits;
//   - the digest depends on every byte of a key of up to 4096 bytes, and on its length;
//   - the bits of the digest are independent of each other;
//   - filters with the hash keep their rate, with the strategies of package bloom, and with keys
//     that are sequential numbers or long.
//
// opts are further options of the filters, such as [bloom.WithSecret]. To test the hash that opts select, pass nil as
// h.
func TestHash(h *bloom.Hash, opts ...bloom.Option) error {
	if h != nil {
		opts = append([]bloom.Option{bloom.WithHash(h)}, opts...)
	}
	s, err := bloom.NewScheme(1000, 0.01, opts...)
	if err != nil {
		return fmt.Errorf("bloomtest: %q: %w", h, err)
	}
	for _, check := range []func(*bloom.Scheme) error{stable, hashAllocations, avalanche, longKeys, halves} {
		if err = caught(func() error { return check(s) }); err != nil {
			break
		}
	}
	if err == nil {
		err = caught(func() error { return hashRates(opts) })
	}
	if err != nil {
		return fmt.Errorf("bloomtest: %q: %w", s.Hash(), err)
	}
	return nil
}

// stable checks that a key has the same digest at every alignment and on all goroutines, for keys of up to 199 bytes.
func stable(s *bloom.Scheme) error {
	const lengths = 200
	long := bytes.Repeat([]byte("abcdefg\xff\x00"), 40)
	var want [lengths][2]uint64
	for n := range want {
		want[n][0], want[n][1] = s.Digest(bytes.Clone(long[:n]))
	}
	return concurrently(func(worker int) error {
		for n := range want {
			for at := range 9 {
				memory := bytes.Repeat([]byte{byte(worker)}, 16+n)
				copy(memory[at:], long[:n])
				h1, h2 := s.Digest(memory[at : at+n : at+n])
				if got := [2]uint64{h1, h2}; got != want[n] {
					return fmt.Errorf("a key of %d bytes has digest %x, and then %x", n, want[n], got)
				}
			}
		}
		return nil
	})
}

func hashAllocations(s *bloom.Scheme) error {
	var sum uint64
	return noAllocations("the hash", func() {
		var stack [16]byte
		stack[0] = byte(sum)
		h1, h2 := s.Digest(stack[:])
		sum += h1 ^ h2
	})
}

// avalanche flips each bit of keys of several lengths. Each bit of the digest must flip with about half of the bits of
// a key.
func avalanche(s *bloom.Scheme) error {
	const tries = 400
	next := digests(2)
	for _, length := range []int{1, 3, 8, 13, 16, 40} {
		var flips [128]int
		for range tries {
			var memory [40]byte
			for i := 0; i < len(memory); i += 8 {
				x, _ := next()
				binary.LittleEndian.PutUint64(memory[i:], x)
			}
			k := memory[:length]
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
			}
		}
		most := 0.6
		if length == 1 {
			most = 0.65 // there are only 1024 pairs of keys: chance exceeds 0.6 three times in a million hashes
		}
		for i, n := range flips {
			if share := float64(n) / float64(tries*length*8); share < 1-most || share > most {
				return fmt.Errorf("bit %d of h%d flips with %.0f %% of the bits of a key of %d bytes, want 50",
					i%64, 1+i/64, 100*share, length)
			}
		}
	}
	return nil
}

// longKeys checks that the digest of a long key changes with each byte, and the digest of a key of zeros with its
// length.
func longKeys(s *bloom.Scheme) error {
	for _, length := range []int{100, 257, 1000, 4096} {
		k := bytes.Repeat([]byte("0123456789abcdef+"), length/17+1)[:length]
		h1, h2 := s.Digest(k)
		for i := range k {
			k[i] ^= 0x40
			g1, g2 := s.Digest(k)
			k[i] ^= 0x40
			if g1 == h1 && g2 == h2 {
				return fmt.Errorf("byte %d of a key of %d bytes makes no difference", i, length)
			}
		}
	}
	zeros, seen := make([]byte, 4096), map[[2]uint64]int{}
	for length := range zeros {
		h1, h2 := s.Digest(zeros[:length])
		if other, twice := seen[[2]uint64{h1, h2}]; twice {
			return fmt.Errorf("%d and %d bytes of zeros have the same digest", other, length)
		}
		seen[[2]uint64{h1, h2}] = length
	}
	return nil
}

// halves checks that groups of four bits of the digest are independent of each other.
func halves(s *bloom.Scheme) error {
	const keys = 1 << 14
	var digests [keys][2]uint64
	for i := range digests {
		digests[i][0], digests[i][1] = s.Digest(key(uint64(i)))
	}
	for a := range 32 {
		for b := range a {
			var pairs table
			for _, d := range digests {
				pairs[d[a/16]>>(a%16*4)&15][d[b/16]>>(b%16*4)&15]++
			}
			if z := pairs.dependence(); z > 8 {
				return fmt.Errorf("bits %d to %d of h%d depend on bits %d to %d of h%d: %.1f sigma",
					a%16*4, a%16*4+3, 1+a/16, b%16*4, b%16*4+3, 1+b/16, z)
			}
		}
	}
	return nil
}

// hashRates checks the rate of filters with the hash, for keys of several patterns.
func hashRates(opts []bloom.Option) error {
	const n = 2000
	page := "https://example.com/" + strings.Repeat("0", 80)
	for _, s := range bloom.Strategies() {
		if s.NeedsKey() {
			continue // the strategy hashes the key itself
		}
		f, err := bloom.New(n, 0.01, append([]bloom.Option{bloom.WithStrategy(s)}, opts...)...)
		if err != nil {
			return err
		}
		for name, pattern := range map[string]func(dst []byte, i uint64) []byte{
			"sequential numbers":     binary.LittleEndian.AppendUint64,
			"numbers, highest first": binary.BigEndian.AppendUint64,
			"decimal numbers":        func(dst []byte, i uint64) []byte { return strconv.AppendUint(dst, i, 10) },
			"long keys":              func(dst []byte, i uint64) []byte { return strconv.AppendUint(append(dst, page...), 1e19+i, 10) },
		} {
			var k []byte
			i := uint64(0)
			next := func() []byte { k = pattern(k[:0], i); i++; return k }
			if err := rate(f, n, 40, 2_000, hashSigmas, func() { f.Add(next()) }, func() bool { return f.Contains(next()) }); err != nil {
				return fmt.Errorf("strategy %q, %s: %w", s, name, err)
			}
		}
	}
	return nil
}
