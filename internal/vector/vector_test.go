package vector

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStoresAreLocked: every instruction that changes a word in memory by what it was has a lock. This finds a missing
// one always. Tests in package bloom see it by its effect, but only if two goroutines really run at the same time: on a
// busy machine, the tests in lockstep passed without some locks in two of six runs.
func TestStoresAreLocked(t *testing.T) {
	changes := regexp.MustCompile(`^(CMPXCHG16B|(CMPXCHG|XADD|OR|AND|XOR|ADD|SUB|BTS|BTR)[BWLQ] [^,]+,) *[-\w<>+·]*\(\w+\)`)
	ours := regexp.MustCompile(`\((SP|FP)\)$`) // the goroutine's stack
	found := 0
	for _, pattern := range []string{"*.s", "*.h"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			before := ""
			for i, line := range strings.Split(string(text), "\n") {
				line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), `\`))
				if changes.MatchString(line) && !ours.MatchString(line) {
					require.Equal(t, "LOCK", before, "%s:%d: %s", file, i+1, line)
					found++
				}
				before = line
			}
		}
	}
	require.GreaterOrEqual(t, found, 11, "instructions with a lock")
}

// TestRowOfLargeFilters: from m = 2^32 on, batches of Double do not have the kernels for eight digests. The bound is
// tested on every processor.
func TestRowOfLargeFilters(t *testing.T) {
	for m, want := range map[uint64]bool{1: true, 1<<32 - 1: true, 1 << 32: false, 1<<32 + 1: false, 1 << 33: false, math.MaxUint64: false} {
		require.Equal(t, want, eightsTake(m), "m = %d", m)
		row := For(Double, Digest, &Bits{Blocks: m}, true)
		require.Equal(t, Has512 && want, row == &doubleEights, "m = %d", m)
	}
}
