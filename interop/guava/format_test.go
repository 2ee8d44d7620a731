package guava

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/internal/formattest"
	"github.com/stretchr/testify/require"
)

// written returns a small filter's bytes: k = 7, two words or, for other n, more.
func written(t testing.TB, n uint64, opts ...bloom.Option) []byte {
	f, err := New(n, 0.01, Since33_4, opts...)
	require.NoError(t, err)
	for i := range n {
		f.Add(LongFunnel(nil, int64(i)))
	}
	var out bytes.Buffer
	require.NoError(t, Write(&out, f))
	require.Len(t, out.Bytes(), 6+int(f.SizeBytes()))
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []uint64{1, 10, 1000, 60_000, 300_000} { // below, at and beyond the chunks
		for _, opts := range [][]bloom.Option{nil, {mitz32}} {
			data := written(t, n, opts...)
			for name, r := range map[string]io.Reader{
				"whole": bytes.NewReader(data), "halves": iotest.HalfReader(bytes.NewReader(data)),
				"with the end": iotest.DataErrReader(bytes.NewReader(data)),
			} {
				f, err := Read(r)
				require.NoError(t, err, name)
				made, err := New(n, 0.01, Since33_4, opts...)
				require.NoError(t, err)
				require.True(t, f.Compatible(made))
				require.NoError(t, made.Union(f))
				require.True(t, f.Equal(made))
				for i := range n {
					if !f.Contains(LongFunnel(nil, int64(i))) {
						t.Fatalf("%d is missed", i)
					}
				}
				var again bytes.Buffer
				require.NoError(t, Write(&again, f))
				require.True(t, bytes.Equal(data, again.Bytes()))
			}
		}
	}
}

// TestStreamOfFilters reads several from a stream that a buffer would spoil.
func TestStreamOfFilters(t *testing.T) {
	a, b, c := written(t, 10), written(t, 100_000, mitz32), written(t, 1)
	all := bytes.NewReader(append(append(append(append([]byte{}, a...), b...), c...), "and more"...))
	for i, data := range [][]byte{a, b, c} {
		f, err := Read(iotest.OneByteReader(all))
		if i == 1 {
			require.Equal(t, Mitz32.Name(), f.Strategy().Name())
		}
		require.NoError(t, err)
		var again bytes.Buffer
		require.NoError(t, Write(&again, f))
		require.True(t, bytes.Equal(data, again.Bytes()))
	}
	rest, err := io.ReadAll(all)
	require.NoError(t, err)
	require.Equal(t, "and more", string(rest))
	_, err = Read(all)
	require.Equal(t, io.EOF, err)
}

func TestReadRefuses(t *testing.T) {
	for data, text := range map[string]string{
		"\x02\x07\x00\x00\x00\x01":     "strategy 2, want 0 or 1",
		"\xff\x07\x00\x00\x00\x01":     "strategy -1, want 0 or 1",
		"\x01\x00\x00\x00\x00\x01":     "k = 0 bits per key, want 1 to 255",
		"\x01\x07\x00\x00\x00\x00":     "0 words, want 1 to 2^31-1",
		"\x01\x07\x80\x00\x00\x00":     "-2147483648 words, want 1 to 2^31-1",
		"\x01\x07\xff\xff\xff\xff":     "-1 words, want 1 to 2^31-1",
		"\x01":                         "it ends within the head",
		"\x01\x07\x00\x00\x00":         "it ends within the head",
		"\x01\x07\x00\x00\x00\x01":     "it ends within the bits",
		"\x01\x07\x00\x00\x00\x01\x01": "it ends within the bits",
	} {
		_, err := Read(strings.NewReader(data))
		require.ErrorIs(t, err, bloom.ErrCorrupt, "%q", data)
		require.ErrorContains(t, err, "bloom: corrupt data: "+text)
		require.Equal(t, strings.Contains(text, "ends"), errors.Is(err, io.ErrUnexpectedEOF))
	}
	_, err := Read(strings.NewReader(""))
	require.Equal(t, io.EOF, err)

	data := written(t, 1000)
	_, err = Read(bytes.NewReader(data), bloom.WithMaxBytes(1199))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, "m = 9600 bits are 1200 bytes, want at most 1199")
	_, err = Read(bytes.NewReader(data), bloom.WithMaxBytes(1200))
	require.NoError(t, err)
	_, err = Read(bytes.NewReader(data), bloom.WithSeed(1))
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = Read(bytes.NewReader(data), bloom.WithStrategy(bloom.DoubleHashing))
	require.ErrorIs(t, err, bloom.ErrInvalid)
	_, err = Read(bytes.NewReader(data), mitz32)
	require.ErrorIs(t, err, bloom.ErrIncompatible)
	_, err = Read(bytes.NewReader(data), bloom.WithStrategy(Mitz64))
	require.NoError(t, err)

	broken := errors.New("broken line")
	_, err = Read(io.MultiReader(bytes.NewReader(data[:100]), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "bloom: reading the bits: broken line")
}

