// Package bloom has the functions and methods of github.com/bits-and-blooms/bloom/v3, over the lock-free
// filter of this module. To move a program, change one import line:
//
//	import "github.com/seed3447c163/bloom/compat/bitsandblooms"
//
// The same keys set the same bits, and files, JSON and gob have the same bytes. All methods are safe for
// concurrent use, except ReadFrom and the methods that unmarshal, which replace the filter. If several
// goroutines add the same new key by TestAndAdd or TestOrAdd, at most one gets false.
//
// Differences:
//
//   - There is no BitSet method. Words of package bitset can be given to From.
//   - k is at most 255. New, NewWithEstimates, From and FromWithM panic for a larger one, for a p that is not
//     between 0 and 1, and for a filter that does not fit the memory.
//   - Merge, ReadFrom and the methods that unmarshal check what they are given. Reading refuses a filter with m = 0 or k = 0.
//   - The bytes of a filter of FromWithM say m, and not the length of the slice.
//   - The zero BloomFilter can only be read into. Its other methods panic.
package bloom

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
)

// A BloomFilter is a set of keys that may contain more than was added. A copy shares its bits.
type BloomFilter struct{ filter bloom.BloomFilter }

// New returns an empty filter of m bits and k positions per key, of each at least one.
func New(m, k uint) *BloomFilter {
	return &BloomFilter{*must(schemeOf(m, k).Filter())}
}

func schemeOf(m, k uint) bloom.Scheme {
	p := bloom.Params{M: uint64(max(m, 1)), K: int(min(max(k, 1), math.MaxInt))}
	return must(bloom.NewSchemeWithParams(p, bloom.WithStrategy(bitsandblooms.Strategy)))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// NewWithEstimates returns an empty filter for n keys with a false-positive rate of about p.
func NewWithEstimates(n uint, p float64) *BloomFilter { return New(EstimateParameters(n, p)) }

// EstimateParameters returns the m and k of NewWithEstimates. It takes n = 0 as 1.
func EstimateParameters(n uint, p float64) (m, k uint) {
	params := must(bitsandblooms.Params(uint64(n), p))
	if params.M > math.MaxUint { // of 32 bits
		const most = uint(math.MaxUint)
		panic(failure.Errorf(bloom.ErrTooLarge, "n = %d keys at p = %v need m = %d bits, want at most %d", n, p, params.M, most))
	}
	return uint(params.M), uint(params.K)
}

// From returns a filter of len(data)·64 bits. It uses data and does not clear it.
func From(data []uint64, k uint) *BloomFilter { return FromWithM(data, uint(len(data))*64, k) }

// FromWithM returns a filter of m bits. It uses data and does not clear it. If data has fewer bits, it uses a
// copy. It panics if one of the last word's bits from m on is set.
func FromWithM(data []uint64, m, k uint) *BloomFilter {
	s := schemeOf(m, k)
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data))
	if n := s.SizeBytes() / 8; uint64(len(words)) >= n {
		return &BloomFilter{*must(s.FilterOver(words[:n]))}
	}
	f := New(m, k)
	for i := range words {
		f.filter.Words()[i].Store(words[i].Load())
	}
	return f
}

// Cap returns m.
func (f *BloomFilter) Cap() uint { return uint(f.filter.Params().M) }

// K returns k.
func (f *BloomFilter) K() uint { return uint(f.filter.Params().K) }

// Add adds a key and returns the filter.
func (f *BloomFilter) Add(data []byte) *BloomFilter {
	f.filter.Add(data)
	return f
}

// AddString is Add for a string.
func (f *BloomFilter) AddString(data string) *BloomFilter {
	f.filter.AddString(data)
	return f
}

// Test returns false if the key was definitely never added, true if it probably was.
func (f *BloomFilter) Test(data []byte) bool { return f.filter.Contains(data) }

// TestString is Test for a string.
func (f *BloomFilter) TestString(data string) bool { return f.filter.ContainsString(data) }

