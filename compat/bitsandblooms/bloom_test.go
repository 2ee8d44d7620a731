package bloom

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/bits-and-blooms/bitset"
	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// Comparisons with the library itself, and tests that need internal packages, are in checks/formats/bitsandblooms.

// A program of bits-and-blooms with another import line.
func Example() {
	filter := NewWithEstimates(1_000_000, 0.01)
	filter.Add([]byte("Love"))
	fmt.Println(filter.Test([]byte("Love")), filter.TestAndAddString("new"))
	// Output: true false
}

// TestFile reads a file of bits-and-blooms with ten keys, and writes it again.
func TestFile(t *testing.T) {
	data, err := hex.DecodeString("000000000000006000000000000000070000000000000060739dc0b713450f0100000000d01fdfe3")
	require.NoError(t, err)
	var f BloomFilter
	require.NoError(t, f.UnmarshalBinary(data))
	require.EqualValues(t, 10, f.ApproximatedSize())
	for i := range 10 {
		require.True(t, f.TestString(fmt.Sprint("key ", i)))
	}
	again, err := f.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, data, again)
	require.Error(t, f.UnmarshalBinary(data[:20]))
	require.Error(t, f.UnmarshalBinary(nil))
	require.NoError(t, f.UnmarshalJSON([]byte(" null ")))
	require.True(t, f.TestString("key 0"), "an error and null leave the filter as it is")
}

// TestDamagedJSON: damaged JSON is refused, and leaves the filter as it is.
func TestDamagedJSON(t *testing.T) {
	f := New(64, 3).AddString("key")
	for text, want := range map[string]string{
		`{`:                                  "unexpected end of JSON input",
		`{"m":-1,"k":3,"b":""}`:              "cannot unmarshal number -1",
		`{"m":64}`:                           "no field b for m = 64 and k = 0",
		`{"m":64,"k":3,"b":null}`:            "no field b",
		`{"m":0,"k":3,"b":null}`:             "no field b",
		`{"m":64,"k":3,"b":""}`:              "it ends within the head",
		`{"m":64,"k":3,"b":"AAAAAAAAAEA="}`:  "it ends within the bits",
		`{"m":64,"k":3,"b":"AAAAAAAAAEAAA"}`: "field b is not base64",
		`{"m":0,"k":0,"b":"AAAAAAAAAEAAAAAAAAAAAA=="}`:    "m = 0 bits",
		`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAAAA"}`:   "2 bytes after the end",
		`{"m":128,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA=="}`:  "a set of 64 bits for m = 128",
		`{"m":64,"k":256,"b":"AAAAAAAAAEAAAAAAAAAAAA=="}`: "k = 256",
	} {
		err := f.UnmarshalJSON([]byte(text))
		require.ErrorIs(t, err, bloom.ErrCorrupt, text)
		require.ErrorContains(t, err, want, text)
	}
	require.True(t, f.TestString("key"))
	var g BloomFilter
	standard := strings.NewReplacer("-", "+", "_", "/")
	for i := range 100 {
		f.AddString(fmt.Sprint(i))
		text, err := f.MarshalJSON()
		require.NoError(t, err)
		require.NoError(t, g.UnmarshalJSON([]byte(standard.Replace(string(text)))))
		require.True(t, g.Equal(f))
	}
}

// TestManyShapes: filters of more shapes than the cache of schemes has room for, from several goroutines.
func TestManyShapes(t *testing.T) {
	var wg sync.WaitGroup
	for first := range uint(4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range uint(2000) {
				m, k := first+i*7%1000+1, i%255+1
				if f := New(m, k); f.Cap() != m || f.K() != k {
					t.Errorf("m = %d and k = %d, want %d and %d", f.Cap(), f.K(), m, k)
				}
			}
		}()
	}
	wg.Wait()
	f, g := New(1000, 4).AddString("key"), New(1000, 4).AddString("key")
	require.Equal(t, f, g, "one scheme")
	require.Same(t, f, (*BloomFilter)(f.Filter()))
}

