package guava

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

var guavaFormat = conformance.Foreign[*bloom.BloomFilter]{
	New: func(n uint64, p float64, opts ...bloom.Option) (*bloom.BloomFilter, error) {
		return New(n, p, Since334, opts...)
	},
	Read: Read, Write: Write, Stream: true,
}

// filled returns a filter of n numbers.
func filled(t testing.TB, n uint64, s bloom.Strategy) *bloom.BloomFilter {
	p, err := Params(n, 0.01, Since334)
	require.NoError(t, err)
	f, err := testkit.Filter(bloom.NewSchemeWithParams(p, bloom.WithStrategy(s)))
	require.NoError(t, err)
	for i := range n {
		f.Add(LongFunnel(nil, int64(i)))
	}
	return f
}

func TestFormat(t *testing.T) {
	guavaFormat.Test(t, filled(t, 10, Mitz64), filled(t, 1, Mitz32), filled(t, 60_000, Mitz32), filled(t, 1_000_000, Mitz64))
}

func FuzzRead(f *testing.F) {
	guavaFormat.Fuzz(f, guavaFormat.Bytes(f, filled(f, 10, Mitz64)), guavaFormat.Bytes(f, filled(f, 100, Mitz32)),
		[]byte("\x01\x07\x7f\xff\xff\xff"), []byte("\x00\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xff"))
}

func TestReadRefuses(t *testing.T) {
	for data, text := range map[string]string{
		"\x02\x07\x00\x00\x00\x01":     "strategy 2, want 0 or 1",
		"\xff\x07\x00\x00\x00\x01":     "strategy -1, want 0 or 1",
		"\x01\x00\x00\x00\x00\x01":     "k = 0, want 1 to 255",
		"\x01\x07\x00\x00\x00\x00":     "0 words, want 1 to 2^31-1",
		"\x01\x07\x80\x00\x00\x00":     "-2147483648 words, want 1 to 2^31-1",
		"\x01\x07\xff\xff\xff\xff":     "-1 words, want 1 to 2^31-1",
		"\x01\x07\x00\x00\x00":         "it ends within the head",
		"\x01\x07\x00\x00\x00\x01\x01": "it ends within the bits",
	} {
		_, err := Read(strings.NewReader(data))
		require.ErrorIs(t, err, bloom.ErrCorrupt, "%q", data)
		require.ErrorContains(t, err, "bloom: corrupt data: "+text)
		require.Equal(t, strings.Contains(text, "ends"), errors.Is(err, io.ErrUnexpectedEOF))
	}
}

func TestWriteRefuses(t *testing.T) {
	p := bloom.Params{M: 100, K: 3}
	for text, opts := range map[string][]bloom.Option{
		"seed 42, want":      {bloom.WithStrategy(Mitz64), bloom.WithSeed(42)},
		`hash "siphash"`:     {bloom.WithStrategy(Mitz64), bloom.WithSecret([16]byte{1})},
		"m = 100 bits, want": {bloom.WithStrategy(Mitz32)},
	} {
		f, err := testkit.Filter(bloom.NewSchemeWithParams(p, opts...))
		require.NoError(t, err)
		err = Write(io.Discard, f)
		require.ErrorIs(t, err, bloom.ErrNotPortable)
		require.ErrorContains(t, err, text)
	}
	f, err := testkit.Filter(bloom.NewSchemeWithParams(bloom.Params{M: 64, K: 255}, bloom.WithStrategy(Mitz64)))
	require.NoError(t, err)
	require.NoError(t, Write(io.Discard, f))
}

// goldenCases are small filters, one for each funnel and strategy, of the first keys of
// set 0, which are the special ones.
func goldenCases() (list []oracleCase) {
	for _, funnel := range slices.Sorted(maps.Keys(funnels)) {
		keys := keysFor(funnel, 0, 40)
		for strategy := range 2 {
			list = append(list, oracleCase{fmt.Sprintf("%s-mitz%d", funnel, 32+32*strategy), strategy, 40, 0.01, keys, keys, keys})
		}
	}
	return list
}

// TestFrozenFiles compares with what Guava has written once, without a JVM.
func TestFrozenFiles(t *testing.T) {
	for _, c := range goldenCases() {
		made := c.filter(t, Since334)
		c.keys.answers(made.Add)
		require.NotContains(t, c.keys.answers(made.Contains), "0", c.name)
		guavaFormat.Golden(t, filepath.Join("testdata", c.name+".bloom"), made)
	}
}

// golden checks that Guava still writes the golden files, or lets it do so.
func (o *oracle) golden(t *testing.T) {
	cases := goldenCases()
	o.prepare(cases)
	o.run("make")
	for _, c := range cases {
		testkit.Golden(t, filepath.Join("testdata", c.name+".bloom"), o.read(c.name+".java"))
	}
}
