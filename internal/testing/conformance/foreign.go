package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A Foreign is another system's format for filters.
type Foreign[F Filter] struct {
	New    func(n uint64, p float64, opts ...bloom.Option) (F, error)
	Read   func(io.Reader, ...bloom.Option) (F, error)
	Write  func(io.Writer, F) error
	Stream bool // see Format
	Text   bool // JSON
	Exact  bool // see Format
}

// A Filter has the methods that all filters have.
type Filter interface {
	Contains(key []byte) bool
	Stats() bloom.Stats
}

// foreign makes an io.WriterTo of a filter and the function that writes it.
type foreign[F Filter] struct {
	Filter F
	write  func(io.Writer, F) error
}

func (v foreign[F]) WriteTo(w io.Writer) (int64, error) {
	counter := &format.Counter{W: w}
	err := v.write(counter, v.Filter)
	return counter.N, err
}

func (v foreign[F]) String() string { return fmt.Sprint(v.Filter) }

func (v foreign[F]) Add(key []byte) bool {
	plain, ok := any(v.Filter).(*bloom.BloomFilter)
	return ok && plain.Add(key)
}

func (v foreign[F]) Contains(key []byte) bool { return v.Filter.Contains(key) }

// Bytes returns the bytes of a filter.
func (f Foreign[F]) Bytes(t testing.TB, filter F) []byte {
	return Written(t, foreign[F]{filter, f.Write})
}

// Format returns the Format of the other system, with filters as its Values.
func (f Foreign[F]) Format(filters ...F) Format {
	made := Format{Stream: f.Stream, Trusting: f.Text, Exact: f.Exact, Read: func(r io.Reader, opts ...bloom.Option) (io.WriterTo, error) {
		filter, err := f.Read(r, opts...)
		if err != nil {
			return nil, err
		}
		return foreign[F]{filter, f.Write}, nil
	}}
	for _, filter := range filters {
		made.Values = append(made.Values, foreign[F]{filter, f.Write})
	}
	return made
}

// Golden reads a file of the other system. The filter that was read, and the filter made with the same keys, must both
// be written as the bytes of the file.
func (f Foreign[F]) Golden(t *testing.T, path string, made F) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	read, err := f.Read(bytes.NewReader(data))
	require.NoError(t, err)
	for _, filter := range []F{read, made} {
		require.True(t, bytes.Equal(data, f.Bytes(t, filter)), path)
	}
}

// Test tests the format with filters. The first must be small, and the last have some megabytes.
func (f Foreign[F]) Test(t *testing.T, filters ...F) {
	t.Helper()
	f.refusals(t)
	for _, filter := range filters {
		data, size := f.Bytes(t, filter), filter.Stats().SizeBytes
		_, err := f.Read(bytes.NewReader(data), bloom.WithMaxBytes(size))
		require.NoError(t, err)
		_, err = f.Read(bytes.NewReader(data), bloom.WithMaxBytes(size-1))
		require.ErrorIs(t, err, bloom.ErrTooLarge)
		for _, opt := range others {
			_, err = f.Read(bytes.NewReader(data), opt)
			require.ErrorIs(t, err, bloom.ErrInvalid)
		}
	}
	tested, last := f.Format(filters...), len(filters)-1
	tested.Values, tested.Large = tested.Values[:last], tested.Values[last]
	if write, ok := any(f.Write).(func(io.Writer, *bloom.BloomFilter) error); ok {
		var out bytes.Buffer
		for _, other := range append(namesakes(t, any(filters[0]).(*bloom.BloomFilter)), bloom.MustNew(10, 0.01)) {
			err := write(&out, other)
			require.ErrorIs(t, err, bloom.ErrNotPortable)
			require.ErrorContains(t, err, "it has ")
			require.Zero(t, out.Len())
		}
		for _, zero := range []*bloom.BloomFilter{nil, {}} {
			tested.Zero = append(tested.Zero, foreign[*bloom.BloomFilter]{zero, write})
		}
	}
	tested.Test(t)
}