// TestOtherFilter: a filter of the root package replaces the one that Filter returns.
func TestOtherFilter(t *testing.T) {
	f := New(1000, 4)
	*f.Filter() = *bloom.MustNew(10, 0.01)
	for _, err := range []error{gob.NewEncoder(io.Discard).Encode(f), json.NewEncoder(io.Discard).Encode(f), New(1000, 4).Merge(f)} {
		require.True(t, errors.Is(err, bloom.ErrNotPortable) || errors.Is(err, bloom.ErrIncompatible), err)
	}
}

// TestFromSharesTheSlice while it is large enough.
func TestFromSharesTheSlice(t *testing.T) {
	for _, c := range []struct {
		words  int
		m      uint
		shared bool
	}{{2, 128, true}, {2, 100, true}, {3, 100, true}, {1, 128, false}, {0, 1, false}} {
		data := make([]uint64, c.words)
		f := FromWithM(data, c.m, 3).AddString("key")
		require.Equal(t, c.m, f.Cap())
		require.Equal(t, c.shared, c.words > 0 && FromWithM(data, c.m, 3).TestString("key"))
		require.True(t, f.TestString("key"))
	}
	require.True(t, FromWithM([]uint64{math.MaxUint64}, 128, 1).TestLocations([]uint64{63, 128}))
	require.Panics(t, func() { FromWithM([]uint64{8}, 3, 1) }, "a bit from m on")
}

// TestWhatNobodyCanMake panics with the reason.
func TestWhatNobodyCanMake(t *testing.T) {
	for reason, call := range map[string]func(){
		"k = 256, want 1 to 255":                          func() { New(1000, 256) },
		fmt.Sprintf("k = %d, want 1 to 255", math.MaxInt): func() { From(nil, math.MaxUint) },
		"p = 0, want 0 < p < 1":                           func() { NewWithEstimates(1000, 0) },
		"bloom: filter too large: n = ":                   func() { NewWithEstimates(math.MaxInt, 1e-9) },
		"use of the zero BloomFilter":                     func() { new(BloomFilter).Test(nil) },
	} {
		func() {
			defer func() { require.Contains(t, fmt.Sprint(recover()), reason) }()
			call()
		}()
	}
	if math.MaxUint == math.MaxUint32 {
		words := make([]uint64, 1<<26) // nobody touches this memory
		require.PanicsWithError(t, "bloom: filter too large: 67108864 words, want at most 67108863", func() { From(words, 1) })
		head := "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x00"
		zeros := bytes.NewReader(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 1<<29))
		_, err := new(BloomFilter).ReadFrom(io.MultiReader(strings.NewReader(head), zeros))
		require.EqualError(t, err, "bloom: filter too large: m = 4294967296 bits, want at most 4294967295")
	}
}

// TestCounts: WriteTo, also to a writer that fails, and ReadFrom return how many bytes they have used.
func TestCounts(t *testing.T) {
	var stream bytes.Buffer
	filters := []*BloomFilter{New(1, 1), New(64, 3), New(65, 3), New(1<<20, 7)} // the last needs two writes
	for _, f := range filters {
		before := stream.Len()
		n, err := f.AddString("key").WriteTo(&stream)
		require.NoError(t, err)
		require.EqualValues(t, stream.Len()-before, n)
	}
	for _, f := range filters {
		before := stream.Len()
		var g BloomFilter
		n, err := g.ReadFrom(&stream)
		require.NoError(t, err)
		require.EqualValues(t, before-stream.Len(), n)
		require.True(t, g.Equal(f))
	}
	r, w := io.Pipe()
	go func() {
		_, _ = io.CopyN(io.Discard, r, 100)
		r.CloseWithError(os.ErrClosed)
	}()
	n, err := filters[3].WriteTo(w)
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualValues(t, 100, n)
}

