package bloom

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

func TestCustomStrategyRules(t *testing.T) {
	positions := func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
		return func(h1, h2 uint64, i int) uint64 { return 0 }, nil
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
		`k = 8, want 1 to 7`:                                              {Positions: positions, MaxK: 7},
		`m = 96 and k = 8 with strategy "x": odd`:                         {Positions: func(uint64, int) (func(h1, h2 uint64, i int) uint64, error) { return nil, odd }},
		`m = 96 and k = 8 with strategy "x": it has no function for them`: {Positions: func(uint64, int) (func(h1, h2 uint64, i int) uint64, error) { return nil, nil }},
	} {
		f, err := newWithParams(Params{M: 96, K: 8}, WithStrategy(NewStrategy("x", d)))
		require.ErrorIs(t, err, ErrInvalid, text)
		require.ErrorContains(t, err, text)
		require.Nil(t, f)
		require.Equal(t, strings.Contains(err.Error(), "odd"), errors.Is(err, odd))
	}
	_, err := newWithParams(Params{M: 96, K: 8}, WithStrategy(NewStrategy("x", Definition{Positions: positions, MaxM: 95})))
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

// TestCustomStrategiesAreTheBuiltinOnes bit for bit, sized alike, in all calls.
func TestCustomStrategiesAreTheBuiltinOnes(t *testing.T) {
	t.Parallel()
	for custom, builtin := range map[Strategy]Strategy{customDouble: DoubleHashing, customSeeded: SeededHashing} {
		for _, c := range []struct {
			n uint64
			p float64
		}{{1, 0.5}, {10, 0.01}, {100, 0.1}, {1000, 1e-4}, {1000, 1e-6}, {4000, 0.01}, {0, 0.01}} {
			opts := []Option{}
			if custom.NeedsKey() {
				opts = append(opts, WithSeed(3))
			}
			f := must(New(c.n, c.p, append(opts, WithStrategy(custom))...))
			g := must(New(c.n, c.p, append(opts, WithStrategy(builtin))...))
			require.Equal(t, g.Params(), f.Params(), "%s, %+v", custom, c)
			require.Equal(t, g.SizeBytes(), f.SizeBytes())
			var b [40]byte
			for i := range max(c.n, 20) {
				key := slices.Clone(key40(&b, i))[:40-i%3]
				require.Equal(t, g.Contains(key), f.Contains(key))
				require.Equal(t, g.Add(key), f.Add(key))
				require.Equal(t, g.Scheme().AppendPositions(nil, key), f.Scheme().AppendPositions(nil, key))
			}
			require.True(t, g.bits.equal(f.bits))
			m, k := f.Params().M, f.Params().K
			require.InDelta(t, 1, (custom.FalsePositiveRate(m, k, c.n)+1e-300)/(builtin.FalsePositiveRate(m, k, c.n)+1e-300), 1e-9)
			want, got := g.Stats(), f.Stats()
			want.Strategy = custom.Name()
			require.Equal(t, want, got)
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
			f := must(newWithParams(Params{M: 100, K: k}, WithStrategy(s)))
			calls := []func(){
				func() { f.AddString("x") },
				func() { f.bits.set(0); require.True(t, f.ContainsString("x")) },
				func() { f.AddMany([][]byte{[]byte("x")}, nil) },
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

// TestLargeK: only a custom strategy that says so has more than 64 bits per key.
func TestLargeK(t *testing.T) {
	large := definitionOf(customDouble)
	large.MaxK = 255
	for s, largest := range map[Strategy]int{customDouble: 64, NewStrategy("large", large): 255, DoubleHashing: 64} {
		p := Params{M: 512 * 64, K: largest + 1}
		_, err := newWithParams(p, WithStrategy(s))
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("k = %d, want 1 to %d", largest+1, largest))
		p.K = largest
		f := must(newWithParams(p, WithStrategy(s)))
		for i := range uint64(80) {
			f.AddString(formatUint(i))
		}
		require.InEpsilon(t, 80, f.Stats().EstimatedCount, 0.02)
	}
}

// TestCustomSizing: fixed k, rates and rules of custom strategies.
func TestCustomSizing(t *testing.T) {
	double := definitionOf(customDouble)
	with := func(edit func(d *Definition)) Strategy {
		d := double
		edit(&d)
		return NewStrategy("sized", d)
	}
	usual := must(sizeFor(1000, 0.01, DoubleHashing))
	for name, c := range map[string]struct {
		s    Strategy
		want Params
	}{
		"MaxK": {with(func(d *Definition) { d.MaxK = 3 }), Params{1000, 0.01, 12416, 3}},
		"Rate": {with(func(d *Definition) { d.Rate = DoubleHashing.FalsePositiveRate }), usual},
		"Rate, twice": {with(func(d *Definition) {
			d.Rate = func(m uint64, k int, n uint64) float64 { return DoubleHashing.FalsePositiveRate(m/2, k, n) }
		}), Params{1000, 0.01, 2 * usual.M, usual.K}},
		"Size": {with(func(d *Definition) { d.Size = func(n uint64, p float64) (uint64, int, error) { return n * 10, 6, nil } }), Params{1000, 0.01, 10000, 6}},
	} {
		got := must(sizeFor(1000, 0.01, c.s))
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.want, MustNew(1000, 0.01, WithStrategy(c.s)).Params(), name)
		if definitionOf(c.s).Size == nil {
			require.LessOrEqual(t, c.s.FalsePositiveRate(got.M, got.K, 1000), 0.01, name)
			require.Greater(t, c.s.FalsePositiveRate(got.M-sizeUnit(c.s), got.K, 1000), 0.01, name)
		}
	}
	for want, s := range map[int]Strategy{
		2: with(func(d *Definition) { d.MaxK = 2 }),
		7: with(func(d *Definition) { d.Rate = DoubleHashing.FalsePositiveRate }),
	} {
		got := must(ParamsForBits(1000, 10, s))
		require.Equal(t, Params{1000, s.FalsePositiveRate(10_048, want, 1000), 10_048, want}, got)
	}
	for text, s := range map[string]Strategy{
		"m = 0 bits, want at least 1": with(func(d *Definition) { d.Size = func(uint64, float64) (uint64, int, error) { return 0, 1, nil } }),
		"too small": with(func(d *Definition) {
			d.Size = func(uint64, float64) (uint64, int, error) { return 0, 0, errors.New("too small") }
		}),
		`strategy "sized" reaches p = 0.01 for n = 1000`:       with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return 0.02 } }),
		`strategy "sized" has rate NaN for m = `:               with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return math.NaN() } }),
		`strategy "sized" has rate -1 for m = `:                with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return -1 } }),
		`strategy "sized" has rate -Inf for m = `:              with(func(d *Definition) { d.Rate = func(uint64, int, uint64) float64 { return math.Inf(-1) } }),
		`no m up to 8960 bits with strategy "sized" reaches p`: with(func(d *Definition) { d.MaxM = 9000 }),
	} {
		_, err := New(1000, 0.01, WithStrategy(s))
		require.ErrorContains(t, err, text)
	}
	_, err := ParamsForBits(1000, 10, with(func(d *Definition) { d.MaxM = 9000 }))
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = NewScheme(1000, 0.01, WithStrategy(with(func(d *Definition) {
		d.Size = func(uint64, float64) (uint64, int, error) { return maxM, 1, nil }
	})))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `m = 9007199254740992 bits by the Size of strategy "sized", want fewer than 9007199254740992`)
}