// TestLocations is Test for the key's Locations.
func (f *BloomFilter) TestLocations(locs []uint64) bool {
	m, words := f.filter.Params().M, f.filter.Words()
	for _, l := range locs {
		if l %= m; words[l/64].Load()>>(l%64)&1 == 0 {
			return false
		}
	}
	return true
}

// TestAndAdd adds a key and returns what Test returned before.
func (f *BloomFilter) TestAndAdd(data []byte) bool { return !f.filter.Add(data) }

// TestAndAddString is TestAndAdd for a string.
func (f *BloomFilter) TestAndAddString(data string) bool { return !f.filter.AddString(data) }

// TestOrAdd is TestAndAdd.
func (f *BloomFilter) TestOrAdd(data []byte) bool { return !f.filter.Add(data) }

// TestOrAddString is TestAndAdd for a string.
func (f *BloomFilter) TestOrAddString(data string) bool { return !f.filter.AddString(data) }

// Locations returns the key's k positions before the division by m.
func Locations(data []byte, k uint) []uint64 { return bitsandblooms.Locations(data, int(k)) }

// Copy returns a copy with its own bits.
func (f *BloomFilter) Copy() *BloomFilter { return &BloomFilter{*f.filter.Clone()} }

// Merge adds the keys of g, which must have the same m and k.
func (f *BloomFilter) Merge(g *BloomFilter) error { return f.filter.Union(g.inner()) }

// Equal reports whether both filters have the same m, k and bits.
func (f *BloomFilter) Equal(g *BloomFilter) bool { return f.filter.Equal(g.inner()) }

// inner returns nil for nil, which package bloom refuses by name.
func (f *BloomFilter) inner() *bloom.BloomFilter {
	if f == nil {
		return nil
	}
	return &f.filter
}

// ClearAll removes all keys and returns the filter.
func (f *BloomFilter) ClearAll() *BloomFilter {
	f.filter.Clear()
	return f
}

// ApproximatedSize estimates the number of keys from the bits, in O(m).
func (f *BloomFilter) ApproximatedSize() uint32 {
	return uint32(min(f.filter.Stats().EstimatedCount, math.MaxUint32))
}

// EstimateFalsePositiveRate measures the rate of a filter with n keys, by 100,000 lookups.
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
func (f BloomFilter) String() string { return f.filter.String() }

// LogValue is String, for package log/slog.
func (f BloomFilter) LogValue() slog.Value { return slog.StringValue(f.String()) }

// WriteTo writes the filter and returns the number of bytes. It may run while keys are added.
func (f *BloomFilter) WriteTo(stream io.Writer) (int64, error) {
	w := &format.Counter{W: stream}
	err := bitsandblooms.Write(w, &f.filter)
	return w.N, err
}

// ReadFrom replaces the filter with one that WriteTo has written, and returns the number of bytes. It reads
// nothing beyond the filter. After an error the filter is unchanged.
func (f *BloomFilter) ReadFrom(stream io.Reader) (int64, error) {
	read, err := bitsandblooms.Read(stream)
	if err != nil {
		return 0, err
	}
	f.filter = *read
	return 3*8 + int64(read.SizeBytes()), nil
}

// MarshalBinary returns what WriteTo writes.
func (f *BloomFilter) MarshalBinary() ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(3*8 + int(f.filter.SizeBytes()))
	_, err := f.WriteTo(&buf)
	return buf.Bytes(), err
}

// UnmarshalBinary is ReadFrom for bytes.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	_, err := f.ReadFrom(bytes.NewReader(data))
	return err
}

// GobEncode is MarshalBinary.
func (f *BloomFilter) GobEncode() ([]byte, error) { return f.MarshalBinary() }

// GobDecode is UnmarshalBinary.
func (f *BloomFilter) GobDecode(data []byte) error { return f.UnmarshalBinary(data) }

// MarshalJSON returns m, k and the bits in base64.
func (f BloomFilter) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	err := bitsandblooms.WriteJSON(&buf, &f.filter)
	return buf.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON returned.
func (f *BloomFilter) UnmarshalJSON(data []byte) error {
	read, err := bitsandblooms.ReadJSON(bytes.NewReader(data))
	if err == nil {
		f.filter = *read
	}
	return err
}
