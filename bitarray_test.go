package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/vector"
	"github.com/stretchr/testify/require"
)

func TestBitArrayCombines(t *testing.T) {
	fill := func(words ...uint64) bitArray {
		b := make(bitArray, len(words))
		for i, w := range words {
			b[i].Store(w)
		}
		return b
	}
	b := fill(0b0011, 0b1111, 0)
	b.or(fill(0b0101, 0b0001, 1<<63))
	require.True(t, b.equal(fill(0b0111, 0b1111, 1<<63)))
	b.and(fill(0b1110, math.MaxUint64, 0))
	require.True(t, b.equal(fill(0b0110, 0b1111, 0)))
	require.False(t, b.equal(fill(0b0110, 0b1111, 2)))
	c := make(bitArray, 3)
	c.copyFrom(b)
	require.True(t, c.equal(b))
	c.clear()
	require.Zero(t, c.count())
	require.NotZero(t, b.count())
}

// TestBitArrayCopies: words of all lengths that begin anywhere are copied, and no others are
// written.
func TestBitArrayCopies(t *testing.T) {
	from, to := makeWords(64), makeWords(64)
	for i := range from {
		from[i].Store(mix(uint64(i)))
	}
	for skip := range 9 {
		for length := range 50 {
			to.clear()
			to[3:][:length].copyFrom(from[skip:][:length])
			for i := range to {
				want := uint64(0)
				if at := i - 3; at >= 0 && at < length {
					want = from[skip+at].Load()
				}
				require.Equal(t, want, to[i].Load(), "word %d of %d from %d", i-3, length, skip)
			}
		}
	}
	several := makeWords(3*vector.MostLines*blockWords + 13) // calls of assembly
	for i := range several {
		several[i].Store(mix(uint64(i)))
	}
	copied := makeWords(uint64(len(several)))
	copied.copyFrom(several)
	require.True(t, copied.equal(several))
	if vector.Has { // the runtime cannot stop a goroutine in assembly, which so refuses to do much at once
		require.Panics(t, func() { vector.CopyLines(copied.start(), several.start(), vector.MostLines+1) })
	}
}

// TestBitArrayClears: as many words as asked for, and no others, wherever they begin.
func TestBitArrayClears(t *testing.T) {
	words := makeWords(2000)
	for skip := range 9 {
		for _, length := range []int{0, 1, 7, 511, 512, 513, 1023, 1024, 1900} {
			for i := range words {
				words[i].Store(1)
			}
			words[skip:][:length].clear()
			require.EqualValues(t, len(words)-length, words.count())
			require.Zero(t, words[skip:][:length].count())
		}
	}
}

func TestBitArrayTooLarge(t *testing.T) {
	sizes := []uint64{math.MaxUint64, 1 << 63, 1 << 60}
	if limit := memory.Limit(); limit < 1<<60 {
		sizes = append(sizes, 8*(limit+8))
	}
	for _, m := range sizes {
		_, err := newBitArray(m)
		require.ErrorIs(t, err, ErrTooLarge)
		words := m/64 + min(m%64, 1)
		require.ErrorContains(t, err, formatUint(m)+" bits are "+formatUint(words*8)+" bytes")
	}
	// The runtime's own limit, where it is below the memory's: make panics.
	if bits.UintSize == 64 {
		_, err := tryWords(1<<60, 1<<54)
		require.ErrorIs(t, err, ErrTooLarge)
	}
}

// TestBlocksAreCacheLines: a block across two lines would cost two misses.
func TestBlocksAreCacheLines(t *testing.T) {
	for words := uint64(8); words < 5000; words += 8 {
		b := makeWords(words)
		require.Len(t, b, int(words))
		require.Equal(t, len(b), cap(b))
		require.Zero(t, uintptr(b.start())%64, "%d words", words)
	}
	f := MustNew(100, 0.01, WithStrategy(Blocked))
	require.Zero(t, uintptr(f.Clone().bits.start())%64)
}