// TestCustomRateOfStats: the rate of a filter is its strategy's for the estimated number of keys.
func TestCustomRateOfStats(t *testing.T) {
	d := definitionOf(customDouble)
	d.Rate = func(m uint64, k int, n uint64) float64 { return min(1, float64(n)/10_000) }
	f := must(newWithParams(Params{M: 10_000, K: 7}, WithStrategy(NewStrategy("linear", d))))
	addKeys(f, 500)
	require.InEpsilon(t, 0.05, f.Stats().EstimatedFalsePositiveRate, 0.1)
	for i := range f.Params().M {
		f.bits.set(i)
	}
	require.Equal(t, 1.0, f.Stats().EstimatedFalsePositiveRate)
}

// TestCustomResultsThatAreNone: a result that is no number of keys counts as unknown, one that is no rate as 1.
func TestCustomResultsThatAreNone(t *testing.T) {
	for _, n := range []float64{math.NaN(), -1, math.Inf(-1), math.Inf(1)} {
		d := definitionOf(customDouble)
		d.EstimateCount = func(uint64, int, uint64) float64 { return n }
		f := MustNew(1000, 0.01, WithStrategy(NewStrategy("odd", d)))
		f.AddString("key")
		require.Equal(t, uint64(math.MaxUint64), f.Stats().EstimatedCount, n)

		d = definitionOf(customDouble)
		d.Rate = func(uint64, int, uint64) float64 { return n }
		f = must(newWithParams(Params{M: 100, K: 3}, WithStrategy(NewStrategy("odd", d))))
		f.AddString("key")
		require.Equal(t, 1.0, f.Stats().EstimatedFalsePositiveRate, n)
	}
}

