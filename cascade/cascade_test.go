package cascade

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/layeredtest"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// numbered yields keys from first on, in one buffer.
func numbered(prefix string, first, n uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		key := []byte(prefix)
		for i := range n {
			key = binary.BigEndian.AppendUint64(key[:len(prefix)], first+i)
			if !yield(key, nil) {
				return
			}
		}
	}
}

// holds checks every key of both lists.
func holds(t *testing.T, c *Cascade, in, out iter.Seq2[[]byte, error]) {
	t.Helper()
	for key := range in {
		if !c.Contains(key) {
			t.Fatalf("%x is in, and Contains says no", key)
		}
	}
	for key := range out {
		if c.Contains(key) {
			t.Fatalf("%x is out, and Contains says yes", key)
		}
	}
}

// everyKind returns options for each strategy and each hash that a cascade can have.
func everyKind() (kinds [][]bloom.Option) {
	for _, s := range bloom.Strategies() {
		if !s.NeedsKey() {
			kinds = append(kinds, []bloom.Option{bloom.WithStrategy(s)})
		}
	}
	for _, h := range conformance.Hashes() {
		kinds = append(kinds, []bloom.Option{bloom.WithHash(h)})
	}
	return kinds
}

// TestSmallest: p = 0 finds a rate that the strategy and the hash can have, near the ideal one if
// they can have that, for lists of any length.
func TestSmallest(t *testing.T) {
	for _, opts := range everyKind() {
		for in := uint64(1); in < 1e9; in *= 31 {
			for out := uint64(1); out < 1e19; out *= 10 {
				p := smallest(in, out, opts)
				s, err := bloom.NewScheme(in, p, opts...)
				if err != nil && !errors.Is(err, bloom.ErrTooLarge) {
					t.Fatalf("%d and %d keys: %v", in, out, err)
				}
				ideal := min(0.5, math.Sqrt(0.5)*float64(in)/float64(out))
				_, err = bloom.NewScheme(in, ideal, opts...)
				if half := p / 2; p != ideal && (err == nil || half > ideal && !errors.Is(second(bloom.NewScheme(in, half, opts...)), bloom.ErrInvalid)) {
					t.Errorf("%v: p = %v for %d and %d keys, ideal is %v", s, p, in, out, ideal)
				}
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestExactForBothLists(t *testing.T) {
	for _, opts := range append(everyKind(), []bloom.Option{bloom.WithHash(bloom.RapidHash), bloom.WithSeed(99)}, []bloom.Option{bloom.WithSecret([16]byte{1})}) {
		for _, size := range []struct{ in, out uint64 }{{0, 0}, {0, 100}, {1, 0}, {1, 1}, {100, 0}, {3, 20_000}, {10_000, 3}, {5000, 5000}, {2000, 20_000}} {
			for _, p := range []float64{0, 0.5, 0.01, 1e-5} {
				in, out := numbered("k", 0, size.in), numbered("k", size.in, size.out)
				c, err := New(t.Context(), p, in, out, opts...)
				require.NoError(t, err, "%+v", size)
				holds(t, c, in, out)
			}
		}
	}
}

// TestSize: a cascade is as small as the package promises.
func TestSize(t *testing.T) {
	r, s := uint64(100_000), uint64(1_000_000)
	if *testkit.Long {
		r, s = 1_000_000, 10_000_000
	}
	in, out := numbered("name", 0, r), numbered("name", r, s)
	c, err := New(t.Context(), 0, in, out)
	require.NoError(t, err)
	holds(t, c, in, out)
	perKey := float64(c.SizeBytes()*8) / float64(r)
	t.Logf("%v: %.3f bits for each key that is in", c, perKey)
	require.InDelta(t, 1.44*math.Log2(float64(s)/float64(r))+4.2, perKey, 0.06)
}

// TestContainsMany compares a batch with single lookups, for keys of both lists and of none.
func TestContainsMany(t *testing.T) {
	defer func(size uint64) { layered.InCache = size }(layered.InCache)
	for _, out := range []uint64{0, 1, 300, 5000} { // one level, and odd and even numbers of them
		c, err := New(t.Context(), 0.3, numbered("k", 0, 300), numbered("k", 300, out))
		require.NoError(t, err)
		var keys [][]byte
		var want []bool
		yes := 0
		for key := range numbered("k", 0, 6000) {
			keys, want = append(keys, bytes.Clone(key)), append(want, c.ContainsString(string(key)))
			if c.Contains(key) {
				yes++
			}
		}
		for _, n := range []int{0, 1, 64, 65, 6000} {
			layered.InCache = uint64(n%2) << 20
			found := slices.Repeat([]bool{true}, n)
			c.ContainsMany(keys[:n], found)
			require.Equal(t, want[:n], found)
		}
		require.Equal(t, yes, c.ContainsMany(keys, nil))
		require.Panics(t, func() { c.ContainsMany(keys, make([]bool, 1)) })
	}
}

// TestStats: the numbers are those of the levels. Keys of neither list are found at the estimated
// rate, which is below p.
func TestStats(t *testing.T) {
	const n = 5_000
	asked := uint64(testkit.Times(20_000, 200_000, 200_000))
	for _, p := range []float64{0.3, 0.01} {
		for _, outs := range []uint64{0, n, 5 * n} {
			c, err := New(t.Context(), p, numbered("k", 0, n), numbered("k", n, outs))
			require.NoError(t, err)
			s := c.Stats()
			m, ones := uint64(0), uint64(0)
			for _, f := range c.filters {
				m, ones = m+f.Params().M, ones+f.Stats().Ones
			}
			first := c.filters[0].Params()
			require.Equal(t, bloom.Stats{
				Params: bloom.Params{N: n, P: p, M: m, K: first.K}, Strategy: "double-hashing", Hash: "murmur3", SizeBytes: m / 8, Ones: ones,
				EstimatedCount: n, EstimatedFalsePositiveRate: s.EstimatedFalsePositiveRate,
			}, s)
			wrong := 0
			for key := range numbered("other", 0, asked) {
				if c.Contains(key) {
					wrong++
				}
			}
			mean := s.EstimatedFalsePositiveRate * float64(asked)
			require.InDelta(t, mean, wrong, 5*math.Sqrt(mean), "%d levels", len(c.filters))
			limit := p * float64(asked)
			require.LessOrEqual(t, float64(wrong), limit+4*math.Sqrt(limit))
		}
	}
}

// TestConflictIsNamed: the error names the key that is in both lists.
func TestConflictIsNamed(t *testing.T) {
	_, err := New(t.Context(), 0, numbered("k", 0, 10_000), numbered("k", 9_999, 10_000))
	require.ErrorIs(t, err, ErrConflict)
	require.ErrorContains(t, err, fmt.Sprintf("%q", binary.BigEndian.AppendUint64([]byte("k"), 9_999)))
}

func TestRefuses(t *testing.T) {
	in, out := numbered("k", 0, 10), numbered("k", 10, 10)
	for _, p := range []float64{-1, 1, 2, math.NaN()} {
		_, err := New(t.Context(), p, in, out)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err := New(t.Context(), 0, in, out, bloom.WithStrategy(bloom.SeededHashing))
	require.ErrorIs(t, err, bloom.ErrInvalid)
	require.ErrorContains(t, err, `"seeded-hashing"`)

	for _, lists := range [][2]iter.Seq2[[]byte, error]{{nil, out}, {in, nil}} {
		_, err := New(t.Context(), 0, lists[0], lists[1])
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}

	broken := errors.New("the disk is gone")
	failing := func(yield func([]byte, error) bool) { yield(nil, broken) }
	_, err = New(t.Context(), 0, failing, out)
	require.ErrorIs(t, err, broken)
	_, err = New(t.Context(), 0, in, failing)
	require.ErrorIs(t, err, broken)

	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	_, err = New(ctx, 0, numbered("k", 0, 1_000_000), out)
	require.ErrorIs(t, err, why)
}

// TestNotSeparated: the error names what does not separate the lists.
func TestNotSeparated(t *testing.T) {
	constant := bloom.NewStrategy("constant", bloom.Definition{Positions: testkit.ByIndex(func(_, _ uint64, i int, _ uint64) uint64 { return uint64(i) })})
	_, err := New(t.Context(), 0, numbered("k", 0, 3), numbered("k", 3, 5), bloom.WithStrategy(constant))
	conformance.Refused(t, err, bloom.ErrInvalid, `1024 levels of strategy "constant" with hash "murmur3" do not separate the lists: 3 keys are left`)
}

// TestListsThatEndEarly: a list that ends without an error because of ctx is not taken for whole.
func TestListsThatEndEarly(t *testing.T) {
	whole := numbered("k", 0, 100)
	for _, lists := range [][2]int{{1, 1}, {2, 1}, {2, 2}} { // which call of which list ends early
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		ends := func(yield func([]byte, error) bool) {
			if calls++; calls == lists[1] {
				cancel()
				return
			}
			numbered("x", 0, 100)(yield)
		}
		in, out := ends, whole
		if lists[0] == 2 {
			in, out = whole, ends
		}
		_, err := New(ctx, 0, in, out)
		require.ErrorIs(t, err, context.Canceled, lists)
	}
}

// TestLargeKeys: the memory that New takes is that of digests, however long the keys are.
func TestLargeKeys(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // each processor has a batch
	const size, keys = 64 << 10, 2000
	in, out := numbered(strings.Repeat("x", size), 0, keys), numbered("k", 0, keys)
	var c *Cascade
	var err error
	got := testkit.Allocated(func() { c, err = New(t.Context(), 0, in, out) })
	require.NoError(t, err)
	holds(t, c, in, out)
	require.Less(t, got, uint64(size*keys/2))
}

func TestValues(t *testing.T) { layeredtest.Values(t, new(Cascade)) }

func TestNoAllocations(t *testing.T) {
	c, err := New(t.Context(), 0, numbered("k", 0, 1000), numbered("k", 1000, 10_000))
	require.NoError(t, err)
	key := []byte("some key")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		c.Contains(key)
		c.ContainsString("some key")
		c.ContainsMany([][]byte{key}, nil)
	}))
}
