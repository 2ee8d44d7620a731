package bloom

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rate"
	"github.com/stretchr/testify/require"
)

// No bit of a digest serves twice.
//
// Blocked takes the block from h1 alone and everything inside the block from h2
// alone, at any size. Inside, different bits of h2 give the words and each of the
// first eight bits; from the ninth on, a product of all of h2 does. So with a digest
// whose halves are independent, as those of Murmur3 and SipHash are, the bits within
// a block tell nothing about which block it is, and the other way round.
//
// MapHash and RapidHash have 64 bits, and h2 is a function of h1. The block takes the upper 44
// bits of h1 at most, and 20 or more are left, which decide by widen what happens
// inside. That two keys agree in those, too, is a collision of whole digests, which
// New subtracts from p.
//
// DoubleHashing takes a position from all 64 bits of x, of which floor(x·m / 2^64)
// keeps the upper 53 at most. One position has floor(2^64/m) or one more of the 2^64
// values of x, at least 2048, so that the likelihoods of two positions differ by
// less than one part in 2048. Their relative variance is a quarter of the square of
// that at most, 6e-8, and that is about what each of k probes adds to the rate, as a
// share of it: for k = 64, less than one part in 200 000.

// largestM is the largest m that New and ParamsFor choose.
const largestM = maxM - blockBits

// TestLargestM: what the argument above rests on. 9.39e14 keys at 1 % would fit
// by the classical bound, but not with a whole k.
func TestLargestM(t *testing.T) {
	for _, s := range ours {
		if s == SplitBlock {
			continue // it ends sooner: TestSplitBlockParams
		}
		got, err := ParamsFor(6e14, 0.01, s)
		require.NoError(t, err, s)
		require.LessOrEqual(t, got.M, uint64(largestM), s)
		for _, c := range []struct {
			n    uint64
			p    float64
			text string
		}{
			{939_000_000_000_000, 0.01, fmt.Sprintf("bits with strategy %q reaches p = 0.01 for n = 939000000000000 keys", s)},
			{1e15, 0.01, "n = 1000000000000000 keys at p = 0.01 need 1.198e+15 bytes, want fewer than 1125899906842624"},
			{math.MaxUint64, 0.5, "n = 18446744073709551615 keys at p = 0.5 need 3.327e+18 bytes"},
		} {
			_, err := ParamsFor(c.n, c.p, s)
			require.ErrorIs(t, err, ErrTooLarge, s)
			require.ErrorContains(t, err, c.text)
		}
	}
}

// TestBlockedUsesEachDigestBitOnce flips the bits of digests one by one and looks at
// what moves, in the largest filter.
func TestBlockedUsesEachDigestBitOnce(t *testing.T) {
	for _, s := range blockeds {
		z := groupsOf(s)
		for j := range uint64(100) {
			h1, h2 := digestOf(j)
			at := func(h1, h2 uint64) (block uint64, within [maxK]uint64) {
				for i := range within {
					pos := positionAt(s, h1, h2, i, largestM)
					if i > 0 && pos/blockBits != block {
						t.Fatalf("%s: probe %d is in block %d, the first in %d", s, i, pos/blockBits, block)
					}
					block, within[i] = pos/blockBits, pos%blockBits
				}
				return block, within
			}
			block, within := at(h1, h2)
			for b := range 64 {
				flipped, same := at(h1^1<<b, h2)
				if same != within {
					t.Fatalf("%s: bit %d of h1 moves bits inside the block", s, b)
				}
				if b >= 20 && flipped == block { // 2^44 blocks
					t.Fatalf("%s: bit %d of h1 does not move the block", s, b)
				}
				flipped, moved := at(h1, h2^1<<b)
				if flipped != block {
					t.Fatalf("%s: bit %d of h2 moves the block", s, b)
				}
				for i := range 8 {
					word, bit := moved[i]/64 != within[i]/64, moved[i]%64 != within[i]%64
					if want := b < 48 && i == b/6; bit != want {
						t.Fatalf("%s: bit %d of h2 moves the bit of probe %d: %t, want %t", s, b, i, bit, want)
					}
					if want := selectorOf(z, i%z, b); word != want {
						t.Fatalf("%s: bit %d of h2 moves the word of probe %d: %t, want %t", s, b, i, word, want)
					}
				}
			}
		}
	}
}

