package bloom

import (
	"fmt"
	"math"
	"os"
	"testing"

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
	require.Error(t, f.UnmarshalJSON([]byte(`{"m":64}`)))
	require.True(t, f.TestString("key 0"), "an error leaves the filter as it is")
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
	require.Equal(t, "bloom.BloomFilter(zero)", fmt.Sprint(BloomFilter{}))
	layeredtest.Log(t, New(1000, 4), BloomFilter{})
	n, err := New(1000, 4).WriteTo(&testkit.ShortWriter{Room: 100, Err: os.ErrClosed})
	require.ErrorIs(t, err, os.ErrClosed)
	require.EqualValues(t, 100, n)
}

func TestZeroValues(t *testing.T) { zero.Values(t, new(BloomFilter)) }
