package bloom

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/testing/zero"
	"github.com/stretchr/testify/require"
)

// Comparisons with the library itself are in checks/formats/bitsandblooms.

// A program of bits-and-blooms with another import line.
func Example() {
	filter := NewWithEstimates(1_000_000, 0.01)
	filter.Add([]byte("Love"))
	fmt.Println(filter.Test([]byte("Love")), filter.TestAndAddString("new"))
	// Output: true false
}

// TestFile reads a file of bits-and-blooms, and writes it again.
func TestFile(t *testing.T) {
	data, err := os.ReadFile("../../interop/bitsandblooms/testdata/ten.bloom")
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

// TestDamagedText: text that is damaged is refused, and leaves the filter as it is.
func TestDamagedText(t *testing.T) {
	f := New(64, 3).AddString("key")
	for text, want := range map[string]string{
		`{`:                                  "unexpected end of JSON input",
		`{"m":-1,"k":3,"b":""}`:              "cannot unmarshal number -1",
		`{"m":64}`:                           "no field b for m = 64 and k = 0",
		`{"m":64,"k":3,"b":null}`:            "no field b",
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
	text, err := f.MarshalText()
	require.NoError(t, err)
	for _, damaged := range []string{"", "!", string(text[:20]), string(text[:len(text)-4]), string(text) + "AAAA"} {
		require.ErrorIs(t, f.UnmarshalText([]byte(damaged)), bloom.ErrCorrupt)
	}
	var g BloomFilter
	require.NoError(t, g.UnmarshalText(text))
	require.True(t, f.TestString("key") && g.Equal(f))
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
	var wg testkit.Group
	for first := range uint(4) {
		wg.Go(func() {
			for i := range uint(2000) {
				m, k := first+i*7%1000+1, i%255+1
				if f := New(m, k); f.Cap() != m || f.K() != k {
					t.Errorf("m = %d and k = %d, want %d and %d", f.Cap(), f.K(), m, k)
				}
			}
		})
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
	}
	require.Equal(t, "bloom.BloomFilter(zero)", fmt.Sprint(BloomFilter{}))
	layeredtest.Log(t, New(1000, 4), BloomFilter{})
	n, err := New(1000, 4).WriteTo(&testkit.ShortWriter{Room: 100, Err: os.ErrClosed})
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualValues(t, 100, n)
}

func TestZeroValues(t *testing.T) { zero.Values(t, new(BloomFilter), new(BitSet)) }

// TestConformance of the bytes and of JSON.
func TestConformance(t *testing.T) {
	small, large := New(100, 3).AddString("key"), New(1<<24, 3)
	for i := range 1000 {
		large.AddString(fmt.Sprint(i))
	}
	conformance.Format{
		Values: []io.WriterTo{small, New(1, 1), New(1000, 5)}, Large: large, Stream: true,
		Read: func(r io.Reader, _ ...bloom.Option) (io.WriterTo, error) {
			f := new(BloomFilter)
			_, err := f.ReadFrom(r)
			return f, err
		},
	}.Test(t)
	conformance.Format{
		Values: []io.WriterTo{conformance.Encoded(small.MarshalJSON)}, AnyError: true,
		Read: conformance.Whole(func(data []byte) (io.WriterTo, error) {
			f := new(BloomFilter)
			err := f.UnmarshalJSON(data)
			return conformance.Encoded(f.MarshalJSON), err
		}),
	}.Test(t)
}