// TestCustomSizingFindsTheLeast: by brute force over the strategy's own rate, whose least m does not fall and
// then rise with k, New finds the smallest m and its smallest k.
func TestCustomSizingFindsTheLeast(t *testing.T) {
	for seed := range uint64(30) {
		d := definitionOf(customDouble)
		d.MaxK, d.MaxM = 20, 64*400
		d.Rate = func(m uint64, k int, n uint64) float64 {
			return min(1, DoubleHashing.FalsePositiveRate(m, k, n)*float64(1+mix(seed<<8+uint64(k))%64))
		}
		s := NewStrategy("", d)
		const n, p = 100, 0.01
		least := func() Params {
			for m := uint64(64); m <= d.MaxM; m += 64 {
				for k := 1; k <= d.MaxK; k++ {
					if d.Rate(m, k, n) <= p {
						return Params{n, p, m, k}
					}
				}
			}
			return Params{}
		}
		require.Equal(t, least(), must(sizeFor(n, p, s)))
	}
	tiny := definitionOf(customDouble)
	tiny.MaxM = 10
	_, err := New(1, 0.5, WithStrategy(NewStrategy("tiny", tiny)))
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, `m = 64 bits with strategy "tiny", want at most 10`)
}

// deep makes the stack grow by 200 kB, and the garbage collector shrinks it again: it moves.
//
//go:noinline
func deep(n int, last func()) int {
	var frame [1024]byte
	frame[n%1024] = 1
	if n == 0 {
		last()
		return int(frame[5])
	}
	return deep(n-1, last) + int(frame[n%1024])
}

// TestStackMovesInTheCall: a function of this module gets the caller's key, and finds it if the stack
// with it moves during the call, wherever in it the stack ends.
func TestStackMovesInTheCall(t *testing.T) {
	hash := NewHash("first", memory.Own(func(key []byte) (h1, h2 uint64) { deep(200, runtime.GC); return uint64(key[0]), 0 }))
	f := must(newWithParams(Params{M: 1024, K: 3}, WithHash(hash),
		WithStrategy(NewStrategy("", eachPosition(func(h1, _ uint64, i, _ int) uint64 { return h1 + uint64(i) })))))
	for _, op := range []string{"Add", "AddMany", "Contains", "absent", "positions"} {
		for depth := 0; depth < 100; depth += 5 { // each of 16 to 48 bytes: a new stack has 2 kB
			f.Clear()
			if op == "Contains" {
				f.Add([]byte{5})
			}
			got := make(chan []uint64)
			go func() { got <- atDepth(depth, f, op) }() // a new goroutine has a small stack
			require.Equal(t, []uint64{5, 6, 7}, <-got, "%s at depth %d", op, depth)
		}
	}
}

// TestForeignFunctions: a custom hash or strategy gets the bytes of the key, in memory that is no stack, also for long
// keys, and while it calls the same filter. Calls do not allocate. A function that keeps its key, which it must not,
// reads the bytes of other keys and nothing else.
func TestForeignFunctions(t *testing.T) {
	long, other := bytes.Repeat([]byte{200}, 70_000), bytes.Repeat([]byte{201}, 70_000) // not pooled
	var f *BloomFilter
	var kept [][]byte
	keep, again := true, false
	see := func(key []byte) uint64 {
		first, last := key[0], key[len(key)-1]
		if again {
			again = false
			f.ContainsString("another key, of another length")
			f.AddMany([][]byte{other, []byte("one more")}, nil)
		}
		if key[0] != first || key[len(key)-1] != last {
			t.Errorf("a key of %d bytes has changed during the call", len(key))
		}
		if keep {
			kept = append(kept, key)
		}
		return mix(uint64(first) + uint64(len(key))<<8)
	}
	byKey := Definition{KeyPositions: func(m uint64, _ int, _ uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			h := see(key)
			for j := range dst {
				dst[j] = mix(h+uint64(j)) % m
			}
		}, nil
	}}
	for name, opt := range map[string]Option{
		"hash of 128 bits": WithHash(NewHash("sees", func(key []byte) (h1, h2 uint64) { return see(key), 1 })),
		"hash of 64 bits":  WithHash(NewHash64("sees", see)),
		"strategy":         WithStrategy(NewStrategy("sees", byKey)),
	} {
		f = MustNew(1000, 1e-6, opt)
		kept, keep = nil, true
		for _, n := range []int{1, 40, 100, 5000, 64 << 10, 64<<10 + 1, len(long)} {
			done := make(chan bool)
			go func() { // a new goroutine has a small stack
				defer close(done)
				again = true
				mine := bytes.Clone(long[:n])
				added := f.Add(mine)
				mine[0] = 99 // the function has a copy
				if !added || !f.Contains(long[:n]) || !f.ContainsString(string(long[:n])) || f.ContainsMany([][]byte{long[:n]}, nil) != 1 {
					t.Errorf("%s: a key of %d bytes: added %v", name, n, added)
				}
				f.Scheme().AppendPositions(nil, long[:n])
				var key [100]byte
				key[0], again = 7, true
				f.Add(key[:])
				deep(5, runtime.GC)
			}()
			<-done
		}
		runtime.GC()
		for _, key := range kept {
			require.Contains(t, []byte{0, 7, 200, 201, 'a', 'o'}, key[0], "the first byte of some key")
		}
		kept, keep = nil, false
		key := bytes.Repeat([]byte("k"), 40)
		if !testkit.RaceDetector { // with it, sync.Pool drops what it gets at random
			require.Zero(t, testing.AllocsPerRun(1000, func() { f.Contains(key); f.Add(key) }), name)
		}
	}
}

