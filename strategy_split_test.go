package bloom

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// TestSplitBlockIsParquets compares with the bytes that github.com/parquet-go/parquet-go
// v0.32.0 has made of the same hashes, five for each block.
func TestSplitBlockIsParquets(t *testing.T) {
	for blocks, want := range map[uint64]struct {
		sum   uint32
		first uint64
	}{
		1:    {0x738d390d, 0x110a1004009050},
		2:    {0xc8abcc9d, 0x800085000101042},
		3:    {0xce534205, 0x80080200201001},
		100:  {0xaa417f2e, 0x800900008800080},
		4097: {0x5eef16de, 0x40002000000},
	} {
		f := must(newWithParams(Params{M: blocks * splitBits, K: splitK}, WithStrategy(SplitBlock)))
		for i := range 5 * blocks {
			f.AddDigest(mix(i), ^mix(i))
		}
		sum := crc32.NewIEEE()
		for i := range f.bits {
			_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, f.bits[i].Load()))
		}
		require.Equal(t, want.first, f.bits[0].Load(), "%d blocks", blocks)
		require.Equal(t, want.sum, sum.Sum32(), "%d blocks", blocks)
	}
}

// TestSplitBlockOfBillionsOfKeys measures a part of a filter with more than 2^31 blocks, of which some
// have two of the 2^32 values that select a block and others one: New's p holds.
func TestSplitBlockOfBillionsOfKeys(t *testing.T) {
	sequential(t)
	t.Parallel()
	const part = 1 << 15 // blocks
	for _, c := range []struct {
		n uint64
		p float64
	}{{6e10, 0.01}, {3e10, 1e-3}, {9e10, 0.03}} {
		params := must(sizeFor(c.n, c.p, SplitBlock))
		blocks := params.M / splitBits
		values := uint64(part) << 32 / blocks
		for probe.SplitBlock(values<<32, blocks) >= part {
			values--
		}
		draw := func(i uint64) (block uint64, masks [splitBits / 64]uint64) {
			h1 := probe.Reduce(mix(2*i), values)<<32 | mix(2*i+1)>>32
			masks[0], masks[1], masks[2], masks[3] = probe.SplitMasks(h1)
			return probe.SplitBlock(h1, blocks), masks
		}
		var words [part][splitBits / 64]uint64
		keys := uint64(float64(c.n) * float64(values) / (1 << 32))
		for i := range keys {
			block, masks := draw(i)
			for j := range masks {
				words[block][j] |= masks[j]
			}
		}
		probes, hits := uint64(testkit.Times(1_000_000, 1_000_000, 100_000_000)), 0.0
		for i := range probes {
			block, masks := draw(keys + i)
			missing := uint64(0)
			for j := range masks {
				missing |= masks[j] &^ words[block][j]
			}
			if missing == 0 {
				hits++
			}
		}
		want := SplitBlock.FalsePositiveRate(params.M, splitK, c.n) * float64(probes)
		require.LessOrEqual(t, want, c.p*float64(probes))
		sigma := math.Sqrt(want + want*want*16/part) // the blocks of the part differ by about their mean, times a few
		require.InDelta(t, want, hits, 4*sigma, "n = %d, p = %v", c.n, c.p)
	}
}

func TestSplitBlockParams(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		p    float64
		bits float64 // per key
	}{{1_000_000, 1e-2, 10.53}, {1_000_000, 1e-3, 16.89}, {1_000_000, 1e-4, 26.34}, {1_000_000, 1e-6, 64.675}} {
		params := must(sizeFor(c.n, c.p, SplitBlock))
		require.Equal(t, splitK, params.K)
		require.InDelta(t, c.bits, float64(params.M)/float64(c.n), 0.005)
		require.LessOrEqual(t, SplitBlock.FalsePositiveRate(params.M, 8, c.n), c.p)
		require.Greater(t, SplitBlock.FalsePositiveRate(params.M-256, 8, c.n), c.p, "a block less is enough")
	}
	for _, p := range []float64{0.51, 0.9, 9.9e-8, 1e-12} {
		_, err := New(1000, p, WithStrategy(SplitBlock))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, `with strategy "split-block", want 1e-07 to 0.5`)
	}
	for _, c := range []struct {
		params Params
		err    error
		text   string
	}{
		{Params{M: 512, K: 7}, ErrInvalid, `k = 7 with strategy "split-block", want multiples of 256 and 8`},
		{Params{M: 512, K: 9}, ErrInvalid, `k = 9, want 1 to 8`},
		{Params{M: 511, K: 8}, ErrInvalid, `m = 511 and k = 8 with strategy "split-block", want multiples of 256 and 8`},
		{Params{M: 64, K: 8}, ErrInvalid, `m = 64 and k = 8`},
		{Params{M: 1 << 40, K: 8}, ErrTooLarge, `m = 1099511627776 bits with strategy "split-block", want at most 1099511627520`},
	} {
		_, err := NewSchemeWithParams(c.params, WithStrategy(SplitBlock))
		require.ErrorIs(t, err, c.err)
		require.ErrorContains(t, err, c.text)
	}
	_, err := NewSchemeWithParams(Params{M: 1<<40 - 256, K: 8}, WithStrategy(SplitBlock))
	require.NoError(t, err)
	_, err = sizeFor(200_000_000_000, 0.01, SplitBlock)
	require.ErrorIs(t, err, ErrTooLarge)

	bits := must(ParamsForBits(1000, 12, SplitBlock))
	require.Equal(t, Params{N: 1000, P: SplitBlock.FalsePositiveRate(12_032, 8, 1000), M: 12_032, K: 8}, bits)
}
