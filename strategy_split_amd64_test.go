//go:build !purego && !race

package bloom

import (
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/splitvec"
	"github.com/stretchr/testify/require"
)

// TestSplitKernelsWithoutVectors runs the tests as on a processor without AVX2.
func TestSplitKernelsWithoutVectors(t *testing.T) {
	if !splitvec.Has {
		t.Skip("NOT TESTED: the kernels in assembly, for this processor has no AVX2")
	}
	defer func() { splitvec.Has = true }()
	require.Same(t, &splitVectors, splitOver(t, makeWords(splitWordsOf), false).kernel)
	splitvec.Has = false
	require.Same(t, &splitInWords, splitOver(t, makeWords(splitWordsOf), false).kernel)
	TestSplitKernelsAgree(t)
	TestSplitBlockIsParquets(t)
	TestSplitBlockWithRapidHash(t)
	TestSplitKernelsTogether(t)
}

// TestSplitVectorsNeedAlignment: blocks that cross cache lines are left to the kernels in Go.
func TestSplitVectorsNeedAlignment(t *testing.T) {
	words := makeWords(64)
	for skip := range 8 {
		f := splitOver(t, words[skip:][:32], false)
		require.Equal(t, splitvec.Has && skip%4 == 0, f.kernel == &splitVectors, "%d words after the line", skip)
		require.Equal(t, uintptr(skip*8)%32 == 0, uintptr(f.bits.start())%32 == 0)
	}
	require.Zero(t, unsafe.Offsetof(BloomFilter{}.bits), "where the assembly finds the words")
}