// selectorOf reports whether bit b of h2 is one of those that select the word of a
// group: the top 3 for one group of 8 words, the top 2 and the next 2 for two
// groups of 4, the top 4, one each, for four groups of 2, none for eight.
func selectorOf(z, group, b int) bool {
	switch z {
	case 1:
		return b >= 61
	case 2:
		return b == 62-2*group || b == 63-2*group
	case 4:
		return b == 63-group
	}
	return false
}

// TestPositionsHaveEnoughBits: at the largest m, each position has 2048 or 2049 of
// the values of x, and a strategy that has only 2^32 values would fail.
func TestPositionsHaveEnoughBits(t *testing.T) {
	for _, m := range []uint64{largestM, largestM - 64, maxM - 1, maxM/2 + 12345, 1 << 40, 19_170_117} {
		// The smallest x of a position: ceil(pos·2^64 / m).
		first := func(pos uint64) uint64 {
			x, rest := bits.Div64(pos, 0, m)
			return x + min(rest, 1)
		}
		floor, _ := bits.Div64(1, 0, m) // floor(2^64 / m)
		for i := range uint64(1000) {
			pos := probe.Reduce(mix(i), m-1) // not the last one, whose end is 2^64
			x, end := first(pos), first(pos+1)
			if probe.Reduce(x, m) != pos || x > 0 && probe.Reduce(x-1, m) == pos || probe.Reduce(end-1, m) != pos || probe.Reduce(end, m) != pos+1 {
				t.Fatalf("m = %d: position %d is not that of [%d, %d)", m, pos, x, end)
			}
			if got := end - x; got != floor && got != floor+1 {
				t.Fatalf("m = %d: position %d has %d values of x, want %d or one more", m, pos, got, floor)
			}
		}
		uneven := 1 / float64(floor)
		if share := maxK * uneven * uneven / 4; share > 1.0/200_000 {
			t.Errorf("m = %d: likelihoods that differ by %.2g add a share of %.2g to the rate", m, uneven, share)
		}
	}
	require.GreaterOrEqual(t, uint64(math.MaxUint64)/largestM, uint64(2048))
}

// shortDigest is a digest of MapHash whose h1 begins with the given bits: what two
// keys of the same block, or of the same position, have in common.
func shortDigest(prefix uint64, free int, draw uint64) (h1, h2 uint64) {
	h1 = prefix<<free | draw&(1<<free-1)
	return h1, widen(h1)
}

// unevenness returns by what share two draws coincide more often than uniform ones
// would: what matters to a rate, and 0 up to noise for what is uniform. noise is its
// standard deviation then.
func unevenness(counts []float64) (excess, noise float64) {
	draws := 0.0
	for _, c := range counts {
		draws += c
	}
	freedom := float64(len(counts) - 1)
	noise = math.Sqrt(2*freedom) / draws
	return chiSquareSigmas(counts, draws/float64(len(counts))) * noise, noise
}

// TestMapHashWithinABlock holds the block fixed, in a filter of 2^44 blocks, so that
// only the low 20 bits of h1 are left: the words and bits inside are uniform, one by
// one and in pairs, to better than a part in 2000.
func TestMapHashWithinABlock(t *testing.T) {
	sequential(t)
	t.Parallel()
	const free = 20
	for prefix := range uint64(4) {
		prefix = mix(prefix) >> free
		var words [16]float64 // the top 4 bits of h2 select them, for every z
		var single [16][64]float64
		var pair [15][4096]float64
		for draw := range uint64(1 << free) {
			h1, h2 := shortDigest(prefix, free, draw)
			words[h2>>60]++
			before := uint64(0)
			for i := range 16 {
				bit := positionAt(Blocked8, h1, h2, i, largestM) % 64 // the same for every z
				single[i][bit]++
				if i > 0 {
					pair[i-1][before<<6|bit]++
				}
				before = bit
			}
		}
		check := func(what string, i int, counts []float64) {
			if excess, noise := unevenness(counts); excess > 5e-4+5*noise {
				t.Errorf("block %#x, %s %d: two keys coincide more often by a share of %.5f, want at most 0.0005 ± %.5f", prefix, what, i, excess, noise)
			}
		}
		check("words", 0, words[:])
		for i := range single {
			check("bit", i, single[i][:])
		}
		for i := range pair {
			check("pair", i, pair[i][:])
		}
		if testing.Short() {
			break
		}
	}
}

