package bloom

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/batch"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/internal/vector"
	"github.com/stretchr/testify/require"
)

// page is memory for keys and words; on Linux, pages that nobody may touch are before and after it.
var page = func(testing.TB) []byte { return make([]byte, 4096) }

// eachRow calls do for each row of the table of kernels, with each k of its strategy. m is about the
// given number of bits.
func eachRow(t *testing.T, m uint64, do func(t *testing.T, s *Scheme)) {
	if !vector.Has {
		t.Skip("NOT TESTED: kernels in assembly, which this processor or build does not have")
	}
	rows := map[*vector.Row]bool{}
	for _, strategy := range builtins {
		for k := 1; k <= maxK; k++ {
			params := fit(strategy, m, k)
			if params.K != k || must(strategy.kernel(params.M, k, 0)).layout == vector.NoLayout {
				continue
			}
			for _, h := range hashes {
				if h == &noHash || h == &sipHash && k%5 > 0 {
					continue
				}
				s := must(seededScheme(params, strategy, h, uint64(k/4)))
				f := s.over(makeWords(wordsFor(params.M)))
				rows[f.byKey], rows[f.byDigest] = true, true
				t.Run(fmt.Sprintf("%v/%v/k=%d", strategy, h, k), func(t *testing.T) { do(t, s) })
			}
		}
	}
	delete(rows, nil)
	require.Len(t, rows, 3*5, "rows of the table")
}

// inGo keeps a filter from all code in assembly that works on keys or digests, also when it hashes batches.
func inGo(f *BloomFilter) *BloomFilter {
	s := *f.scheme
	s.vector = vector.NoInput
	f.scheme, f.byKey, f.byDigest, f.faster, f.lengths = &s, nil, nil, [2]*vector.Row{}, 0
	return f
}

// keysAt returns keys of 0 to 300 bytes at both ends of a page, and elsewhere.
func keysAt(page []byte, r *rand.Rand, count int) (keys [][]byte) {
	for i := range page {
		page[i] = byte(r.Uint32())
	}
	for i := range count {
		n := (i*7 + count) % 301
		if i >= count/2 {
			n = r.IntN(130)
		}
		at := [...]int{0, len(page) - n, r.IntN(len(page) - n + 1)}[i%3]
		keys = append(keys, page[at:at+n:at+n])
	}
	return keys
}

// TestKernels holds every kernel in assembly to the Go kernels: answers and bits, by key and by digest,
// one by one and in batches, of bits that begin and end with a page.
func TestKernels(t *testing.T) {
	keyPage, wordPage := page(t), page(t)
	eachRow(t, 1600, func(t *testing.T, s *Scheme) {
		r := rand.New(rand.NewPCG(uint64(s.params.K), 1))
		keys := keysAt(keyPage, r, testkit.Times(1, 1, 12)*(60+2000/s.params.K)) // fills more than half of the bits
		keys = append(keys, keys[:len(keys)/4]...)
		digests := make([]digest, len(keys))
		for i, key := range keys {
			digests[i][0], digests[i][1] = s.Digest(key) // in Go
		}
		want, got := make([]bool, len(keys)), make([]bool, len(keys))
		size := int(wordsFor(s.params.M)) * 8
		all := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&wordPage[0])), len(wordPage)/8)
		far := *s.kernel // as if the filter were larger than the cache
		far.prefetchFrom = 0
		for name, way := range map[string]func(f *BloomFilter, op vector.Op, answers []bool) int{
			"one by one": func(f *BloomFilter, op vector.Op, answers []bool) int {
				return oneByOne(f, keys, answers, op)
			},
			"digests one by one": func(f *BloomFilter, op vector.Op, answers []bool) (count int) {
				for i, d := range digests {
					if op == vector.Add {
						count += batch.Answer(f.AddDigest(d[0], d[1]), answers, i)
					} else {
						count += batch.Answer(f.ContainsDigest(d[0], d[1]), answers, i)
					}
				}
				return count
			},
			"near": func(f *BloomFilter, op vector.Op, answers []bool) int { return f.batch(keys, nil, answers, op) },
			"far": func(f *BloomFilter, op vector.Op, answers []bool) int {
				f.kernel = &far
				return f.batch(keys, nil, answers, op)
			},
			"digests": func(f *BloomFilter, op vector.Op, answers []bool) int { return f.batch(nil, digests, answers, op) },
			"rows": func(f *BloomFilter, op vector.Op, answers []bool) int {
				if !f.byKey.HasMany() {
					return f.batch(keys, nil, answers, op)
				}
				return f.byRow(keys, answers, op)
			},
		} {
			for _, at := range []int{0, len(wordPage) - size} {
				clear(wordPage)
				f := s.over(all[at/8:][:size/8])
				require.NotNil(t, f.byDigest)
				plain := inGo(s.over(makeWords(wordsFor(s.params.M))))
				half := len(keys) / 2
				count := 0
				for i, key := range keys[:half] {
					count += batch.Answer(plain.Add(key), want, i)
				}
				keysBefore, digestsBefore := keys, digests
				keys, digests = keys[:half], digests[:half]
				require.Equal(t, count, way(f, vector.Add, got[:half]), name)
				keys, digests = keysBefore, digestsBefore
				require.Equal(t, want[:half], got[:half], name)
				require.True(t, plain.bits.equal(f.bits), name)
				count = 0
				for i, key := range keys {
					count += batch.Answer(plain.Contains(key), want, i)
				}
				require.Equal(t, count, way(f, vector.Look, got), name)
				require.Equal(t, want, got, name)
				require.Equal(t, count, way(f, vector.Look, nil), name)
				require.True(t, plain.bits.equal(f.bits), name)
				for i := range got {
					got[i] = i%2 == 0
				}
			}
		}
	})
}