// TestApproximatedSize compares with -m/k·ln(1 - X/m), where X bits are set, rounded. Of a full filter that is
// infinite, and of a large one above what the result can be.
func TestApproximatedSize(t *testing.T) {
	for _, m := range []uint{64, 1000, 100_000} {
		for _, k := range []uint{1, 3, 13} {
			f := New(m, k)
			for i := range 300 {
				want := -float64(m) / float64(k) * math.Log1p(-float64(f.BitSet().Count())/float64(m))
				require.Equal(t, uint32(math.Round(min(want, math.MaxUint32))), f.ApproximatedSize())
				f.AddString(fmt.Sprint(i))
			}
			f.BitSet().SetAll()
			require.Equal(t, uint32(math.MaxUint32), f.ApproximatedSize())
		}
	}
	f := New(1<<28, 1)
	f.BitSet().SetAll().Clear(0) // 2^28·ln 2^28 = 5.2e9
	require.Equal(t, uint32(math.MaxUint32), f.ApproximatedSize())
}

// TestAnswers: each way to add a key, and what is done with whole filters.
func TestAnswers(t *testing.T) {
	f := New(10_000, 7)
	for i, add := range []func(key string) bool{
		func(key string) bool { return f.TestAndAdd([]byte(key)) },
		f.TestAndAddString,
		func(key string) bool { return f.TestOrAdd([]byte(key)) },
		f.TestOrAddString,
		func(key string) bool { defer f.Add([]byte(key)); return f.Test([]byte(key)) },
		func(key string) bool { defer f.AddString(key); return f.TestString(key) },
		func(key string) bool { defer f.AddString(key); return f.TestLocations(Locations([]byte(key), f.K())) },
	} {
		key := fmt.Sprint("key ", i)
		require.False(t, f.TestString(key))
		require.Equal(t, []bool{false, true, true}, []bool{add(key), add(key), f.TestString(key)})
	}
	g := f.Copy().AddString("another")
	require.False(t, f.TestString("another") || f.Equal(g))
	require.NoError(t, f.Merge(g))
	require.True(t, f.TestString("another") && f.Equal(g))
	require.False(t, f.ClearAll().TestString("key 0") || f.Equal(g))
	require.Zero(t, EstimateFalsePositiveRate(100_000, 7, 1000), "of 100 bits per key")
	require.InDelta(t, 0.0082, EstimateFalsePositiveRate(10_000, 7, 1000), 0.002)
}

// TestZero: what the zero filter answers, and its JSON, which makes another filter zero. m and k are at least one.
func TestZero(t *testing.T) {
	zero, full := new(BloomFilter), New(0, 0).AddString("key")
	require.Equal(t, [4]uint{0, 0, 1, 1}, [4]uint{zero.Cap(), zero.K(), full.Cap(), full.K()})
	require.False(t, zero.Equal(full) || zero.Equal(nil) || full.Equal(zero))
	text, err := zero.MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, full.UnmarshalJSON(text))
	require.True(t, zero.Equal(full))
}

// TestBitSetIsTheFilter: the set has m bits. What changes them in place changes the filter, and an add changes the set.
// A method that gives the set other words leaves the filter as it is.
func TestBitSetIsTheFilter(t *testing.T) {
	require.Nil(t, new(BloomFilter).BitSet())
	for _, m := range []uint{1, 63, 64, 65, 1000} {
		f := New(m, 1)
		s := f.BitSet()
		require.Equal(t, m, s.Len())
		for i := range m {
			require.False(t, f.TestLocations([]uint64{uint64(i)}))
			s.Set(i)
			require.True(t, f.TestLocations([]uint64{uint64(i)}))
		}
		require.True(t, s.All())
		s.ClearAll()
		require.False(t, f.TestString("key"))
		f.AddString("key")
		require.EqualValues(t, 1, s.Count())

		was := f.Copy()
		for _, change := range []func(s *bitset.BitSet){
			func(s *bitset.BitSet) { s.Compact() },
			func(s *bitset.BitSet) { s.Shrink(0) },
			func(s *bitset.BitSet) { s.Set(m + 64) },
			func(s *bitset.BitSet) { s.SetBitsetFrom(make([]uint64, len(s.Words()))) },
		} {
			change(f.BitSet())
			require.True(t, f.Equal(was))
		}
	}
}
