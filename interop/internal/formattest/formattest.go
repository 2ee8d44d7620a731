// Package formattest has tests for the formats and strategies of several other systems.
package formattest

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// Positions compares the bits that keys set with those that were written down once, in
// testdata/positions.golden. A difference breaks every filter in every file: correct the code,
// never the file.
func Positions(t *testing.T, seeds []uint64, strategies ...bloom.Strategy) {
	t.Helper()
	var out strings.Builder
	for _, s := range strategies {
		for _, seed := range seeds {
			for _, p := range []bloom.Params{{M: 64, K: 3}, {M: 1000, K: 7}, {M: 19_170_117, K: 13}} {
				for _, key := range []string{"", "a", "hello, world", "https://example.com/?q=ü"} {
					f, err := bloom.NewWithParams(p, bloom.WithStrategy(s), bloom.WithSeed(seed))
					require.NoError(t, err)
					f.AddString(key)
					positions := []uint64{}
					words := f.Words()
					for i := range words {
						for w := words[i].Load(); w != 0; w &= w - 1 {
							positions = append(positions, uint64(i)*64+uint64(bits.TrailingZeros64(w)))
						}
					}
					fmt.Fprintf(&out, "%s seed=%d m=%d k=%d %q: %d\n", s, seed, p.M, p.K, key, positions)
				}
			}
		}
	}
	want, err := os.ReadFile("testdata/positions.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

// LyingHead reads data whose head claims a GiB or more and behind which only some bytes come:
// no more is allocated than fits to those.
func LyingHead(t *testing.T, head string, read func(io.Reader) error) {
	t.Helper()
	for _, came := range []int{0, 1000, 100_000, 3_000_000} {
		data := strings.NewReader(head + strings.Repeat("\x00", came))
		var err error
		allocated := allocatedBy(func() { err = read(data) })
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		if allocated > uint64(4*came+300_000) {
			t.Errorf("%d bytes came and %d were allocated", came, allocated)
		}
	}
}

// Memory writes a filter into a file and reads it: that allocates the filter once.
func Memory(t *testing.T, f *bloom.BloomFilter, write func(io.Writer, *bloom.BloomFilter) error, read func(io.Reader, ...bloom.Option) (*bloom.BloomFilter, error)) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "filter"))
	require.NoError(t, err)
	defer file.Close()
	written := allocatedBy(func() { err = write(file, f) })
	require.NoError(t, err)
	require.Less(t, written, uint64(200_000))
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	var again *bloom.BloomFilter
	allocated := allocatedBy(func() { again, err = read(file) })
	require.NoError(t, err)
	require.True(t, f.Equal(again))
	require.LessOrEqual(t, float64(allocated), 1.1*float64(f.SizeBytes()))
}

func allocatedBy(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