// TestKernelsTogether: two processes that share a mapped file may add by assembly and by Go. Together
// they find the winners that one filter alone finds, and never miss a key whose add has returned.
func TestKernelsTogether(t *testing.T) {
	eachRow(t, 1<<19, func(t *testing.T, s *Scheme) {
		if s.params.K > 24 && s.params.K%12 > 0 {
			return // as for another k
		}
		rounds := testkit.Times(60, 60, 3000)
		words := makeWords(wordsFor(s.params.M))
		filters := []*BloomFilter{s.over(words), inGo(s.over(words)), s.over(words)}
		won := make([]atomic.Int32, rounds)
		start := testkit.Line{Runners: uint64(len(filters))}
		var missed atomic.Int32
		var wg testkit.Group
		for g, f := range filters {
			wg.Go(func() {
				for i := range rounds {
					var key [40]byte
					key40(&key, uint64(i))
					start.Wait(uint64(i) + 1)
					if f.Add(key[:]) {
						won[i].Add(1)
					}
					if !filters[(g+1)%len(filters)].Contains(key[:]) {
						missed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		require.Zero(t, missed.Load(), "keys whose add had returned")
		alone := inGo(s.over(makeWords(wordsFor(s.params.M))))
		for i := range won {
			var key [40]byte
			key40(&key, uint64(i))
			var want int32 // none for a false positive, which any hash may have
			if alone.Add(key[:]) {
				want = 1
			}
			require.Equal(t, want, won[i].Load(), "winners of key %d", i)
		}
	})
}

// TestKernelsNeedAlignment: a vector of words that others write must not cross a cache line.
func TestKernelsNeedAlignment(t *testing.T) {
	words := makeWords(64)
	for skip := range 8 {
		f := must(must(NewSchemeWithParams(Params{M: 2048, K: 8}, WithStrategy(SplitBlock), WithHash(RapidHash))).FilterOver(words[skip:][:32]))
		require.Equal(t, vector.Has && skip%4 == 0, f.byDigest != nil, "%d words after the line", skip)
		require.Equal(t, f.byDigest != nil, f.byKey != nil)
	}
	var f, b = kernelArgs{}, vector.Bits{}
	require.Equal(t, []uintptr{unsafe.Offsetof(b.Words), unsafe.Offsetof(b.Blocks), unsafe.Offsetof(b.K), unsafe.Offsetof(b.State)},
		[]uintptr{unsafe.Offsetof(f.bits), unsafe.Offsetof(f.blocks), unsafe.Offsetof(f.k), unsafe.Offsetof(f.state)}, "where the assembly finds its fields")
}

// TestLongKeysAreHashedInGo: the runtime cannot stop a goroutine in assembly, so batches give it keys
// of at most 64 kB.
func TestLongKeysAreHashedInGo(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 1<<16+1)
	for n := range 12 {
		for at := range n {
			keys := slices.Repeat([][]byte{[]byte("short"), long[1:], nil, []byte("another")}, 3)[:n]
			keys[at] = long
			f, g := MustNew(100, 0.01), MustNew(100, 0.01)
			for _, key := range keys {
				f.Add(key)
			}
			g.AddMany(keys, nil)
			require.True(t, f.Equal(g), "%d keys, the long one at %d", n, at)
		}
	}
	runtime.KeepAlive(long)
}
