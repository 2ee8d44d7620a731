package bloom

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/stretchr/testify/require"
)

func TestNewReportsWhatItMade(t *testing.T) {
	f := MustNew(1_000_000, 0.01)
	want, err := ParamsFor(1_000_000, 0.01, DoubleHashing)
	require.NoError(t, err)
	require.Equal(t, want, f.Params())
	require.Equal(t, Params{N: 1_000_000, P: 0.01, M: 9_592_960, K: 7}, f.Params())
	require.Equal(t, uint64(9_592_960/8), f.SizeBytes())
	require.Equal(t, "double-hashing", f.Strategy().Name())
	require.Equal(t, "bloom.BloomFilter(n=1000000 p=0.01 m=9592960 k=7 strategy=double-hashing hash=murmur3 bytes=1199120)", f.String())
}

func TestNewWithParams(t *testing.T) {
	f, err := NewWithParams(Params{M: 21_895, K: 5}, WithStrategy(SeededHashing))
	require.NoError(t, err)
	require.Equal(t, uint64(343*8), f.SizeBytes(), "whole words, but m stays what it was")
	require.Equal(t, uint64(21_895), f.Params().M)

	for _, c := range []struct {
		params Params
		opts   []Option
		want   error
		text   string
	}{
		{Params{M: 0, K: 1}, nil, ErrInvalid, "m = 0 bits"},
		{Params{M: 64, K: 0}, nil, ErrInvalid, "k = 0"},
		{Params{M: 64, K: -1}, nil, ErrInvalid, "k = -1"},
		{Params{M: 64, K: 65}, nil, ErrInvalid, "k = 65"},
		{Params{M: 64, K: 1, P: 1}, nil, ErrInvalid, "p = 1"},
		{Params{M: 64, K: 1, P: math.NaN()}, nil, ErrInvalid, "p = NaN"},
		{Params{M: 64, K: 1}, []Option{WithStrategy(Strategy{})}, ErrInvalid, "zero Strategy"},
		{Params{M: math.MaxUint64, K: 1}, nil, ErrTooLarge, "2305843009213693952 bytes"},
	} {
		_, err := NewWithParams(c.params, c.opts...)
		require.ErrorIs(t, err, c.want)
		require.ErrorContains(t, err, c.text)
	}
}

func TestNewBeyondMemory(t *testing.T) {
	if _, ok := memory.Physical(); !ok {
		t.Skip("NOT TESTED: a filter larger than the memory, for this system does not say how much that is")
	}
	_, err := New(1<<45, 1e-9)
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "bytes, this machine has at most")
}

func TestNoMissAndFewFalsePositives(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, s := range allStrategies {
		f := MustNew(n, 0.01, WithStrategy(s))
		var b [40]byte
		added := 0
		for i := range uint64(n) {
			if f.Add(key40(&b, i)) {
				added++
			}
			if !f.Contains(b[:]) || f.Add(b[:]) {
				t.Fatalf("%s: key %d is missed right after its Add", s, i)
			}
		}
		for i := range uint64(n) {
			if !f.Contains(key40(&b, i)) || !f.ContainsString(string(b[:])) {
				t.Fatalf("%s: key %d is missed", s, i)
			}
		}
		require.Greater(t, added, n-n/100, "an Add that answers false for a new key is a false positive")
		if !inBlocks(s) {
			require.InDelta(t, 0.5, f.Stats().FillRatio, 0.02)
		}
	}
}

func TestKeysOfEveryLength(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcdef"), 64)
	for _, s := range allStrategies {
		f := MustNew(2000, 1e-6, WithStrategy(s))
		for n := range len(long) {
			require.True(t, f.Add(long[:n]), "%s: %d bytes", s, n)
		}
		for n := range len(long) {
			require.True(t, f.Contains(long[:n]))
			require.True(t, f.ContainsString(string(long[:n])))
			require.False(t, f.AddString(string(long[:n])))
		}
	}
}

func TestSeedMovesPositions(t *testing.T) {
	for _, s := range allStrategies {
		a, b := MustNew(100, 1e-6, WithStrategy(s)), MustNew(100, 1e-6, WithStrategy(s), WithSeed(1))
		a.AddString("x")
		b.AddString("x")
		require.NotEqual(t, setBits(a), setBits(b))
	}
}