// TestBeyond32Bits adds keys to a filter with positions above 2^32; with -long by every
// strategy, and above 2^33.
func TestBeyond32Bits(t *testing.T) {
	if testing.Short() || testkit.RaceDetector {
		t.Skip("NOT TESTED with -short or the race detector: a filter of more than 2^32 bits")
	}
	m, strategies := uint64(1<<32+1<<20), []Strategy{DoubleHashing}
	if *testkit.Long && bits.UintSize == 64 {
		m, strategies = 1<<33+1<<20, allStrategies
	}
	if total, ok := memory.Physical(); ok && total < m/2 {
		t.Skipf("NOT TESTED: a filter of %d bits, for this machine has only %d bytes of memory", m, total)
	}
	for _, s := range strategies {
		f := must(newWithParams(Params{M: m, K: 8}, WithStrategy(s)))
		require.Equal(t, m/8, f.SizeBytes())
		const n = 20_000
		var b [40]byte
		for i := range uint64(n) {
			if !f.Add(key40(&b, i)) {
				t.Fatalf("%s: key %d is new in a nearly empty filter, and Add returns false", s, i)
			}
		}
		for i := range uint64(n) {
			if !f.Contains(key40(&b, i)) || f.Contains(key40(&b, n+i)) {
				t.Fatalf("%s: key %d is missed, or key %d found", s, i, n+i)
			}
		}
		// Four quarters get the same share of the bits; a key's bits may be in one block.
		set, quarter := float64(f.bits.count()), len(f.bits)/4
		for i := range 4 {
			require.InDelta(t, set/4, f.bits[i*quarter:][:quarter].count(), 5*math.Sqrt(2*n*8), "%s: bits in quarter %d", s, i)
		}
		// Only 1 of 4,096 positions is above 2^32, or 1 of 8,192 above 2^33.
		top := f.bits[len(f.bits)-1<<14:].count()
		expected := set * (1 << 20) / float64(m)
		require.InDelta(t, expected, top, 6*math.Sqrt(8*expected), "%s: bits at the top", s)
		require.InDelta(t, n, f.Stats().EstimatedCount, n/100)
		f = nil
		runtime.GC() // one at a time, on machines with little memory
	}
}

// TestInlining asks the compiler. A call would cost more than the few instructions of these
// functions.
func TestInlining(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "build", "-gcflags=-m=1", ".", "./internal/memory", "./internal/probe", "./internal/rapidhash").CombinedOutput()
	if err != nil {
		if _, missing := exec.LookPath("go"); missing != nil {
			t.Skip("NOT TESTED: inlining, for there is no go command here to ask")
		}
		t.Fatalf("go build: %v\n%s", err, out)
	}
	inlined := []string{"bitArray.set", "Reduce", "(*Divisor).Remainder63", "(*Divisor).Remainder", "wordAt", "Set2", "Set4", "blockOf", "BytesOf", "(*BloomFilter).AddString", "(*BloomFilter).ContainsString"}
	if bits.UintSize == 64 { // on 32 bits, each word is two to the compiler
		inlined = append(inlined, "bitArray.at", "flipTwo", "flipFour", "unsetAt", "Inlines", "Head", "Tail")
	}
	for _, f := range inlined {
		if !strings.Contains(string(out), "can inline "+f+"\n") {
			t.Errorf("%s does not inline", f)
		}
	}
	if call := "inlining call to bitArray.set"; !strings.Contains(string(out), call) {
		t.Errorf("the compiler does not report: %s", call)
	}
}