// namesakes returns filters like f that have another strategy with the name of f's strategy, or a hash with the name of
// f's hash and another number of bits. There are none for strategies and hashes of package bloom.
func namesakes(t *testing.T, f *bloom.BloomFilter) (list []*bloom.BloomFilter) {
	s := f.Scheme()
	strategy, hash := bloom.WithStrategy(s.Strategy()), bloom.WithHash(s.Hash())
	positions := func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
		return func(h1, h2 uint64, i int) uint64 { return 0 }, nil
	}
	keyPositions := func(m uint64, k int, seed uint64) (func(dst []uint64, key []byte), error) {
		return func(dst []uint64, key []byte) {}, nil
	}
	for _, opts := range [][]bloom.Option{
		{strategy, bloom.WithHash(bloom.NewHash(s.Hash().Name(), func(key []byte) (h1, h2 uint64) { return 0, 0 }))},
		{strategy, bloom.WithHash(bloom.NewHash64(s.Hash().Name(), func(key []byte) uint64 { return 0 }))},
		{hash, bloom.WithStrategy(bloom.NewStrategy(s.Strategy().Name(), bloom.Definition{Positions: positions}))},
		{bloom.WithStrategy(bloom.NewStrategy(s.Strategy().Name(), bloom.Definition{KeyPositions: keyPositions}))},
	} {
		other, err := bloom.NewSchemeWithParams(s.Params(), opts...)
		if err != nil || other.Strategy() == s.Strategy() && other.String() == s.String() {
			continue
		}
		made, err := other.Filter()
		require.NoError(t, err)
		list = append(list, made)
	}
	return list
}

// Fuzz calls Format.Check with the seeds and with bytes that the fuzzer makes from them.
func (f Foreign[F]) Fuzz(fuzz *testing.F, seeds ...[]byte) {
	for _, seed := range seeds {
		fuzz.Add(seed)
	}
	fuzz.Fuzz(func(t *testing.T, data []byte) { f.Format().Check(t, data) })
}

// others lists options that every format refuses.
var others = []bloom.Option{
	nil, bloom.WithSeed(1), bloom.WithStrategy(bloom.DoubleHashing), bloom.WithHash(bloom.MapHash), bloom.WithSecret([16]byte{1}),
}

// refusals calls New with invalid arguments.
func (f Foreign[F]) refusals(t *testing.T) {
	for _, p := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		_, err := f.New(10, p)
		require.ErrorIs(t, err, bloom.ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("bloom: invalid parameter: p = %v", p))
	}
	for _, opt := range others {
		_, err := f.New(10, 0.01, opt)
		require.ErrorIs(t, err, bloom.ErrInvalid)
	}
	_, err := f.New(1<<24, 0.01, bloom.WithMaxBytes(1<<20))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, "want at most 1048576")
	for n, p := range map[uint64]float64{math.MaxUint64: 0.01, 10: 1e-80} {
		_, err := f.New(n, p)
		require.True(t, errors.Is(err, bloom.ErrInvalid) || errors.Is(err, bloom.ErrTooLarge), "n = %d, p = %v: %v", n, p, err)
	}
}

// Positions compares the bits that keys set with testdata/positions.golden. A difference would break every filter in
// every file: correct the code, never the file.
func Positions(t *testing.T, seeds []uint64, strategies ...bloom.Strategy) {
	t.Helper()
	var out strings.Builder
	for _, s := range strategies {
		for _, seed := range seeds {
			for _, p := range []bloom.Params{{M: 64, K: 3}, {M: 1000, K: 7}, {M: 19_170_117, K: 13}} {
				for _, key := range []string{"", "a", "hello, world", "https://example.com/?q=ü"} {
					f, err := testkit.Filter(bloom.NewSchemeWithParams(p, bloom.WithStrategy(s), bloom.WithSeed(seed)))
					require.NoError(t, err)
					f.AddString(key)
					positions := []uint64{}
					words := f.Words()
					for i := range words {
						for w := words[i].Load(); w != 0; w &= w - 1 {
							positions = append(positions, uint64(i)*64+uint64(bits.TrailingZeros64(w)))
						}
					}
					fmt.Fprintf(&out, "%s seed=%d m=%d k=%d %q: %d\n", s, seed, p.M, p.K, key, positions)
				}
			}
		}
	}
	testkit.Frozen(t, "testdata/positions.golden", []byte(out.String()))
}
