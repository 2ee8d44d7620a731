package bloom

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

// Three strategies of this package as a user would write them. Their bits are the same.
var (
	ownDouble = NewStrategy("own-double", Definition{
		Positions: func(m uint64, k int) (func(dst []uint64, h1, h2 uint64), error) {
			return func(dst []uint64, h1, h2 uint64) {
				x, y := h1, h2^0x9e3779b97f4a7c15
				for i := range dst {
					dst[i], _ = bits.Mul64(x, m)
					x = x*0xd1342543de82ef95 + y
				}
			}, nil
		},
	})
	ownBlocked2 = NewStrategy("own-blocked-2", Definition{
		Masks: func(m uint64, k int) (func(dst []Mask, h1, h2 uint64), error) {
			blocks := m / 512
			return func(dst []Mask, h1, h2 uint64) {
				block, _ := bits.Mul64(h1, blocks)
				y := h2 ^ 0x9e3779b97f4a7c15
				m0, m1, r := uint64(0), uint64(0), y
				for left, t := k, uint64(1); ; t++ {
					m0 |= 1 << (r & 63)
					m1 |= 1 << (r >> 6 & 63)
					if left > 2 {
						m0 |= 1 << (r >> 12 & 63)
						m1 |= 1 << (r >> 18 & 63)
					}
					if left > 4 {
						m0 |= 1 << (r >> 24 & 63)
						m1 |= 1 << (r >> 30 & 63)
					}
					if left > 6 {
						m0 |= 1 << (r >> 36 & 63)
						m1 |= 1 << (r >> 42 & 63)
					}
					if left -= 8; left <= 0 {
						break
					}
					hi, lo := bits.Mul64(y^t*0x9e3779b97f4a7c15, 0xd1342543de82ef95)
					r = hi ^ lo
				}
				dst = dst[:2]
				dst[0] = Mask{block*8 + y>>62, m0}
				dst[1] = Mask{block*8 + 4 + y>>60&3, m1}
			}, nil
		},
		Words: 2, Unit: 512, KUnit: 2,
		Rate:       Blocked2.FalsePositiveRate,
		EstimatedN: Blocked2.EstimatedN,
	})
	ownSeeded = NewStrategy("own-seeded", Definition{
		KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
			return func(dst []uint64, key []byte) {
				for i := range dst {
					s := seed + uint64(i)
					if s-1 < 8 && uint64(len(key)) == s {
						s ^= 0x9e3779b97f4a7c15
					}
					dst[i] = murmur3.SeedSum64(s, key) % m
				}
			}, nil
		},
	})
)

// TestOwnStrategiesAreTheBuiltinOnes bit for bit, sized alike, in all calls.
func TestOwnStrategiesAreTheBuiltinOnes(t *testing.T) {
	t.Parallel()
	for own, builtin := range map[Strategy]Strategy{ownDouble: DoubleHashing, ownBlocked2: Blocked2, ownSeeded: SeededHashing} {
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
			require.Equal(t, g.EstimatedCount(), f.EstimatedCount())
			require.Equal(t, builtin.FalsePositiveRate(f.Params().M, f.Params().K, c.n), own.FalsePositiveRate(f.Params().M, f.Params().K, c.n))
			if own != ownBlocked2 {
				require.Equal(t, g.EstimatedFalsePositiveRate(), f.EstimatedFalsePositiveRate())
			} else if c.n == 40_000 {
				require.InEpsilon(t, g.EstimatedFalsePositiveRate(), f.EstimatedFalsePositiveRate(), 0.1)
			}
		}
	}
}

