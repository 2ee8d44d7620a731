package bloom

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// Two strategies of this package as a user would write them. Their bits are the same.
var (
	customDouble = NewStrategy("own-double", Definition{
		Positions: func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
			const a = 0xd1342543de82ef95
			return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) {
				x, y := h1, h2^0x9e3779b97f4a7c15
				for range i {
					x = x*a + y
				}
				p0, _ = bits.Mul64(x, m)
				x = x*a + y
				p1, _ = bits.Mul64(x, m)
				x = x*a + y
				p2, _ = bits.Mul64(x, m)
				x = x*a + y
				p3, _ = bits.Mul64(x, m)
				return p0, p1, p2, p3
			}, nil
		},
	})
	customSeeded = NewStrategy("own-seeded", Definition{
		KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
			return func(dst []uint64, key []byte) {
				for i := range dst {
					dst[i] = murmur3.SeedSum64(probe.MurmurStart(seed+uint64(i)), key) % m
				}
			}, nil
		},
	})
)

// TestOwnStrategiesAreTheBuiltinOnes bit for bit, sized alike, in all calls.
func TestOwnStrategiesAreTheBuiltinOnes(t *testing.T) {
	t.Parallel()
	for own, builtin := range map[Strategy]Strategy{customDouble: DoubleHashing, customSeeded: SeededHashing} {
		for _, c := range []struct {
			n uint64
			p float64
		}{{1, 0.5}, {10, 0.01}, {100, 0.1}, {1000, 1e-4}, {1000, 1e-6}, {40_000, 0.01}, {0, 0.01}} {
			opts := []Option{}
			if own.NeedsKey() {
				opts = append(opts, WithSeed(3))
			}
			f := must(New(c.n, c.p, append(opts, WithStrategy(own))...))
			g := must(New(c.n, c.p, append(opts, WithStrategy(builtin))...))
			require.Equal(t, g.Params(), f.Params(), "%s, %+v", own, c)
			require.Equal(t, g.SizeBytes(), f.SizeBytes())
			batch := f.Clone()
			var b [40]byte
			keys := [][]byte{}
			for i := range max(c.n, 20) {
				key := slices.Clone(key40(&b, i))[:40-i%3]
				require.Equal(t, g.Contains(key), f.Contains(key))
				require.Equal(t, g.Add(key), f.Add(key))
				require.True(t, f.Contains(key))
				keys = append(keys, key)
				want := g.Scheme().AppendPositions(nil, key)
				got := f.Scheme().AppendPositions(nil, key)
				slices.Sort(want)
				slices.Sort(got)
				require.Equal(t, slices.Compact(want), slices.Compact(got))
			}
			require.True(t, g.bits.equal(f.bits))
			batch.AddMany(keys, nil)
			require.True(t, g.bits.equal(batch.bits))
			require.Equal(t, len(keys), f.ContainsMany(keys, nil))
			require.Equal(t, g.Stats().EstimatedCount, f.Stats().EstimatedCount)
			require.InDelta(t, 1, (own.FalsePositiveRate(f.Params().M, f.Params().K, c.n)+1e-300)/(builtin.FalsePositiveRate(f.Params().M, f.Params().K, c.n)+1e-300), 1e-9)
			require.Equal(t, g.Stats().EstimatedFalsePositiveRate, f.Stats().EstimatedFalsePositiveRate)
		}
	}
}

func TestOwnStrategyOutsidePanics(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 5, 6, 7, 16, 17, 64} {
		for _, outside := range []int{0, k - 1, k} { // from the k-th on they do not count
			s := NewStrategy("over", eachPosition(func(_, _ uint64, i, _ int) uint64 {
				if i == outside || i >= k {
					return 100
				}
				return 0
			}))
			f := must(NewWithParams(Params{M: 100, K: k}, WithStrategy(s)))
			calls := []func(){
				func() { f.AddString("x") },
				func() { f.bits.set(0); require.True(t, f.ContainsString("x")) },
				func() { f.AddStrings([]string{"x"}, nil) },
				func() { f.Scheme().AppendPositions(nil, nil) },
			}
			for _, call := range calls {
				if outside == k {
					require.NotPanics(t, call)
				} else {
					require.PanicsWithValue(t, `bloom: strategy "over" returned position 100, want less than m = 100`, call)
				}
			}
		}
	}
}

// BenchmarkOwnStrategy measures strategies of one's own against the built-in ones with the
// same bits, in turns: the ratio is what counts.
func BenchmarkOwnStrategy(b *testing.B) {
	for _, pair := range [][2]Strategy{{customDouble, DoubleHashing}} {
		for _, n := range []uint64{10_000, 1_000_000} {
			filters := [2]*BloomFilter{}
			keys := make([][40]byte, n)
			for i := range keys {
				key40(&keys[i], uint64(i))
			}
			for i, s := range pair {
				filters[i] = MustNew(n, 0.01, WithStrategy(s))
			}
			batch := make([][]byte, 64)
			ops := []struct {
				name string
				run  func(f *BloomFilter, i int)
			}{
				{"add-new", func(f *BloomFilter, i int) { f.Add(keys[uint64(i)%n][:]) }},
				{"add-there", func(f *BloomFilter, i int) { f.Add(keys[uint64(i)%n][:]) }},
				{"hit", func(f *BloomFilter, i int) { f.Contains(keys[uint64(i)%n][:]) }},
				{"miss", func(f *BloomFilter, i int) { f.Contains(keys[uint64(i)%n][1:]) }},
				{"hit-many", func(f *BloomFilter, i int) {
					if i%64 == 0 {
						for j := range batch {
							batch[j] = keys[uint64(i+j)%n][:]
						}
						f.ContainsMany(batch, nil)
					}
				}},
				{"miss-many", func(f *BloomFilter, i int) {
					if i%64 == 0 {
						for j := range batch {
							batch[j] = keys[uint64(i+j)%n][1:]
						}
						f.ContainsMany(batch, nil)
					}
				}},
				{"add-many", func(f *BloomFilter, i int) {
					if i%64 == 0 {
						for j := range batch {
							batch[j] = keys[uint64(i+j)%n][:]
						}
						f.AddMany(batch, nil)
					}
				}},
			}
			for _, op := range ops {
				b.Run(fmt.Sprintf("strategy=%s/n=%d/op=%s", pair[1], n, op.name), func(b *testing.B) {
					var ratios, times []float64
					for b.Loop() {
						var took [2]time.Duration
						for which, f := range filters {
							if op.name == "add-new" {
								f.Clear()
							}
							began := time.Now()
							for i := range 10_048 {
								op.run(f, i)
							}
							took[which] = time.Since(began)
						}
						ratios = append(ratios, float64(took[0])/float64(took[1]))
						times = append(times, float64(took[0].Nanoseconds())/10_048)
					}
					slices.Sort(ratios)
					slices.Sort(times)
					b.ReportMetric(ratios[len(ratios)/2], "own/built-in")
					b.ReportMetric(times[len(times)/2], "ns/own")
				})
			}
		}
	}
}
