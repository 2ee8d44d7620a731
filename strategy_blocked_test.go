package bloom

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// No bit of a digest serves twice.
//
// Blocked takes the block from h1 alone and everything inside the block from h2 alone. Inside,
// different bits of h2 give the words and each of the first eight bits; from the ninth on, a
// product of all of h2 does. With independent halves, as those of Murmur3 and SipHash are, the
// bits within a block tell nothing about the block.
//
// MapHash and RapidHash have 64 bits, and h2 is a function of h1. The block takes the upper 44
// bits of h1 at most. The 20 or more others decide by widen what happens inside. Keys that
// agree in those too have equal digests, which New subtracts from p.

// largestM is the largest m that New chooses.
const largestM = maxM - blockBits

// TestLargestM: 9.39e14 keys at 1 % would fit by the classical bound, but not with a whole k.
func TestLargestM(t *testing.T) {
	for _, s := range builtins {
		if s == SplitBlock {
			continue // it ends sooner: TestSplitBlockParams
		}
		got, err := sizeFor(6e14, 0.01, s)
		require.NoError(t, err, s)
		require.LessOrEqual(t, got.M, uint64(largestM), s)
		for _, c := range []struct {
			n    uint64
			p    float64
			text string
		}{
			{939_000_000_000_000, 0.01, fmt.Sprintf("bits with strategy %q reaches p = 0.01 for n = 939000000000000 keys", s)},
			{1e15, 0.01, "n = 1000000000000000 keys at p = 0.01 need 1.198e+15 bytes, want fewer than 1125899906842624"},
		} {
			_, err := sizeFor(c.n, c.p, s)
			require.ErrorIs(t, err, ErrTooLarge, s)
			require.ErrorContains(t, err, c.text)
		}
	}
}

// TestBlockedUsesEachDigestBitOnce flips the bits of digests one by one in the largest filter
// and looks at what moves.
func TestBlockedUsesEachDigestBitOnce(t *testing.T) {
	for _, k := range []int{62, 60, 64} {
		z := probe.Words(k)
		for j := range uint64(20) {
			h1, h2 := digestOf(j)
			at := func(h1, h2 uint64) (block uint64, within [maxK]uint64) {
				for i, pos := range digestPositions(Blocked, h1, h2, largestM, k) {
					if i > 0 && pos/blockBits != block {
						t.Fatalf("k = %d: probe %d is in block %d, the first in %d", k, i, pos/blockBits, block)
					}
					block, within[i] = pos/blockBits, pos%blockBits
				}
				return block, within
			}
			block, within := at(h1, h2)
			for b := range 64 {
				flipped, same := at(h1^1<<b, h2)
				if same != within {
					t.Fatalf("k = %d: bit %d of h1 moves bits inside the block", k, b)
				}
				if b >= 20 && flipped == block { // 2^44 blocks
					t.Fatalf("k = %d: bit %d of h1 does not move the block", k, b)
				}
				flipped, moved := at(h1, h2^1<<b)
				if flipped != block {
					t.Fatalf("k = %d: bit %d of h2 moves the block", k, b)
				}
				for i := range 8 {
					word, bit := moved[i]/64 != within[i]/64, moved[i]%64 != within[i]%64
					if want := b < 48 && i == b/6; bit != want {
						t.Fatalf("k = %d: bit %d of h2 moves the bit of probe %d: %t, want %t", k, b, i, bit, want)
					}
					if want := selectorOf(z, i%z, b); word != want {
						t.Fatalf("k = %d: bit %d of h2 moves the word of probe %d: %t, want %t", k, b, i, word, want)
					}
				}
			}
		}
	}
}

// selectorOf reports whether bit b of h2 is one of the bits that select the word of a group:
// the top 3 for one group of 8 words, the top 2 and the next 2 for two groups of 4, the top 4,
// one each, for four groups of 2, none for eight.
func selectorOf(z, group, b int) bool {
	switch z {
	case 2:
		return b == 62-2*group || b == 63-2*group
	case 4:
		return b == 63-group
	}
	return false
}

// TestMapHashRateWithinABlock fills blocks with keys that agree in the upper 44 bits of h1, as
// in a filter of 2^44 blocks, and looks up other such keys. Their rate is that of the model,
// which takes them to be independent.
func TestMapHashRateWithinABlock(t *testing.T) {
	t.Parallel()
	const free = 20
	trials := uint64(testkit.Times(15_000, 30_000, 150_000))
	for _, c := range []struct {
		k, keys int
	}{{6, 55}, {8, 45}, {16, 40}, {24, 30}} {
		f := must(newWithParams(Params{M: blockBits, K: c.k}, WithStrategy(Blocked)))
		draws := uint64(0)
		draw := func(block uint64) uint64 {
			draws++
			return mix(^block)>>free<<free | mix(draws)&(1<<free-1)
		}
		hits, asked := 0.0, 0.0
		for block := range trials / 10 {
			f.Clear()
			var added []uint64
			for range c.keys {
				h1 := draw(block)
				added = append(added, h1)
				f.AddDigest(h1, probe.Widen(h1)) // one block: h1 selects nothing here
			}
		ask:
			for range 10 {
				h1 := draw(block)
				for _, other := range added {
					if h1 == other {
						continue ask // equal digests, which New has subtracted from p
					}
				}
				asked++
				if f.ContainsDigest(h1, probe.Widen(h1)) {
					hits++
				}
			}
		}
		want := asked * rate.Blocked(1, c.k, probe.Words(c.k), uint64(c.keys))
		// Ten keys share a block, and so its fill: at worst that multiplies the variance
		// by ten, here by less than two.
		if sigma := math.Sqrt(2 * want); math.Abs(hits-want) > 4*sigma || want < 20 {
			t.Errorf("k=%d with %d keys: %.0f of %.0f, want %.0f ± %.0f", c.k, c.keys, hits, asked, want, sigma)
		}
	}
}

// TestBlockedMemory: the figures of the documentation.
func TestBlockedMemory(t *testing.T) {
	const n = 1_000_000
	for _, c := range []struct {
		p        float64
		words, k int
		over     float64
	}{
		{0.03, 2, 4, 1.048},
		{0.01, 2, 6, 1.071},
		{1e-3, 4, 8, 1.100},
		{1e-4, 4, 12, 1.177},
		{1e-6, 8, 16, 1.357},
		{1e-9, 8, 24, 1.880},
	} {
		got := must(sizeFor(n, c.p, Blocked))
		require.Equal(t, c.k, got.K)
		require.Equal(t, c.words, Blocked.wordsPerKey(got.K))
		require.InDelta(t, c.over, float64(got.M)/rate.OptimalM(n, c.p), 0.001)
	}
	_, err := sizeFor(n, 1e-13, Blocked)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, `p = 1e-13 with strategy "blocked", want at least 1e-12`)
}
