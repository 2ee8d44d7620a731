package rate

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// binomial is the probability of i of n at probability p, by Gamma functions.
func binomial(n, i, p float64) float64 {
	if p == 1 {
		if n == i {
			return 1
		}
		return 0
	}
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(i + 1)
	c, _ := math.Lgamma(n - i + 1)
	return math.Exp(a - b - c + i*math.Log(p) + (n-i)*math.Log1p(-p))
}

// bruteBlocked is the rate of a filter of blocks by another road: within a block the
// distribution of the number of set bits of a word.
func bruteBlocked(blocks uint64, words, wordBits, k, z int, n uint64) float64 {
	g, q := k/z, float64(z)/float64(words)
	// word[j]: j keys of g bits each in one word cover those of a further one.
	var word []float64
	occupied := make([]float64, wordBits+1)
	occupied[0] = 1
	for range n + 1 {
		hit := 0.0
		for x, prob := range occupied {
			hit += prob * math.Pow(float64(x)/float64(wordBits), float64(g))
		}
		word = append(word, hit)
		for range g {
			for x := wordBits; x >= 1; x-- {
				occupied[x] = occupied[x]*float64(x)/float64(wordBits) + occupied[x-1]*float64(wordBits-x+1)/float64(wordBits)
			}
			occupied[0] = 0
		}
	}
	rate := 0.0
	for i := range n + 1 {
		group := 0.0
		for j := range i + 1 {
			group += binomial(float64(i), float64(j), q) * word[j]
		}
		rate += binomial(float64(n), float64(i), 1/float64(blocks)) * math.Pow(group, float64(z))
	}
	return rate
}

func TestBlockedAgainstBruteForce(t *testing.T) {
	require.Zero(t, Blocked(2, 8, 4, 0))
	for _, n := range []uint64{1, 2, 10, 100, 300} {
		for _, blocks := range []uint64{1, 2, 7, 40} {
			for z := 1; z <= 8; z *= 2 {
				for _, k := range []int{z, 2 * z, 3 * z} {
					want := bruteBlocked(blocks, 8, 64, k, z, n)
					require.InEpsilon(t, want, Blocked(blocks, k, z, n), 1e-8, "z=%d k=%d n=%d blocks=%d", z, k, n, blocks)
				}
			}
			want := bruteBlocked(blocks, 8, 32, 8, 8, n) + float64(n)/float64(blocks)*0x1p-32
			require.InEpsilon(t, want, SplitBlock(blocks, n), 1e-8, "n=%d blocks=%d", n, blocks)
		}
	}
}

// TestSplitBlockByItsClosedForm: for any n, by inclusion and exclusion over the 8 bits of a key, for each of the 2^32
// values that select a block. It is exact, but for the rounding of terms that cancel.
func TestSplitBlockByItsClosedForm(t *testing.T) {
	const values = 1 << 32
	inBlock := func(share float64, n uint64) float64 { // the rate of a block that a key is in with probability share
		rate, choose := float64(n)*share/values, 1.0 // keys that have 32 bits of the digest in common
		for s := range 9 {
			lack := -math.Expm1(float64(s) * math.Log1p(-1.0/32)) // a key sets one of s given bits
			rate += choose * math.Exp(float64(n)*math.Log1p(-lack*share))
			choose *= -float64(8-s) / float64(s+1)
		}
		return rate
	}
	require.Zero(t, SplitBlock(20, 0))
	for _, n := range []uint64{10, 1000, 1 << 20, 1 << 30, 1e11} {
		for _, bitsPerKey := range []float64{0.5, 2, 8, 10.7, 12, 16, 24, 32} {
			blocks := uint64(float64(n)*bitsPerKey/256) + 1
			if blocks >= values {
				continue
			}
			q, more := values/blocks, values%blocks
			want := float64((blocks-more)*q) / values * inBlock(float64(q)/values, n)
			want += float64(more*(q+1)) / values * inBlock(float64(q+1)/values, n)
			require.InDelta(t, want, SplitBlock(blocks, n), 1e-9*want+1e-13, "n=%d at %v bits a key", n, bitsPerKey)
		}
	}
}

// TestBlockSaturatesBelowTheShortcut holds what mixture says about full blocks.
func TestBlockSaturatesBelowTheShortcut(t *testing.T) {
	for z := 1; z <= 8; z *= 2 {
		for k := z; k <= maxBlockK; k += z {
			require.Equal(t, 1.0, Blocked(1, k, z, 1<<14), "k=%d z=%d", k, z)
			require.Equal(t, 1.0, Blocked(2, k, z, 1<<50), "k=%d z=%d", k, z)
			require.InDelta(t, 1, Blocked(2, k, z, 1<<16), 1e-8, "k=%d z=%d", k, z)
		}
	}
	require.Equal(t, 1.0, SplitBlock(1, 1<<14))
	require.InDelta(t, 1, SplitBlock(2, 1<<16), 1e-8)
}

// TestTablesOfManyGoroutines: concurrent goroutines extend the tables and get the results of one goroutine.
func TestTablesOfManyGoroutines(t *testing.T) {
	reset := func() {
		for z := range blockTables {
			for g := range blockTables[z] {
				blockTables[z][g].Store(nil)
			}
		}
	}
	ask := func() (rates []float64) {
		for _, n := range []uint64{5, 40, 300, 2000} {
			for _, k := range []int{8, 16} {
				for z := 1; z <= 8; z *= 2 {
					rates = append(rates, Blocked(2, k, z, n), Blocked(30, k, z, n))
				}
			}
		}
		return rates
	}
	reset()
	want := ask()
	for range 20 {
		reset()
		var wg testkit.Group
		for range 4 {
			wg.Go(func() {
				for i, rate := range ask() {
					if rate != want[i] {
						t.Errorf("rate %d is %v, alone it was %v", i, rate, want[i])
					}
				}
			})
		}
		wg.Wait()
	}
}

func BenchmarkBlocked(b *testing.B) {
	sum := 0.0
	for _, c := range []struct {
		k, z       int
		bitsPerKey float64
	}{{6, 2, 10.27}, {12, 4, 22.6}, {16, 8, 41.1}} {
		for _, n := range []uint64{100, 10_000, 1_000_000_000} {
			b.Run(fmt.Sprintf("k=%d/n=%d", c.k, n), func(b *testing.B) {
				blocks := uint64(c.bitsPerKey*float64(n)/512) + 1
				for b.Loop() {
					sum += Blocked(blocks, c.k, c.z, n)
				}
			})
		}
	}
	if sum == 0 {
		b.Fatal("nothing was done")
	}
}
