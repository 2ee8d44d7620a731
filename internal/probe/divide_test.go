package probe

import (
	"math"
	"math/rand/v2"
	"testing"
)

// edges returns the numbers at which a division by m may go wrong.
func edges(m uint64) []uint64 {
	list := []uint64{0, 1, 2, 3, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	for _, multiple := range []uint64{1, 2, 3, math.MaxUint64 / m / 2, math.MaxUint64/m - 1, math.MaxUint64 / m} {
		list = append(list, multiple*m-1, multiple*m, multiple*m+1)
	}
	return list
}

func TestRemainder(t *testing.T) {
	check := func(x, m uint64) {
		d := NewDivisor(m)
		if got := d.Remainder(x); got != x%m {
			t.Fatalf("%d modulo %d is %d, want %d", x, m, got, x%m)
		}
		if got := d.Remainder63(x); got != x&below63%m {
			t.Fatalf("the low 63 bits of %d modulo %d are %d, want %d", x, m, got, x&below63%m)
		}
	}
	// Every small divisor and every divisor next to a power of two, at its edges.
	for m := uint64(1); m <= 5000; m++ {
		for _, x := range edges(m) {
			check(x, m)
		}
	}
	for shift := range 64 {
		for _, m := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, 3 << shift, 5 << shift, math.MaxUint64 << shift, math.MaxUint64 >> shift} {
			if m == 0 {
				continue
			}
			for _, x := range edges(m) {
				check(x, m)
			}
		}
	}
	// All of 12 bits by 12 bits, at both ends of the range.
	for m := uint64(1); m < 1<<12; m += 7 {
		d := NewDivisor(m)
		for x := range uint64(1 << 12) {
			if d.Remainder(x) != x%m || d.Remainder(^x) != ^x%m || d.Remainder63(^x) != ^x&below63%m {
				t.Fatalf("x = %d or its complement, modulo %d", x, m)
			}
		}
	}
	// Random pairs, of all magnitudes.
	pairs := 3_000_000
	if testing.Short() {
		pairs = 100_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range pairs {
		check(r.Uint64()>>r.UintN(64), r.Uint64()>>r.UintN(64)|1<<r.UintN(64))
	}
}

// FuzzRemainder compares with the processor's own division.
func FuzzRemainder(f *testing.F) {
	f.Add(uint64(math.MaxUint64), uint64(3))
	f.Add(uint64(1<<63), uint64(1<<63+1))
	f.Fuzz(func(t *testing.T, x, m uint64) {
		if m == 0 {
			return
		}
		d := NewDivisor(m)
		if d.Remainder(x) != x%m || d.Remainder63(x) != x&below63%m {
			t.Fatalf("%d modulo %d is %d or %d, want %d or %d", x, m, d.Remainder(x), d.Remainder63(x), x%m, x&below63%m)
		}
	})
}

// BenchmarkRemainder is of seven remainders, as many as a key has at p = 1 %.
func BenchmarkRemainder(b *testing.B) {
	m := uint64(95_872)
	x, step, sum := uint64(3), uint64(0x9e3779b97f4a7c15), uint64(0)
	d := NewDivisor(m)
	b.Run("by=reciprocal/bits=63", func(b *testing.B) {
		for b.Loop() {
			for range 7 {
				sum += d.Remainder63(x)
				x += step
			}
		}
	})
	b.Run("by=reciprocal/bits=64", func(b *testing.B) {
		for b.Loop() {
			for range 7 {
				sum += d.Remainder(x)
				x += step
			}
		}
	})
	b.Run("by=division/bits=64", func(b *testing.B) {
		for b.Loop() {
			for range 7 {
				sum += x % m
				x += step
			}
		}
	})
	if sum == 0 {
		b.Fatal("nothing was done")
	}
}