// TestKeyPositionsGetsK: the function of KeyPositions is asked for all positions at once, never for more.
func TestKeyPositionsGetsK(t *testing.T) {
	var k, calls int
	d := Definition{MaxK: maxCustomK, KeyPositions: func(m uint64, _ int, _ uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {
			if calls++; len(dst) != k {
				t.Errorf("k = %d: asked for %d positions", k, len(dst))
			}
			for j := range dst {
				dst[j] = mix(uint64(key[0])<<8+uint64(j)) % m
			}
		}, nil
	}}
	key := []byte("key")
	for _, k = range []int{1, 2, 3, 7, fewPositions, fewPositions + 1, 64, maxCustomK} {
		s := must(NewSchemeWithParams(Params{M: 1 << 16, K: k}, WithStrategy(NewStrategy("", d))))
		f, b := must(s.Filter()), must(s.Builder())
		for name, call := range map[string]func(){
			"Add":             func() { f.Add(key) },
			"AddMany":         func() { f.AddMany([][]byte{key}, nil) },
			"Builder":         func() { b.Add(key) },
			"AppendPositions": func() { s.AppendPositions(nil, key) },
			"Contains":        func() { f.Contains(key) },
			"ContainsMany":    func() { f.ContainsMany([][]byte{key}, nil) },
		} {
			calls = 0
			call()
			require.Equal(t, 1, calls, name)
		}
		require.True(t, f.Contains(key) && f.ContainsString("key"))
	}
}

//go:noinline
func atDepth(depth int, f *BloomFilter, op string) []uint64 {
	if depth == 0 {
		return withKeyOnStack(f, op)
	}
	return atDepth(depth-1, f, op)
}

// withKeyOnStack does an operation and returns the key's positions, 5 and so on, or nil for a
// wrong answer.
//
//go:noinline
func withKeyOnStack(f *BloomFilter, op string) []uint64 {
	key := [1]byte{5}
	switch op {
	case "Add":
		if !f.Add(key[:]) {
			return nil
		}
	case "AddMany":
		if f.AddMany([][]byte{key[:]}, nil) != 1 {
			return nil
		}
	case "Contains":
		if !f.Contains(key[:]) {
			return nil
		}
	case "absent":
		if f.Contains(key[:]) {
			return nil
		}
		f.Add([]byte{5})
	case "positions":
		var buf [64]uint64
		return append([]uint64{}, f.Scheme().AppendPositions(buf[:0], key[:])...)
	}
	return setBits(f)
}

// BenchmarkCustom measures custom strategies and hashes, and the built-in ones with the same bits.
func BenchmarkCustom(b *testing.B) {
	murmur := NewHash("murmur3-as-custom", func(key []byte) (h1, h2 uint64) { return murmur3.SeedSum128(0, 0, key) })
	const size = 512
	keys, answers := make([][]byte, size), make([]bool, size)
	for name, opt := range map[string]Option{"none": WithHash(Murmur3), "strategy": WithStrategy(customDouble), "hash": WithHash(murmur)} {
		for _, n := range benchSizes[:1] {
			f := MustNew(n, benchP, opt)
			addKeys(f, n/2)
			for op, do := range map[string]func(){
				"add":           func() { each(keys, answers, f.Add) },
				"contains":      func() { each(keys, answers, f.Contains) },
				"contains-many": func() { f.ContainsMany(keys, answers) },
			} {
				b.Run(fmt.Sprintf("custom=%s/n=%d/op=%s", name, n, op), func(b *testing.B) {
					for i := range keys {
						keys[i] = key40(new([40]byte), uint64(i)*n/size)
					}
					for done := 0; done < b.N; done += size {
						do()
					}
				})
			}
		}
	}
}
