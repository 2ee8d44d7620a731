package bitsandblooms

import (
	"fmt"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// TestPositionsAreFrozen compares with positions that were written down once.
// A difference breaks every filter in every file: mend the code, never the file.
func TestPositionsAreFrozen(t *testing.T) {
	var out strings.Builder
	for _, s := range []bloom.Strategy{Strategy} {
		for _, seed := range []uint64{0} {
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

// TestSum256 compares with the library's hash of the key that has the 1 behind it.
func TestSum256(t *testing.T) {
	key := make([]byte, 300)
	for i := range key {
		key[i] = byte(uint64(i) * 0x9e3779b97f4a7c15 >> 56)
	}
	for n := range len(key) - 1 {
		var want [4]uint64
		want[0], want[1] = murmur3.Sum128(key[:n])
		want[2], want[3] = murmur3.Sum128(append(key[:n:n], 1))
		var got [4]uint64
		if got[0], got[1], got[2], got[3] = sum256(key[:n]); got != want {
			t.Fatalf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestNoSeed(t *testing.T) {
	_, err := bloom.New(10, 0.1, bloom.WithStrategy(Strategy), bloom.WithSeed(1))
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.ErrorContains(t, err, "bits-and-blooms has no seed")
}

// BenchmarkStrategy in the first-level cache; add is of keys that are new to a filter that
// is emptied when it is full.
func BenchmarkStrategy(b *testing.B) {
	const n = 10_000
	f := bloom.MustNew(n, 0.01, bloom.WithStrategy(Strategy))
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
		b.Run("op="+name, func(b *testing.B) {
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

func TestConformance(t *testing.T) {
	require.NoError(t, bloomtest.TestStrategy(Strategy, bloomtest.Point{N: 100, P: 0.05}, bloomtest.Point{N: 1000, P: 0.01}, bloomtest.Point{N: 20_000, P: 1e-3}))
}