// TestLyingHeadAllocatesLittle: a GiB is claimed and some bytes come.
func TestLyingHeadAllocatesLittle(t *testing.T) {
	formattest.LyingHead(t, "\x01\x07\x07\xff\xff\xff", func(r io.Reader) error { _, err := Read(r); return err })
}

func TestWriteRefuses(t *testing.T) {
	for text, f := range map[string]*bloom.BloomFilter{
		`it has strategy "double-hashing"`:      bloom.MustNew(10, 0.01),
		"it has another hash than Murmur3 with": bloom.MustNew(10, 0.01, bloom.WithStrategy(Mitz64), bloom.WithSeed(1)),
		"hash=siphash":                          bloom.MustNew(10, 0.01, bloom.WithStrategy(Mitz64), bloom.WithKey([16]byte{})),
		"hash=rapidhash-v3":                     bloom.MustNew(10, 0.01, bloom.WithStrategy(Mitz64), bloom.WithHash(bloom.RapidHash)),
		"hash=maphash":                          bloom.MustNew(10, 0.01, bloom.WithStrategy(Mitz64), bloom.WithHash(bloom.MapHash)),
		"it has m = 100 bits, want a multiple":  withParams(t, bloom.Params{M: 100, K: 3}),
	} {
		var out bytes.Buffer
		err := Write(&out, f)
		require.ErrorIs(t, err, bloom.ErrNotPortable)
		require.ErrorContains(t, err, text)
		require.Zero(t, out.Len())
	}
	f := withParams(t, bloom.Params{M: 64, K: 255})
	require.NoError(t, Write(io.Discard, f))
	require.ErrorContains(t, Write(broken{}, f), "broken pipe")
	require.ErrorIs(t, Write(short{}, f), io.ErrShortWrite)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }

func withParams(t testing.TB, p bloom.Params) *bloom.BloomFilter {
	f, err := bloom.NewWithParams(p, bloom.WithStrategy(Mitz64))
	require.NoError(t, err)
	return f
}

// TestEveryFlipAndEveryCut of the golden files is an error or another filter, never a
// panic: the format has no checksum, so most flips are another filter.
func TestEveryFlipAndEveryCut(t *testing.T) {
	flips, refused, cuts := 0, 0, 0
	for _, c := range goldenCases() {
		data, err := os.ReadFile(goldenFile(c))
		require.NoError(t, err)
		for i := range len(data) * 8 {
			other := bytes.Clone(data)
			other[i/8] ^= 1 << (i % 8)
			flips++
			f, err := Read(bytes.NewReader(other))
			if err != nil {
				require.True(t, errors.Is(err, bloom.ErrCorrupt) || errors.Is(err, bloom.ErrTooLarge), err)
				refused++
				continue
			}
			f.AddString("a key")
			var out bytes.Buffer
			require.NoError(t, Write(&out, f))
		}
		for n := range len(data) {
			_, err := Read(bytes.NewReader(data[:n]))
			require.Error(t, err)
			require.Equal(t, n == 0, err == io.EOF)
			cuts++
		}
	}
	t.Logf("%d flips, %d refused; %d cuts refused", flips, refused, cuts)
}

// FuzzRead: any bytes are an error or a filter that is written as it was read.
func FuzzRead(f *testing.F) {
	f.Add(written(f, 10))
	f.Add(written(f, 100, mitz32))
	f.Add([]byte("\x01\x07\x7f\xff\xff\xff"))
	f.Add([]byte("\x00\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		f, err := Read(r, bloom.WithMaxBytes(1<<20))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, f); err != nil {
			t.Fatal(err)
		}
		if want := data[:len(data)-r.Len()]; !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("read %x, written %x", want, out.Bytes())
		}
		f.Add(data)
		if !f.Contains(data) {
			t.Fatal("a key is missed")
		}
		f.Stats()
	})
}

func TestMemory(t *testing.T) {
	f, err := New(1_000_000, 0.01, Since33_4)
	require.NoError(t, err)
	f.AddString("key")
	formattest.Memory(t, f, Write, Read)
}
