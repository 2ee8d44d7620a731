// Package bloom has the functions and methods of github.com/bits-and-blooms/bloom/v3, implemented with the lock-free
// filter of this library. To move a program, change one import line:
//
//	import "github.com/seed3447c163/bloom/compat/bitsandblooms"
//
// The same keys set the same bits, and files, JSON and gob have the same bytes. All methods are safe for concurrent
// use, except ReadFrom, the methods that unmarshal, and those of the bit set that BitSet returns. If several goroutines
// add the same new key by TestAndAdd or TestOrAdd, at most one gets false.
//
// # Differences
//
//   - go mod tidy raises the go line of your go.mod to 1.24.1. From a line below 1.22, this changes the meaning of loop
//     variables, and go vet looks for more.
//   - k is at most 255. Functions that make a filter panic for a larger k, and for a filter that does not fit the
//     memory. NewWithEstimates and EstimateParameters panic if p is not between 0 and 1, and take n = 0 as 1.
//   - FromWithM ignores words that m bits do not need. On 32-bit systems, From and FromWithM need a slice that begins
//     at a multiple of 8 bytes, as a slice from make does, and refuse 2^26 words or more.
//   - BitSet returns a new bit set over the filter's words. Its length is always m.
//   - Reading refuses m = 0, k = 0, set bits from m on, and a bit set of another number of words than m needs. So it
//     refuses two kinds of filters of bits-and-blooms: those of New(0, k), and those of FromWithM with a shorter or
//     longer slice. After an error, the filter is unchanged.
//   - bitset.LittleEndian and bitset.Base64StdEncoding do not change what is written. Both byte orders and both
//     alphabets are read.
//   - Of the zero BloomFilter, only Cap, K, BitSet, Equal and JSON are the same. WriteTo, MarshalBinary, GobEncode and
//     Merge return an error that wraps bloom.ErrInvalid. Its other methods panic.
//   - null in JSON leaves a filter unchanged. Merge with nil is an error.
//   - TestAndAdd is TestOrAdd: it writes nothing if the key is present.
//   - ApproximatedSize of a full filter is the largest uint32.
//   - Compare filters by Equal, not by reflect.DeepEqual.
package bloom

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

// A BloomFilter is a Bloom filter. A copy by assignment shares its bits.
//
// The zero BloomFilter has m = 0 and k = 0. It can be marshalled to JSON, and read into by ReadFrom and the methods
// that unmarshal. Its other methods return an error that wraps bloom.ErrInvalid, or panic if they return no error.
type BloomFilter bloom.BloomFilter

// Filter returns f as a filter of the root package, which has batches and statistics and works with package persist.
// Both have the same bits.
func (f *BloomFilter) Filter() *bloom.BloomFilter { return (*bloom.BloomFilter)(f) }

// isZero reports whether f is the zero BloomFilter.
func (f *BloomFilter) isZero() bool { return f.Filter().Scheme() == nil }

// New returns an empty filter of m bits and k positions per key, each at least one. It panics if k is above 255
// or the machine has too little memory.
func New(m, k uint) *BloomFilter { return (*BloomFilter)(must(schemeOf(m, k).Filter())) }

