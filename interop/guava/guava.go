// Package guava reads and writes the Bloom filters of Java's Guava,
// com.google.common.hash.BloomFilter.
//
//	f, err := guava.Read(file, bloom.WithMaxBytes(1<<30))
//	f.ContainsString("key") // mightContain, with Funnels.stringFunnel(UTF_8)
//
// The filters are of type [bloom.BloomFilter], with the strategy [Mitz64] or, for Guava up to version 16, [Mitz32].
//
// # Funnels
//
// A file does not name its Funnel. With a wrong funnel, keys are not found. In Go a key is the bytes that the funnel
// passes to the hash:
//
//   - stringFunnel(UTF_8), byteArrayFunnel, putString(s, UTF_8), putBytes: the bytes themselves. In putString, Java
//     encodes half of a surrogate pair as '?'.
//   - unencodedCharsFunnel, integerFunnel, longFunnel: [UnencodedCharsFunnel], [IntegerFunnel], [LongFunnel]
//   - putShort, putChar: binary.LittleEndian.AppendUint16
//   - putFloat: binary.LittleEndian.AppendUint32 of math.Float32bits; putDouble: AppendUint64 of math.Float64bits
//   - putByte: one byte; putBoolean: the byte 0 or 1
//   - sequentialFunnel, or several fields: the elements or fields one after the other, with nothing between them
//
// typed.New takes these functions. A key of two fields:
//
//	key := append(buf[:0], user.Name...) // into.putString(user.name, UTF_8)
//	key = guava.LongFunnel(key, user.ID) //     .putLong(user.id)
//	f.Add(key)
//
// [examples/guava] has a Java program and a Go program that share a filter.
//
// [examples/guava]: https://github.com/seed3447c163/bloom/tree/main/examples/guava
package guava

import (
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

const (
	maxWords = math.MaxInt32 // Guava keeps the words in one Java array
	maxK     = 255           // the format has one byte for k
)

// New returns the empty filter that BloomFilter.create(funnel, n, p) of the given release makes, with equal m, k and
// strategy. With the same keys, both have the same bytes.
//
// Guava uses the textbook formula and rounds k to the nearest whole number, so the rate at n keys can be a few percent
// above p. For small filters with a small p, see [Mitz64].
//
// The only option is [bloom.WithMaxBytes]. The error wraps [bloom.ErrInvalid] if p is not between 0 and 1, for another
// option, or if Guava cannot make the filter because k is above 255 or m is 0. It wraps [bloom.ErrTooLarge] for more
// than 2^31-1 words or more memory than the machine has or the option allows.
func New(n uint64, p float64, release Release, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	params, err := Params(n, p, release)
	if err != nil {
		return nil, err
	}
	return foreign.New(params, required(Mitz64), opts)
}

// required returns the options of every filter with strategy s.
func required(s bloom.Strategy) []bloom.Option { return []bloom.Option{bloom.WithStrategy(s)} }

// A Release names the Guava version that makes an equal filter. Versions compute k in two ways, and filters with
// different k cannot be united. Reading needs no release, because k is in the file.
type Release int

// The releases differ in k by 1, and only for very small n, such as n <= 3 at p = 0.01, and where the fractional part
// of -log2(p) is just above 1/2.
//
// Guava 17 and earlier have no Release, because they compute k from a quotient of integers. For an equal filter, let b
// = ⌊-n·ln p/(ln 2)²⌋, and pass the m of [Params] and k = max(1, round(⌊b/n⌋·ln 2)) to [bloom.NewSchemeWithParams].
// Guava 16 and earlier use the strategy [Mitz32], for up to 2³¹ bits.
const (
	Since334 Release = iota + 1 // Guava 33.4 and later
	Since18                     // Guava 18 to 33.3
)

// ln2 is a variable, so that ln2*ln2 is rounded to float64, as in Java. Go would compute the product of constants
// exactly, and m could differ.
var ln2 = math.Ln2

// Params returns the parameters that BloomFilter.create chooses for n keys at rate p: m = -n·ln p/(ln 2)², rounded down
// to whole bits and then up to whole words, and k, rounded half up. n = 0 counts as 1, as in Guava. Params returns the
// errors of [New].
func Params(n uint64, p float64, release Release) (bloom.Params, error) {
	if release != Since334 && release != Since18 {
		return bloom.Params{}, failure.Errorf(bloom.ErrInvalid, "release %d of Guava, want Since334 or Since18", release)
	}
	keys := float64(max(n, 1))
	bits := math.Floor(-keys * foreign.Log(p) / (ln2 * ln2))
	if bits < 1 && p > 0 && p < 1 {
		return bloom.Params{}, failure.Errorf(bloom.ErrInvalid,
			"n = %d keys at p = %v need less than one bit, and Guava rounds that to none", n, p)
	}
	k := -foreign.Log(p) / ln2
	if release == Since18 {
		k = bits / keys * ln2
	}
	return foreign.Params(n, p, math.Ceil(bits/64)*64, max(1, math.Floor(k+0.5)), maxWords*64)
}
