package bloom

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/probe"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

func TestCustomStrategyRules(t *testing.T) {
	positions := func(m uint64, k int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) {
		return func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64) { return 0, 0, 0, 0 }, nil
	}
	keyPositions := func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) { clear(dst) }, nil
	}
	odd := errors.New("odd")
	for text, d := range map[string]Definition{
		`"x" has both or neither of Positions and KeyPositions, want one`: {},
		`"x" has both or neither of Positions`:                            {Positions: positions, KeyPositions: keyPositions},
		`"x" has MaxK = 256, want 0 to 255`:                               {Positions: positions, MaxK: 256},
		`"x" has MaxK = -1`:                                               {Positions: positions, MaxK: -1},
		`"x" has Unit = 9007199254740992`:                                 {Positions: positions, Unit: 1 << 53},
		`m = 96 and k = 8 with strategy "x", want multiples of 40 and 1`:  {Positions: positions, Unit: 40},
		`k = 8 bits per key, want 1 to 7`:                                 {Positions: positions, MaxK: 7},
		`m = 96 and k = 8 with strategy "x": odd`:                         {Positions: func(uint64, int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) { return nil, odd }},
		`m = 96 and k = 8 with strategy "x": it has no function for them`: {Positions: func(uint64, int) (func(h1, h2 uint64, i int) (p0, p1, p2, p3 uint64), error) { return nil, nil }},
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

// TestCustomStrategiesAreTheBuiltinOnes bit for bit, sized alike, in all calls.
func TestCustomStrategiesAreTheBuiltinOnes(t *testing.T) {
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

func TestCustomStrategyOutsidePanics(t *testing.T) {
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

// BenchmarkCustomStrategy measures strategies of one's own against the built-in ones with the
// same bits, in turns: the ratio is what counts.
func BenchmarkCustomStrategy(b *testing.B) {
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

// moves lets the stack move: it grows by 200 kB, and the garbage collector shrinks it.
func moves() {
	deep(200)
	runtime.GC()
}

//
//go:noinline
func deep(n int) int {
	var frame [1024]byte
	frame[n%1024] = 1
	if n == 0 {
		return int(frame[5])
	}
	return deep(n-1) + int(frame[n%1024])
}

// TestStackGrowsInTheCall: own functions write to the right place, and their keys are the
// right ones, when the stack on which these are moves during the call.
func TestStackGrowsInTheCall(t *testing.T) {
	keyPositions := NewStrategy("key", Definition{KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			moves()
			for i := range dst {
				dst[i] = uint64(i)*3 + uint64(key[0]-'x') + 1
			}
		}, nil
	}})
	hash := NewHash("deep", func(key []byte) (h1, h2 uint64) { moves(); return uint64(key[0]), uint64(key[1]) })
	hash64 := NewHash64("deep64", func(key []byte) uint64 { moves(); return uint64(key[1]) })
	identity := eachPosition(func(h1, _ uint64, i, _ int) uint64 { return h1%2 + uint64(i)*3 + 1 })
	for _, c := range []struct {
		k    int
		opts []Option
		at   uint64
	}{
		{3, []Option{WithStrategy(keyPositions)}, 0}, {60, []Option{WithStrategy(keyPositions)}, 0},
		{3, []Option{WithStrategy(NewStrategy("", identity)), WithHash(hash)}, 'x' % 2},
		{3, []Option{WithStrategy(NewStrategy("", identity)), WithHash(hash64)}, 'y' % 2},
	} {
		f := must(NewWithParams(Params{M: 256, K: c.k}, c.opts...))
		want := []uint64{}
		for i := range uint64(c.k) {
			want = append(want, c.at+i*3+1)
		}
		calls := map[string]func(key []byte){
			"Add":             func(key []byte) { f.Add(key); require.Equal(t, want, setBits(f)) },
			"AddMany":         func(key []byte) { f.AddMany([][]byte{key}, nil); require.Equal(t, want, setBits(f)) },
			"Contains":        func(key []byte) { f.Add(key); f.bits.clear(); require.False(t, f.Contains(key)) },
			"AppendPositions": func(key []byte) { require.Equal(t, want, f.Scheme().AppendPositions(nil, key)) },
		}
		for name, call := range calls {
			f.Clear()
			done := make(chan bool)
			go func() { // a new goroutine has a small stack
				defer close(done)
				key := [2]byte{'x', 'y'}
				call(key[:])
			}()
			<-done
			if t.Failed() {
				t.Fatal(name, f)
			}
		}
		for _, there := range []bool{false, true} {
			f.Clear()
			if there {
				f.AddString("xy")
			}
			done := make(chan bool)
			go func() { defer close(done); require.Equal(t, there, f.ContainsString("xy")) }()
			<-done
		}
	}
}

// TestStackGrowsAtEachDepth: the same wherever in an operation the stack is at its end.
func TestStackGrowsAtEachDepth(t *testing.T) {
	positions := eachPosition(func(h1, _ uint64, i, _ int) uint64 { return h1 + uint64(i) })
	keyPositions := Definition{KeyPositions: func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			for i := range dst {
				dst[i] = uint64(key[0]) + uint64(i)
			}
		}, nil
	}}
	hash := WithHash(NewHash("first", func(key []byte) (h1, h2 uint64) { return uint64(key[0]), 0 }))
	hash64 := WithHash(NewHash64("first64", func(key []byte) uint64 { return uint64(key[0]) }))
	for _, c := range []struct {
		d    Definition
		k    int
		hash Option
	}{
		{positions, 3, hash}, {positions, 60, hash64}, {keyPositions, 3, nil}, {keyPositions, 60, nil},
	} {
		opts := []Option{WithStrategy(NewStrategy("", c.d)), c.hash}
		if c.hash == nil {
			opts = opts[:1]
		}
		f := must(NewWithParams(Params{M: 1024, K: c.k}, opts...))
		for _, op := range []string{"Add", "AddMany", "Contains", "absent", "positions"} {
			for depth := range 400 { // of 16 to 48 bytes: a new stack has 2 kB
				f.Clear()
				if op == "Contains" {
					f.Add([]byte{5})
				}
				done := make(chan bool)
				go func() { done <- atDepth(depth, f, op) }()
				if !<-done || op == "Add" && f.bits.count() != uint64(c.k) {
					t.Fatalf("%s at depth %d: %v", op, depth, f.Stats())
				}
			}
		}
	}
}

//go:noinline
func atDepth(depth int, f *BloomFilter, op string) bool {
	if depth == 0 {
		return withKeyOnStack(f, op)
	}
	return atDepth(depth-1, f, op)
}

// withKeyOnStack reports whether an operation does what it should: the bits are 5, 6, ...,
// or those of the words.
//
//go:noinline
func withKeyOnStack(f *BloomFilter, op string) bool {
	key := [1]byte{5}
	switch op {
	case "Add":
		return f.Add(key[:])
	case "AddMany":
		return f.AddMany([][]byte{key[:]}, nil) == 1
	case "Contains":
		return f.Contains(key[:])
	case "absent":
		return !f.Contains(key[:])
	}
	var buf [64]uint64
	positions := f.Scheme().AppendPositions(buf[:0], key[:])
	return positions[0] == 5 && (positions[1] == 6 || positions[1] == 64+5)
}
