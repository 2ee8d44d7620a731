// Package formattest has the tests that the formats and strategies of other systems share.
package formattest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// A Format makes, reads and writes filters. A filter that is written has all of its parameters and keys.
type Format[F Filter] struct {
	New    func(n uint64, p float64, opts ...bloom.Option) (F, error)
	Read   func(io.Reader, ...bloom.Option) (F, error)
	Write  func(io.Writer, F) error
	Stream bool // Read ends with the filter
	Empty  bool // Read returns io.EOF for no bytes, as it does for the end of a stream
}

// A Filter is any filter.
type Filter interface {
	Contains(key []byte) bool
	Stats() bloom.Stats
}

// Bytes returns a written filter.
func (f Format[F]) Bytes(t testing.TB, filter F) []byte {
	var out bytes.Buffer
	require.NoError(t, f.Write(&out, filter))
	return out.Bytes()
}

// equal requires that two filters have the same parameters and bits.
func (f Format[F]) equal(t *testing.T, filter, again F) {
	t.Helper()
	require.Equal(t, f.Bytes(t, filter), f.Bytes(t, again))
	if plain, ok := any(filter).(*bloom.BloomFilter); ok {
		require.True(t, plain.Equal(any(again).(*bloom.BloomFilter)))
	}
}

// Golden compares a file of the other system with a filter of the same keys. The file is read and written again.
func (f Format[F]) Golden(t *testing.T, path string, made F) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	read, err := f.Read(bytes.NewReader(data))
	require.NoError(t, err)
	for _, filter := range []F{read, made} {
		require.True(t, bytes.Equal(data, f.Bytes(t, filter)), path)
	}
}

// Test writes and reads filters, the first of which is small and the last has some megabytes.
func (f Format[F]) Test(t *testing.T, filters ...F) {
	t.Helper()
	f.refusals(t)
	if f.Stream {
		var stream bytes.Buffer
		for _, filter := range filters {
			require.NoError(t, f.Write(&stream, filter))
		}
		stream.WriteString("and more")
		for _, filter := range filters {
			again, err := f.Read(iotest.OneByteReader(&stream))
			require.NoError(t, err)
			f.equal(t, filter, again)
		}
		require.Equal(t, "and more", stream.String())
		_, err := f.Read(strings.NewReader(""))
		require.Equal(t, io.EOF, err)
	}
	for _, filter := range filters {
		data := f.Bytes(t, filter)
		again, err := f.Read(iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(data))))
		require.NoError(t, err)
		f.equal(t, filter, again)
		size := filter.Stats().SizeBytes
		_, err = f.Read(bytes.NewReader(data), bloom.WithMaxBytes(size))
		require.NoError(t, err)
		_, err = f.Read(bytes.NewReader(data), bloom.WithMaxBytes(size-1))
		require.ErrorIs(t, err, bloom.ErrTooLarge)
		for _, opt := range foreign {
			_, err = f.Read(bytes.NewReader(data), opt)
			require.ErrorIs(t, err, bloom.ErrInvalid)
		}
	}

	if write, ok := any(f.Write).(func(io.Writer, *bloom.BloomFilter) error); ok {
		var out bytes.Buffer
		require.ErrorIs(t, write(&out, bloom.MustNew(10, 0.01)), bloom.ErrNotPortable)
		require.ErrorIs(t, write(&out, nil), bloom.ErrInvalid)
		require.ErrorIs(t, write(&out, new(bloom.BloomFilter)), bloom.ErrInvalid)
		require.Zero(t, out.Len())
	}
	data := f.Bytes(t, filters[0])
	for n := range data {
		require.ErrorIs(t, f.Write(&testkit.ShortWriter{Room: n, Err: errFull}, filters[0]), errFull)
		_, err := f.Read(bytes.NewReader(data[:n]))
		require.Error(t, err, "cut to %d bytes", n)
		require.Equal(t, (f.Stream || f.Empty) && n == 0, err == io.EOF, "cut to %d bytes: %v", n, err)
		_, err = f.Read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(errFull)))
		require.ErrorIs(t, err, errFull)
		_, err = f.Read(io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(io.ErrUnexpectedEOF)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	for i := range len(data) * 8 {
		data[i/8] ^= 1 << (i % 8)
		f.check(t, data)
		data[i/8] ^= 1 << (i % 8)
	}
	f.memory(t, filters[len(filters)-1])
}

