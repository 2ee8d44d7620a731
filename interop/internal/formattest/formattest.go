// Package formattest has tests that the formats and strategies of several other systems have
// in common.
package formattest

import (
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// Positions compares the bits that keys set with those that were written down once, in
// testdata/positions.golden. A difference breaks every filter in every file: mend the code,
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
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(data)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(4*came+300_000) {
			t.Errorf("%d bytes came and %d were allocated", came, got)
		}
	}
}

// Benchmark measures strategies in the first-level cache; add is of keys that are new to a
// filter that is emptied when it is full.
func Benchmark(b *testing.B, strategies ...bloom.Strategy) {
	const n = 10_000
	for _, s := range strategies {
		f := bloom.MustNew(n, 0.01, bloom.WithStrategy(s))
		keys := make([][]byte, 2*n)
		for i := range keys {
			keys[i] = fmt.Appendf(nil, "https://example.com/articles/2026/%06d", i)
		}
		for name, op := range map[string]func(i int) bool{
			"add":       func(i int) bool { return f.Add(keys[i%n]) },
			"duplicate": func(i int) bool { return f.Add(keys[i%n]) },
			"hit":       func(i int) bool { return f.Contains(keys[i%n]) },
			"miss":      func(i int) bool { return f.Contains(keys[n+i%n]) },
		} {
			b.Run(fmt.Sprintf("strategy=%s/op=%s", s, name), func(b *testing.B) {
				b.ReportAllocs()
				for _, key := range keys[:n] {
					f.Add(key)
				}
				for i := 0; b.Loop(); i++ {
					if name == "add" && i%n == 0 {
						f.Clear()
					}
					op(i)
				}
			})
		}
	}
}