func TestOwnStrategyRules(t *testing.T) {
	positions := func(m uint64, k int) (func(dst []uint64, h1, h2 uint64), error) {
		return func(dst []uint64, h1, h2 uint64) { clear(dst) }, nil
	}
	masks := func(m uint64, k int) (func(dst []Mask, h1, h2 uint64), error) {
		return func(dst []Mask, h1, h2 uint64) { clear(dst) }, nil
	}
	odd := errors.New("odd")
	for text, d := range map[string]Definition{
		`"x" has 0 of Positions, Masks, KeyPositions and Index, want one`: {},
		`"x" has 2 of Positions, Masks`:                                   {Positions: positions, Index: doubleIndex},
		`"x" has masks of 0 words, want 1 to 16`:                          {Masks: masks},
		`"x" has masks of 17 words`:                                       {Masks: masks, Words: 17},
		`"x" has masks and an m that is a multiple of 96, want of 64`:     {Masks: masks, Words: 1, Unit: 96},
		`"x" has K = 0, KUnit = 0, MaxK = 256, want a k of at most 255`:   {Positions: positions, MaxK: 256},
		`"x" has K = -1`:                     {Positions: positions, K: -1},
		`"x" has K = 9, KUnit = 2`:           {Positions: positions, K: 9, KUnit: 2},
		`"x" has K = 9, KUnit = 0, MaxK = 8`: {Positions: positions, K: 9, MaxK: 8},
		`m = 96 and k = 8 with strategy "x", want multiples of 64 and 1`: {Masks: masks, Words: 1},
		`m = 96 and k = 8 with strategy "x", want multiples of 40 and 1`: {Positions: positions, Unit: 40},
		`m = 96 and k = 8 with strategy "x", want multiples of 1 and 3`:  {Positions: positions, KUnit: 3},
		`k = 8 bits a key, want 1 to 7`:                                  {Positions: positions, MaxK: 7},
		`k = 8 bits a key with strategy "x", want 7`:                     {Positions: positions, K: 7},
		`m = 96 and k = 8 with strategy "x": odd`:                        {Positions: func(uint64, int) (func([]uint64, uint64, uint64), error) { return nil, odd }},
		`strategy "x" prepared no function for m = 96 and k = 8`:         {Positions: func(uint64, int) (func([]uint64, uint64, uint64), error) { return nil, nil }},
	} {
		f, err := NewWithParams(Params{M: 96, K: 8}, WithStrategy(NewStrategy("x", d)))
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, text)
		require.Nil(t, f)
		require.Equal(t, strings.Contains(err.Error(), "odd"), errors.Is(err, odd))
	}
	_, err := NewWithParams(Params{M: 96, K: 8}, WithStrategy(NewStrategy("x", Definition{Positions: positions, MaxM: 95})))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `m = 96 bits with strategy "x", want at most 95`)
	for name, text := range map[string]string{
		"blocked":                `strategy "blocked" has a name that is taken by this package`,
		strings.Repeat("x", 256): `has a name of 256 bytes, want at most 255`,
	} {
		_, err := New(10, 0.1, WithStrategy(NewStrategy(name, Definition{Positions: positions})))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, text)
	}
}

// TestOwnSizing: fixed k, units, rates and rules of one's own.
func TestOwnSizing(t *testing.T) {
	double := ownDouble.def.Definition
	with := func(edit func(d *Definition)) Strategy {
		d := double
		edit(&d)
		return NewStrategy("sized", d)
	}
	usual := must(ParamsFor(1000, 0.01, DoubleHashing))
	for name, c := range map[string]struct {
		s    Strategy
		want Params
	}{
		"K":     {with(func(d *Definition) { d.K = 3 }), Params{1000, 0.01, 12416, 3}},
		"Unit":  {with(func(d *Definition) { d.Unit = 1000 }), Params{1000, 0.01, 10000, 5}},
		"KUnit": {with(func(d *Definition) { d.KUnit = 4 }), Params{1000, 0.01, 9728, 8}},
		"Rate":  {with(func(d *Definition) { d.Rate = DoubleHashing.FalsePositiveRate }), usual},
		"Rate, twice": {with(func(d *Definition) {
			d.Rate = func(m uint64, k int, n uint64) float64 { return DoubleHashing.FalsePositiveRate(m/2, k, n) }
		}), Params{1000, 0.01, 2 * usual.M, usual.K}},
		"Size":     {with(func(d *Definition) { d.Size = func(n uint64, p float64) (uint64, int, error) { return n * 10, 6, nil } }), Params{1000, 0.01, 10000, 6}},
		"Blocked2": {ownBlocked2, must(ParamsFor(1000, 0.01, Blocked2))},
	} {
		got, err := ParamsFor(1000, 0.01, c.s)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want, MustNew(1000, 0.01, WithStrategy(c.s)).Params(), name)
		if c.s.def.Size == nil {
			require.LessOrEqual(t, c.s.FalsePositiveRate(got.M, got.K, 1000), 0.01, name)
			require.Greater(t, c.s.FalsePositiveRate(got.M-c.s.def.sizedUnit(), got.K, 1000), 0.01, name)
		}
	}
	for want, s := range map[int]Strategy{
		3: with(func(d *Definition) { d.K = 3 }),
		8: with(func(d *Definition) { d.KUnit = 4 }),
		7: with(func(d *Definition) { d.Rate = DoubleHashing.FalsePositiveRate }),
	} {
		got, err := ParamsForBits(1000, 10, s)
		require.NoError(t, err)
		require.Equal(t, Params{1000, s.FalsePositiveRate(10_048, want, 1000), 10_048, want}, got)
	}
	for text, s := range map[string]Strategy{
		"m = 0 bits, want at least 1": with(func(d *Definition) { d.Size = func(uint64, float64) (uint64, int, error) { return 0, 1, nil } }),
		"too small": with(func(d *Definition) {
			d.Size = func(uint64, float64) (uint64, int, error) { return 0, 0, errors.New("too small") }
		}),
		`strategy "sized" reaches p = 0.01 for n = 1000`:       with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return 0.02 } }),
		`strategy "sized" has rate NaN for m = `:               with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return math.NaN() } }),
		`no m up to 8960 bits with strategy "sized" reaches p`: with(func(d *Definition) { d.MaxM = 9000 }),
	} {
		_, err := New(1000, 0.01, WithStrategy(s))
		require.ErrorContains(t, err, text)
	}
}