// TestNoMissesUnderConcurrency adds from many goroutines into two filters while
// others unite them, clone them and read them.
func TestNoMissesUnderConcurrency(t *testing.T) {
	keys := effort.Times(4000, 10_000, 40_000)
	for _, s := range allStrategies {
		for _, workers := range []int{1, runtime.GOMAXPROCS(0), 100} {
			t.Run(fmt.Sprintf("strategy=%s/workers=%d", s, workers), func(t *testing.T) {
				perWorker := uint64(keys / workers)
				n := uint64(workers) * perWorker
				f, g := MustNew(2*n, 1e-4, WithStrategy(s)), MustNew(2*n, 1e-4, WithStrategy(s))
				var wg sync.WaitGroup
				stop := make(chan struct{})
				var background sync.WaitGroup
				background.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := f.Union(g); err != nil {
							t.Errorf("Union: %v", err)
							return
						}
						if fill := f.Stats().FillRatio; fill < 0 || fill > 1 {
							t.Errorf("FillRatio = %v", fill)
						}
					}
				})
				for w := range uint64(workers) {
					wg.Go(func() {
						var b [40]byte
						for i := w * perWorker; i < (w+1)*perWorker; i++ {
							f.Add(key40(&b, i))
							g.Add(key40(&b, n+i))
							if !f.Contains(key40(&b, i)) {
								t.Errorf("key %d is missed right after its Add", i)
								return
							}
							if i%(n/64) == 0 && !f.Clone().Contains(b[:]) {
								t.Errorf("key %d is missed in a clone", i)
								return
							}
						}
					})
				}
				wg.Wait()
				close(stop)
				background.Wait()
				require.NoError(t, f.Union(g))
				var b [40]byte
				for i := range 2 * n {
					if !f.Contains(key40(&b, i)) {
						t.Fatalf("key %d is missed", i)
					}
				}
			})
		}
	}
}

// TestFilterForNoKeys: n = 0 is the smallest filter, and no less of a filter.
func TestFilterForNoKeys(t *testing.T) {
	for _, s := range append([]Strategy{Blocked}, allStrategies...) {
		for _, p := range []float64{0.5, 0.01, 1e-9} {
			if s == SplitBlock {
				p = max(p, minSplitP)
			}
			f, err := New(0, p, WithStrategy(s))
			require.NoError(t, err, "%s p=%v", s, p)
			params, err := ParamsFor(0, p, s)
			require.NoError(t, err)
			require.Equal(t, params, f.Params())
			require.Zero(t, params.N)
			require.Equal(t, p, params.P)
			require.Equal(t, s.get().sizedUnit(), params.M)
			require.Zero(t, f.Strategy().FalsePositiveRate(params.M, params.K, 0))
			require.False(t, f.ContainsString("x"))
			for i := range 200 {
				key := fmt.Append(nil, i)
				f.Add(key)
				require.True(t, f.Contains(key))
			}
			require.Zero(t, f.Stats().Load())

			again, err := NewWithParams(params, WithStrategy(s))
			require.NoError(t, err)
			require.True(t, again.Compatible(f))
			encoded, err := f.MarshalBinary()
			require.NoError(t, err)
			var back BloomFilter
			if s.get().custom {
				continue
			}
			require.NoError(t, back.UnmarshalBinary(encoded))
			require.True(t, back.Equal(f))
			require.Equal(t, params, back.Params())
		}
	}
	_, err := New(0, 1)
	require.ErrorIs(t, err, ErrInvalid)
}

// TestZeroValues: every method of a zero filter or scheme returns an error or panics with what to
// call, except those that read another filter into it and those that print it.
func TestZeroValues(t *testing.T) {
	same := map[string]bool{"ReadFrom": true, "UnmarshalBinary": true, "UnmarshalText": true, "String": true, "GoString": true}
	for _, zero := range []any{new(BloomFilter), Scheme{}} {
		of := reflect.TypeOf(zero)
		for i := range of.NumMethod() {
			method := of.Method(i)
			if same[method.Name] {
				continue
			}
			args := []reflect.Value{reflect.ValueOf(zero)}
			for j := 1; j < method.Type.NumIn(); j++ {
				args = append(args, reflect.Zero(method.Type.In(j)))
			}
			name := of.String() + "." + method.Name
			if out := method.Type.NumOut(); out > 0 && method.Type.Out(out-1) == reflect.TypeFor[error]() {
				err, _ := method.Func.Call(args)[out-1].Interface().(error)
				require.ErrorIs(t, err, ErrInvalid, name)
				continue
			}
			require.PanicsWithValue(t, zeroFilter, func() { method.Func.Call(args) }, name)
		}
	}
	require.Equal(t, "bloom.BloomFilter(zero) bloom.Scheme(zero)", fmt.Sprint(BloomFilter{}, Scheme{}))
	f := MustNew(10, 0.1)
	require.False(t, f.Compatible(nil) || f.Equal(nil) || f.Compatible(new(BloomFilter)))
	for _, other := range []*BloomFilter{nil, new(BloomFilter)} {
		require.ErrorIs(t, f.Union(other), ErrInvalid)
		require.ErrorIs(t, f.Intersect(other), ErrInvalid)
	}
	require.Equal(t, []string{"", "none", "", "none"}, []string{Strategy{}.Name(), Strategy{}.String(), Hash{}.Name(), Hash{}.String()})
	for _, opt := range []Option{WithStrategy(Strategy{}), WithHash(Hash{})} {
		_, err := New(10, 0.1, opt)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, "want one such as")
	}
}