// TestMapHashRateWithinABlock fills blocks with keys that agree in the upper 44 bits
// of h1 and asks for others that do, too: their rate is that of the model, which
// takes them to be independent.
func TestMapHashRateWithinABlock(t *testing.T) {
	t.Parallel()
	const free = 20
	trials := uint64(effort.Times(15_000, 150_000, 150_000))
	for _, c := range []struct {
		s       Strategy
		k, keys int
	}{{Blocked1, 4, 40}, {Blocked2, 6, 55}, {Blocked4, 8, 45}, {Blocked8, 16, 40}, {Blocked8, 24, 30}} {
		f, err := NewWithParams(Params{M: blockBits, K: c.k}, WithStrategy(c.s))
		require.NoError(t, err)
		draws := uint64(0)
		draw := func(block uint64) uint64 {
			draws++
			h1, _ := shortDigest(mix(^block)>>free, free, mix(draws))
			return h1
		}
		hits, asked := 0.0, 0.0
		for block := range trials / 10 {
			f.Clear()
			var added []uint64
			for range c.keys {
				h1 := draw(block)
				added = append(added, h1)
				f.AddDigest(h1, widen(h1)) // one block: h1 selects nothing here
			}
		ask:
			for range 10 {
				h1 := draw(block)
				for _, other := range added {
					if h1 == other {
						continue ask // a collision, which New has subtracted from p
					}
				}
				asked++
				if f.ContainsDigest(h1, widen(h1)) {
					hits++
				}
			}
		}
		want := asked * rate.Blocked(1, c.k, groupsOf(c.s), uint64(c.keys))
		// Ten share a block, and so its fill: at worst that multiplies the variance
		// by ten, here by less than two.
		if sigma := math.Sqrt(2 * want); math.Abs(hits-want) > 4*sigma || want < 100 && trials > 100_000 {
			t.Errorf("%s k=%d with %d keys: %.0f of %.0f, want %.0f ± %.0f", c.s, c.k, c.keys, hits, asked, want, sigma)
		}
	}
}

// TestMapHashAtOnePosition holds the first position of DoubleHashing fixed, in a
// filter of 2^53 bits, so that only the low 11 bits of h1 are left: the others are
// uniform all the same, to a part in 500.
func TestMapHashAtOnePosition(t *testing.T) {
	const free, prefixes = 11, 1000
	for _, i := range []int{1, 2, 6} {
		var high, low [256]float64
		for prefix := range uint64(prefixes) {
			seen := uint64(0)
			for draw := range uint64(1 << free) {
				h1, h2 := shortDigest(mix(prefix)>>free, free, draw)
				if first := doubleIndex(h1, h2, 0, maxM); draw == 0 {
					seen = first
				} else if first != seen {
					t.Fatalf("h1 = %#x has another first position", h1)
				}
				pos := doubleIndex(h1, h2, i, maxM)
				high[pos>>45]++
				low[pos&255]++
			}
		}
		for name, counts := range map[string]*[256]float64{"upper": &high, "lower": &low} {
			if excess, noise := unevenness(counts[:]); excess > 2e-3+5*noise {
				t.Errorf("position %d, %s bits: two keys coincide more often by a share of %.5f, want at most 0.002 ± %.5f", i, name, excess, noise)
			}
		}
	}
}

// TestBlocksAreCacheLines: or each lookup would cost two.
func TestBlocksAreCacheLines(t *testing.T) {
	for words := uint64(8); words < 5000; words += 8 {
		b := makeWords(words)
		require.Len(t, b, int(words))
		require.Equal(t, len(b), cap(b))
		require.Zero(t, addressOf(b)%64, "%d words", words)
	}
	f := MustNew(100, 0.01, WithStrategy(Blocked))
	require.Zero(t, addressOf(f.Clone().bits)%64)
}
