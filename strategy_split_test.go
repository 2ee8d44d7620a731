package bloom

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/lockstep"
	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/seed3447c163/bloom/internal/rapidhash"
	"github.com/stretchr/testify/require"
)

const splitWordsOf = splitBits / 64

// splitOver returns a filter with SplitBlock over the given words. goKernel keeps it from
// the kernels in assembly.
func splitOver(t testing.TB, words []atomic.Uint64, goKernel bool) *BloomFilter {
	s := must(NewSchemeWithParams(Params{M: uint64(len(words)) * 64, K: splitK}, WithStrategy(SplitBlock)))
	f := must(s.FilterOver(words))
	if goKernel {
		f.kernel = &splitInWords
	}
	return f
}

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
		f := splitOver(t, makeWords(blocks*splitWordsOf), false)
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

// rapidAgrees asks a half-full filter with RapidHash for a key, before and after its digest was
// added, by the key and by its digest.
func rapidAgrees(t *testing.T, seed uint64, key []byte) {
	t.Helper()
	s := must(NewSchemeWithParams(Params{M: 64 * splitBits, K: splitK}, WithStrategy(SplitBlock), WithHash(RapidHash), WithSeed(seed)))
	f := must(s.Filter())
	for i := range f.bits {
		f.bits[i].Store(mix(uint64(i)))
	}
	h1 := rapidhash.Sum(rapidhash.Start(seed), key)
	require.Equal(t, splitContains(&f.bitset, h1, 0), f.Contains(key), "seed %d, key %x", seed, key)
	splitAdd(&f.bitset, h1, 0)
	require.True(t, f.Contains(key), "seed %d, key %x", seed, key)
}

// TestSplitBlockWithRapidHash: for the lengths 17 to 48, hash and lookup may be one function in assembly.
func TestSplitBlockWithRapidHash(t *testing.T) {
	for n := range 120 {
		for i := range uint64(20) {
			key := make([]byte, n)
			for j := range key {
				key[j] = byte(mix(i<<32 | uint64(j)))
			}
			rapidAgrees(t, mix(i), key)
		}
	}
}

func FuzzSplitBlockWithRapidHash(f *testing.F) {
	for _, n := range []int{0, 16, 17, 32, 33, 48, 49} {
		f.Add(uint64(n), make([]byte, n))
	}
	f.Fuzz(rapidAgrees)
}

// splitKernelsAgree tries the same digests on the kernels in use, on those in Go and on
// the formula, each on words of its own.
func splitKernelsAgree(t *testing.T, words []atomic.Uint64, digests []uint64) {
	t.Helper()
	used, inGo := splitOver(t, words, false), splitOver(t, makeWords(uint64(len(words))), true)
	plain := make([]uint64, len(words))
	for i, h := range digests {
		positions, want := digestPositions(SplitBlock, h, 0, uint64(len(words))*64, splitK), true
		for _, pos := range positions {
			want = want && plain[pos/64]>>(pos%64)&1 == 1
		}
		if a, b := used.ContainsDigest(h, 0), inGo.ContainsDigest(h, 0); a != want || b != want {
			t.Fatalf("%d blocks, digest %d: Contains(%#x) = %v and in Go %v, want %v", used.units, i, h, a, b, want)
		}
		if i%3 == 0 {
			continue
		}
		if a, b := used.AddDigest(h, 0), inGo.AddDigest(h, 0); a == want || b == want {
			t.Fatalf("%d blocks, digest %d: Add(%#x) = %v and in Go %v, want %v", used.units, i, h, a, b, !want)
		}
		for _, pos := range positions {
			plain[pos/64] |= 1 << (pos % 64)
		}
	}
	for i, want := range plain {
		if a, b := used.bits[i].Load(), inGo.bits[i].Load(); a != want || b != want {
			t.Fatalf("%d blocks: word %d is %#x and in Go %#x, want %#x", used.units, i, a, b, want)
		}
	}
}

// TestSplitKernelsAgree: in filters of one block to forty, in the words that New makes
// and in words that begin anywhere, with 0 and the largest digest among the random ones.
func TestSplitKernelsAgree(t *testing.T) {
	for blocks := range uint64(40) {
		r := rand.New(rand.NewPCG(1, blocks))
		for skip := range uint64(8) {
			digests := []uint64{0, 1<<64 - 1, 1<<32 - 1, ^uint64(1<<32 - 1)}
			for range 20 * blocks {
				digests = append(digests, r.Uint64())
			}
			for range blocks { // again
				digests = append(digests, digests[r.IntN(len(digests))])
			}
			splitKernelsAgree(t, makeWords((blocks+1)*splitWordsOf + skip)[skip:], digests)
		}
	}
}