// foreign are options that no format takes.
var foreign = []bloom.Option{
	nil, bloom.WithSeed(1), bloom.WithStrategy(bloom.DoubleHashing), bloom.WithHash(bloom.MapHash), bloom.WithSecret([16]byte{1}),
}

// refusals makes filters that cannot be.
func (f Format[F]) refusals(t *testing.T) {
	for _, p := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		_, err := f.New(10, p)
		require.ErrorIs(t, err, bloom.ErrInvalid)
		require.ErrorContains(t, err, fmt.Sprintf("bloom: invalid parameter: p = %v", p))
	}
	for _, opt := range foreign {
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

// Fuzz reads any bytes.
func (f Format[F]) Fuzz(fuzz *testing.F, seeds ...[]byte) {
	for _, seed := range seeds {
		fuzz.Add(seed)
	}
	fuzz.Fuzz(func(t *testing.T, data []byte) { f.check(t, data) })
}

// check reads bytes, which give a known error or a filter that is read again as it was written.
func (f Format[F]) check(t *testing.T, data []byte) {
	filter, err := f.Read(bytes.NewReader(data), bloom.WithMaxBytes(1<<20))
	if err != nil {
		known := err == io.EOF || errors.Is(err, bloom.ErrCorrupt) ||
			errors.Is(err, bloom.ErrIncompatible) || errors.Is(err, bloom.ErrTooLarge)
		require.True(t, known, "%v", err)
		return
	}
	again, err := f.Read(bytes.NewReader(f.Bytes(t, filter)))
	require.NoError(t, err)
	f.equal(t, filter, again)
	if plain, ok := any(filter).(*bloom.BloomFilter); ok {
		plain.Add(data)
		require.True(t, filter.Contains(data))
	}
	filter.Stats()
}

// memory writes a filter into a file and reads it: that allocates the filter once.
func (f Format[F]) memory(t *testing.T, filter F) {
	file, err := os.Create(filepath.Join(t.TempDir(), "filter"))
	require.NoError(t, err)
	defer file.Close()
	written := testkit.Allocated(func() { err = f.Write(file, filter) })
	require.NoError(t, err)
	most := uint64(200_000)
	if testkit.RaceDetector { // slices that only set a capacity are then made
		most = 300_000
	}
	require.Less(t, written, most)
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	read := testkit.Allocated(func() { _, err = f.Read(file) })
	require.NoError(t, err)
	require.LessOrEqual(t, float64(read), 1.1*float64(filter.Stats().SizeBytes))
}

// LyingHead reads data whose head claims a GiB or more and that ends after some fillings: no more is allocated than
// fits to the bytes that came.
func LyingHead(t *testing.T, head string, filling byte, read func(io.Reader) error) {
	t.Helper()
	for _, came := range []int{0, 1000, 100_000, 3_000_000} {
		data := strings.NewReader(head + strings.Repeat(string(filling), came))
		var err error
		allocated := testkit.Allocated(func() { err = read(data) })
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.LessOrEqual(t, allocated, uint64(4*came+300_000), "%d bytes came", came)
	}
}

var errFull = errors.New("full")

// Positions compares the bits that keys set with testdata/positions.golden. A difference breaks every filter
// in every file: correct the code, never the file.
func Positions(t *testing.T, seeds []uint64, strategies ...bloom.Strategy) {
	t.Helper()
	var out strings.Builder
	for _, s := range strategies {
		for _, seed := range seeds {
			for _, p := range []bloom.Params{{M: 64, K: 3}, {M: 1000, K: 7}, {M: 19_170_117, K: 13}} {
				for _, key := range []string{"", "a", "hello, world", "https://example.com/?q=ü"} {
					f, err := bloom.NewWithParams(p, bloom.WithStrategy(s), bloom.WithSeed(seed))
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