// TestSettersInLockstep: two goroutines set bits of the same words at the same time, in each of many small filters in
// turn. No bit is lost, and no key has two winners. A locked instruction without its lock is seen after some
// milliseconds.
func TestSettersInLockstep(t *testing.T) {
	for _, strategy := range builtins {
		tried := map[Params]bool{}
		for _, k := range []int{6, 8, 24} {
			params := fit(strategy, blockBits, k)
			if tried[params] {
				continue
			}
			tried[params] = true
			for _, def := range hashes {
				if (def == &noHash) == strategy.hashesKey() && def != &sipHash { // MapHash has the same setters
					s := must(seededScheme(params, strategy, def, 1))
					t.Run(fmt.Sprintf("%v/%v/k=%d", strategy, def, params.K), func(t *testing.T) { inLockstep(t, s) })
				}
			}
		}
	}
}

func inLockstep(t *testing.T, s *Scheme) {
	const count, batchKeys = 256, 3 // filters, and keys that a goroutine adds to each of them
	type batch = [batchKeys][]byte
	random := rand.New(rand.NewPCG(1, 2))
	newBatch := func() (b batch) {
		for i := range b {
			b[i] = binary.LittleEndian.AppendUint64(nil, random.Uint64())
		}
		return b
	}
	size := wordsFor(s.params.M)
	words := makeWords(count * size)
	var filters, unions [count]*BloomFilter
	var keys [2][count]batch
	for i := range filters {
		filters[i], unions[i] = s.over(words[uint64(i)*size:][:size:size]), s.over(makeWords(size))
		keys[0][i], keys[1][i] = newBatch(), newBatch()
		unions[i].AddMany(keys[0][i][:], nil)
	}
	single := func(_, i int, keys *batch, won *[batchKeys]bool) {
		for j, key := range keys {
			won[j] = filters[i].Add(key)
		}
	}
	many := func(_, i int, keys *batch, won *[batchKeys]bool) { filters[i].AddMany(keys[:], won[:]) }
	union := func(g, i int, keys *batch, won *[batchKeys]bool) {
		if g == 1 {
			many(g, i, keys, won)
		} else if err := filters[i].Union(unions[i]); err != nil {
			panic(err)
		}
	}
	for _, test := range []struct {
		name string
		same bool // both goroutines add the same keys
		add  func(g, i int, keys *batch, won *[batchKeys]bool)
	}{
		{"Add, the same keys", true, single},
		{"AddMany, the same keys", true, many},
		{"Add, different keys", false, single},
		{"AddMany, different keys", false, many},
		{"Union and AddMany", false, union},
	} {
		var won [2][count][batchKeys]bool
		var lost, twice atomic.Int64
		line := testkit.Line{Runners: 2}
		var at [2]struct { // the step that each goroutine has come to
			atomic.Uint64
			_ [56]byte
		}
		var wg testkit.Group
		for g := range 2 {
			mine := &keys[g]
			if test.same {
				mine = &keys[0]
			}
			rounds := testkit.Times(10, 40, 2000)
			if testkit.RaceDetector {
				rounds = 2 // it is slow, and has no kernels in assembly
			}
			wg.Go(func() {
				for round := range uint64(rounds) {
					line.Wait(3*round + 1)
					patience := 1 << 20 // about a millisecond of each round, for another one that sleeps on a busy machine
					for i := range filters {
						step := round*count + uint64(i) + 1
						at[g].Store(step)
						for ; patience > 0 && at[1-g].Load() < step; patience-- {
						}
						for wait := mix(2*step+uint64(g)) % 32; wait > 0; wait-- { // who is first, and by how much
						}
						test.add(g, i, &mine[i], &won[g][i])
					}
					line.Wait(3*round + 2)
					for i, f := range filters {
						for j, key := range mine[i] {
							if !f.Contains(key) {
								lost.Add(1)
							}
							if g == 0 && test.same && won[0][i][j] && won[1][i][j] {
								twice.Add(1)
							}
						}
					}
					line.Wait(3*round + 3)
					if g == 0 {
						words.clear()
					}
				}
			})
		}
		wg.Wait()
		require.Zero(t, lost.Load(), "%s: keys that were added and are not found", test.name)
		require.Zero(t, twice.Load(), "%s: keys with two winners", test.name)
	}
}