func TestOwnStrategyOutsidePanics(t *testing.T) {
	at := func(pos uint64, first bool) Strategy {
		return NewStrategy("over", Definition{Positions: func(m uint64, k int) (func(dst []uint64, h1, h2 uint64), error) {
			return func(dst []uint64, h1, h2 uint64) {
				clear(dst)
				if first {
					dst[0] = pos
				} else {
					dst[len(dst)-1] = pos
				}
			}, nil
		}})
	}
	for i, k := range []int{1, 4, 5, 7, 16, 17, 64, 1, 4, 5, 7, 16, 17, 64} {
		f := must(NewWithParams(Params{M: 100, K: k}, WithStrategy(at(100, i < 7))))
		text := `bloom: strategy "over" returned position 100, want less than m = 100`
		require.PanicsWithValue(t, text, func() { f.AddString("x") })
		f.bits.set(0)
		require.PanicsWithValue(t, text, func() { f.ContainsString("x") })
		require.PanicsWithValue(t, text, func() { f.AddManyStrings([]string{"x"}, nil) })
		require.PanicsWithValue(t, text, func() { f.Scheme().AppendPositions(nil, nil) })
	}
	masks := NewStrategy("over", Definition{Words: 1, Masks: func(m uint64, k int) (func(dst []Mask, h1, h2 uint64), error) {
		return func(dst []Mask, h1, h2 uint64) { dst[0] = Mask{m / 64, 1} }, nil
	}})
	f := must(NewWithParams(Params{M: 128, K: 1}, WithStrategy(masks)))
	text := `bloom: strategy "over" returned position 128, want less than m = 128`
	require.PanicsWithValue(t, text, func() { f.AddString("x") })
	require.PanicsWithValue(t, text, func() { f.ContainsString("x") })
}

// TestMasksThatShareAWord: an add of a new key has its winner, whatever the masks.
func TestMasksThatShareAWord(t *testing.T) {
	for seed := range uint64(2000) {
		s := NewStrategy("", Definition{Words: 3, Masks: func(m uint64, k int) (func(dst []Mask, h1, h2 uint64), error) {
			return func(dst []Mask, h1, h2 uint64) {
				for i := range dst {
					x := mix(h1 + uint64(i))
					dst[i] = Mask{x >> 63, 1<<(x&3) | 1<<(x>>8&3)}
				}
			}, nil
		}})
		f := must(NewWithParams(Params{M: 128, K: 6}, WithStrategy(s)))
		var key [8]byte
		for i := range uint64(4) {
			binary.LittleEndian.PutUint64(key[:], seed<<8+i)
			if was := f.Contains(key[:]); f.Add(key[:]) == was {
				t.Fatalf("seed %d, key %d: contained %v, and Add says the same", seed, i, was)
			}
			require.True(t, f.Contains(key[:]))
			require.False(t, f.Add(key[:]))
		}
	}
}

// BenchmarkOwnStrategy measures strategies of one's own against the built-in ones with the
// same bits, in turns: the ratio is what counts.
func BenchmarkOwnStrategy(b *testing.B) {
	for _, pair := range [][2]Strategy{{ownDouble, DoubleHashing}, {ownBlocked2, Blocked2}} {
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