func FuzzSplitKernels(f *testing.F) {
	f.Add(uint8(0), uint8(0), []byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add(uint8(7), uint8(1), []byte("01234567890123456789abcd01234567"))
	f.Fuzz(func(t *testing.T, blocks, skip uint8, data []byte) {
		var digests []uint64
		for ; len(data) >= 8; data = data[8:] {
			digests = append(digests, binary.LittleEndian.Uint64(data))
		}
		splitKernelsAgree(t, makeWords((uint64(blocks)+1)*splitWordsOf + uint64(skip%8))[skip%8:], digests)
	})
}

// TestSplitKernelsTogether: two processes that share a mapped file may add by the kernels in
// assembly and by those in Go. Together they find one winner for each key, and never miss a key
// whose add has returned, while others set bits in the same words.
func TestSplitKernelsTogether(t *testing.T) {
	rounds := effort.Times(1<<11, 1<<12, 1<<14) // so few that no key is a false positive
	words := makeWords(1 << 14)
	filters := []*BloomFilter{splitOver(t, words, false), splitOver(t, words, true)}
	won := make([]atomic.Int32, rounds)
	start := lockstep.Line{Runners: 2}
	var missed atomic.Int32
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for g, f := range filters {
		wg.Go(func() {
			for i := range uint64(rounds) {
				h := mix(i)
				start.Wait(i + 1)
				if f.AddDigest(h, 0) {
					won[i].Add(1)
				}
				if !filters[1-g].ContainsDigest(h, 0) {
					missed.Add(1)
				}
			}
		})
	}
	var background sync.WaitGroup
	background.Go(func() { // locked instructions on the same words, which set nothing
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				return
			default:
				words[mix(i)%uint64(len(words))].Or(0)
				runtime.Gosched()
			}
		}
	})
	wg.Wait()
	close(stop)
	background.Wait()
	require.Zero(t, missed.Load(), "keys whose add had returned")
	for i := range won {
		if n := won[i].Load(); n != 1 {
			t.Fatalf("key %d has %d winners", i, n)
		}
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
		params := must(ParamsFor(c.n, c.p, SplitBlock))
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
		probes, hits := uint64(effort.Times(1_000_000, 1_000_000, 100_000_000)), 0.0
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
		params := must(ParamsFor(c.n, c.p, SplitBlock))
		require.Equal(t, splitK, params.K)
		require.InDelta(t, c.bits, float64(params.M)/float64(c.n), 0.005)
		require.LessOrEqual(t, SplitBlock.FalsePositiveRate(params.M, 8, c.n), c.p)
		require.Greater(t, SplitBlock.FalsePositiveRate(params.M-256, 8, c.n), c.p, "a block less is enough")
		require.NoError(t, must(NewSchemeWithParams(params, WithStrategy(SplitBlock))).scheme.strategy.validate())
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
		{Params{M: 512, K: 7}, ErrInvalid, `k = 7 with strategy "split-block", want 8`},
		{Params{M: 512, K: 9}, ErrInvalid, `k = 9 with strategy "split-block", want 8`},
		{Params{M: 511, K: 8}, ErrInvalid, `m = 511 and k = 8 with strategy "split-block", want multiples of 256 and 1`},
		{Params{M: 64, K: 8}, ErrInvalid, `m = 64 and k = 8`},
		{Params{M: 1 << 40, K: 8}, ErrTooLarge, `m = 1099511627776 bits with strategy "split-block", want at most 1099511627520`},
	} {
		_, err := NewSchemeWithParams(c.params, WithStrategy(SplitBlock))
		require.ErrorIs(t, err, c.err)
		require.ErrorContains(t, err, c.text)
	}
	_, err := NewSchemeWithParams(Params{M: 1<<40 - 256, K: 8}, WithStrategy(SplitBlock))
	require.NoError(t, err)
	_, err = ParamsFor(200_000_000_000, 0.01, SplitBlock)
	require.ErrorIs(t, err, ErrTooLarge)

	bits := must(ParamsForBits(1000, 12, SplitBlock))
	require.Equal(t, Params{N: 1000, P: SplitBlock.FalsePositiveRate(12_032, 8, 1000), M: 12_032, K: 8}, bits)
}