func schemeOf(m, k uint) *bloom.Scheme {
	return must(bitsandblooms.Scheme(uint64(max(m, 1)), int(min(max(k, 1), math.MaxInt))))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// NewWithEstimates returns an empty filter for n keys with a false-positive rate of about p. It panics if p is
// not between 0 and 1, and where New does.
func NewWithEstimates(n uint, p float64) *BloomFilter { return New(EstimateParameters(n, p)) }

// EstimateParameters returns the m and k of NewWithEstimates. n = 0 counts as 1. It panics if p is not between 0 and 1,
// or if m or k is too large.
func EstimateParameters(n uint, p float64) (m, k uint) {
	params := must(bitsandblooms.Params(uint64(n), p))
	if params.M > math.MaxUint { // uint has 32 bits
		const most = uint(math.MaxUint)
		panic(fmt.Errorf("%w: n = %d keys at p = %v need m = %d bits, want at most %d", bloom.ErrTooLarge, n, p, params.M, most))
	}
	return uint(params.M), uint(params.K)
}

// From returns a filter of len(data)·64 bits over data: bits that are set in data are set in the filter, and Add
// changes data. It panics where New does, and if the number of bits is too large for a uint.
func From(data []uint64, k uint) *BloomFilter {
	if len(data) > math.MaxUint/64 { // 2^26 words on systems of 32 bits
		const most = uint(math.MaxUint / 64)
		panic(fmt.Errorf("%w: %d words, want at most %d", bloom.ErrTooLarge, len(data), most))
	}
	return FromWithM(data, uint(len(data))*64, k)
}

// FromWithM is From for a filter of m bits. If data has fewer than m bits, the filter has a longer copy of data. It
// panics where New does, and if the last word has a set bit beyond m-1.
func FromWithM(data []uint64, m, k uint) *BloomFilter {
	s := schemeOf(m, k)
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
	if n := s.SizeBytes() / 8; uint64(len(words)) >= n {
		return (*BloomFilter)(must(s.FilterOver(words[:n])))
	}
	f := New(m, k)
	for i := range words {
		f.Filter().Words()[i].Store(words[i].Load())
	}
	return f
}

// Cap returns m. It is 0 for the zero BloomFilter.
func (f *BloomFilter) Cap() uint { return uint(f.params().M) }

// K returns k. It is 0 for the zero BloomFilter.
func (f *BloomFilter) K() uint { return uint(f.params().K) }

func (f *BloomFilter) params() (p bloom.Params) {
	if f.isZero() {
		return p
	}
	return f.Filter().Params()
}

// Add adds a key and returns the filter.
func (f *BloomFilter) Add(data []byte) *BloomFilter {
	f.Filter().Add(data)
	return f
}

// AddString is Add for a string.
func (f *BloomFilter) AddString(data string) *BloomFilter {
	f.Filter().AddString(data)
	return f
}

// Test returns false if the key was definitely never added, true if it probably was.
func (f *BloomFilter) Test(data []byte) bool { return f.Filter().Contains(data) }

// TestString is Test for a string.
func (f *BloomFilter) TestString(data string) bool { return f.Filter().ContainsString(data) }

// TestLocations is Test for a key with the given Locations.
func (f *BloomFilter) TestLocations(locs []uint64) bool {
	m, words := f.Filter().Params().M, f.Filter().Words()
	for _, l := range locs {
		if l %= m; words[l/64].Load()>>(l%64)&1 == 0 {
			return false
		}
	}
	return true
}

// TestAndAdd adds a key. It returns false if the key is definitely new, true if it was probably there already.
func (f *BloomFilter) TestAndAdd(data []byte) bool { return !f.Filter().Add(data) }

// TestAndAddString is TestAndAdd for a string.
func (f *BloomFilter) TestAndAddString(data string) bool { return !f.Filter().AddString(data) }

// TestOrAdd is TestAndAdd.
func (f *BloomFilter) TestOrAdd(data []byte) bool { return !f.Filter().Add(data) }

// TestOrAddString is TestAndAdd for a string.
func (f *BloomFilter) TestOrAddString(data string) bool { return !f.Filter().AddString(data) }

// Locations returns the key's k positions before the reduction modulo m.
func Locations(data []byte, k uint) []uint64 { return bitsandblooms.Locations(data, int(k)) }

// Copy returns a copy with its own bits.
func (f *BloomFilter) Copy() *BloomFilter { return (*BloomFilter)(f.Filter().Clone()) }

// Merge adds the keys of g. The error wraps bloom.ErrIncompatible if m or k differs, and bloom.ErrInvalid if g is
// nil or one of the filters is the zero BloomFilter.
func (f *BloomFilter) Merge(g *BloomFilter) error { return f.Filter().Union(g.Filter()) }

// Equal reports whether both filters have the same m, k and bits. The zero BloomFilter equals only itself.
func (f *BloomFilter) Equal(g *BloomFilter) bool {
	if f.isZero() {
		return g != nil && g.isZero()
	}
	return f.Filter().Equal(g.Filter())
}

// ClearAll removes all keys and returns the filter.
func (f *BloomFilter) ClearAll() *BloomFilter {
	f.Filter().Clear()
	return f
}

// ApproximatedSize estimates the number of keys from the bits, in O(m).
func (f *BloomFilter) ApproximatedSize() uint32 {
	return uint32(min(f.Filter().Stats().EstimatedCount, math.MaxUint32))
}

// EstimateFalsePositiveRate measures the rate of a filter with n keys by 100,000 lookups.
func EstimateFalsePositiveRate(m, k, n uint) float64 {
	const lookups = 100_000
	f, key, found := New(m, k), make([]byte, 4), 0
	for i := range uint32(n) {
		binary.BigEndian.PutUint32(key, i)
		f.Add(key)
	}
	for i := range uint32(lookups) {
		binary.BigEndian.PutUint32(key, uint32(n)+1+i)
		if f.Test(key) {
			found++
		}
	}
	return float64(found) / lookups
}

// String describes the filter in one line.
func (f BloomFilter) String() string { return f.Filter().String() }

// GoString returns what String returns.
func (f BloomFilter) GoString() string { return f.String() }

// LogValue returns what String returns, for package log/slog.
func (f BloomFilter) LogValue() slog.Value { return slog.StringValue(f.String()) }
