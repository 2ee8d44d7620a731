//go:build !purego && !race

package bloom

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestSplitKernelsOfEveryProcessor runs the tests of the kernels as a processor without
// AVX-512 and one without AVX2 would.
func TestSplitKernelsOfEveryProcessor(t *testing.T) {
	if !hasVectors {
		t.Skip("NOT TESTED: the kernels in assembly, for this processor has no AVX2")
	}
	if !hasAVX512 {
		t.Log("NOT TESTED: the lookup by AVX-512, for this processor has none")
	}
	vectors, avx512 := hasVectors, hasAVX512
	defer func() { hasVectors, hasAVX512 = vectors, avx512 }()
	aligned := func() strategyID { return splitOver(t, makeWords(splitWords), false).kernel }

	require.Equal(t, kernelSplitVectors, aligned())
	hasAVX512 = false
	t.Run("AVX2", func(t *testing.T) {
		TestSplitKernelsAgree(t)
		TestSplitBlockIsParquets(t)
		TestSplitKernelsBesideEachOther(t)
	})
	hasVectors = false
	require.Equal(t, idSplitBlock, aligned())
	t.Run("Go", func(t *testing.T) {
		TestSplitKernelsAgree(t)
		TestSplitBlockIsParquets(t)
	})
}

// TestSplitVectorsNeedAlignment: a block across two cache lines is no place for a vector.
func TestSplitVectorsNeedAlignment(t *testing.T) {
	words := makeWords(64)
	for skip := range 8 {
		f := splitOver(t, words[skip:][:32], false)
		require.Equal(t, hasVectors && skip%4 == 0, f.kernel == kernelSplitVectors, "%d words after the line", skip)
		require.Equal(t, uintptr(skip*8)%32 == 0, addressOf(f.bits)%32 == 0)
	}
	require.Zero(t, unsafe.Offsetof(BloomFilter{}.bits), "where the assembly finds the words")
}
