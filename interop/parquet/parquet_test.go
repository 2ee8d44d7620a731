package parquet

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/bloomtest"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/stretchr/testify/require"
)

// header1024 is that of the filters in parquet-testing: 1024 bytes follow.
const header1024 = "1580101c1c00001c1c00001c1c000000"

func fromHex(t testing.TB, text string) []byte {
	data, err := hex.DecodeString(text)
	require.NoError(t, err)
	return data
}

var parquetFormat = conformance.Foreign[*bloom.BloomFilter]{New: New, Read: Read, Write: Write, Stream: true}

func sized(t testing.TB, bytes uint64) *bloom.BloomFilter {
	s, err := schemeOf(bytes, nil)
	require.NoError(t, err)
	f, err := s.Filter()
	require.NoError(t, err)
	return f
}

func TestFormat(t *testing.T) {
	small, medium, large := sized(t, 32), sized(t, 96), sized(t, 4<<20)
	for i := range 50 {
		small.Add(Append(nil, int64(i)))
		medium.Add(Append(nil, int32(i)))
		large.Add(Append(nil, float64(i)))
	}
	parquetFormat.Test(t, small, medium, large)
}

func FuzzRead(f *testing.F) { parquetFormat.Fuzz(f, parquetFormat.Bytes(f, sized(f, 64))) }

func TestAppendDoesNotAllocate(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var key [8]byte
		Append(key[:0], int64(1)<<40)
	}))
}

func TestReadRefuses(t *testing.T) {
	require.Equal(t, fromHex(t, header1024), appendHeader(nil, 1024))
	for text, is := range map[string]error{
		"":                                     io.EOF,
		"15":                                   bloom.ErrCorrupt,
		"00":                                   bloom.ErrCorrupt,      // no field
		"1580101c1c00001c1c0000" + "00":        bloom.ErrCorrupt,      // no compression
		"1582101c1c00001c1c00001c1c000000":     bloom.ErrCorrupt,      // 1025 bytes
		"15001c1c00001c1c00001c1c000000":       bloom.ErrCorrupt,      // none
		"15011c1c00001c1c00001c1c000000":       bloom.ErrCorrupt,      // -1
		"15c0ffffff1f1c1c00001c1c00001c1c0000": bloom.ErrCorrupt,      // 2^32
		"1580101c2c00001c1c00001c1c000000":     bloom.ErrIncompatible, // another algorithm
		"1580101c1c00001c2c00001c1c000000":     bloom.ErrIncompatible, // another hash
		"1580101c1c00001c1c00001c2c000000":     bloom.ErrIncompatible, // compressed
		"1d80101c1c00001c1c00001c1c000000":     bloom.ErrCorrupt,      // a field of type 13
		"198080808010" + "ff":                  bloom.ErrCorrupt,      // a list that does not end
		header1024 + "00":                      io.ErrUnexpectedEOF,   // the bits are cut
		"19fc" + "ffffffffffffffffff01":        bloom.ErrCorrupt,      // 2^64 structs
	} {
		_, err := Read(bytes.NewReader(fromHex(t, text)))
		require.ErrorIs(t, err, is, text)
	}
	// A field that is not known is skipped: here a binary of two bytes.
	more := "1580101c1c00001c1c00001c1c0000" + "18026869" + "00"
	_, _, err := readHeader(bytes.NewReader(fromHex(t, more)))
	require.NoError(t, err)
	_, err = Read(bytes.NewReader(bytes.Repeat([]byte{0x13, 0}, maxHeader)))
	require.ErrorIs(t, err, bloom.ErrCorrupt, "a header without end")
}

// TestNewSizes: New makes the sizes that every reader takes, large enough for p.
func TestNewSizes(t *testing.T) {
	for n := uint64(1); n <= 20_000_000; n = n*3 + 1 {
		for _, p := range []float64{0.5, 0.1, 0.01, 1e-4} {
			f, err := New(n, p)
			least, serr := bloom.NewScheme(n, p, required...)
			require.NoError(t, serr)
			if least.SizeBytes() > 128<<20 {
				require.ErrorIs(t, err, bloom.ErrTooLarge)
				continue
			}
			require.NoError(t, err)
			size := f.SizeBytes()
			require.True(t, size >= 32 && size <= 128<<20 && size&(size-1) == 0, "%d bytes", size)
			require.True(t, size >= least.SizeBytes() && size < 2*least.SizeBytes())
			require.Equal(t, bloom.Params{N: n, P: p, M: size * 8, K: 8}, f.Params())
			_, err = New(n, p, bloom.WithMaxBytes(size-1))
			require.ErrorIs(t, err, bloom.ErrTooLarge)
		}
	}
	_, err := New(200_000_000, 0.01)
	require.ErrorIs(t, err, bloom.ErrTooLarge)
}

// TestHostileThrift: in a header and in a footer.
func TestHostileThrift(t *testing.T) {
	for thrift, want := range map[string]string{
		"\x15" + strings.Repeat("\xff", 9) + "\x02":     "more than 64 bits",
		"\x15" + strings.Repeat("\xff", 9) + "\x80\x01": "more than 64 bits",
		strings.Repeat("\x1c", 100):                     "nested more than 64 deep",
		"\x19" + strings.Repeat("\x19", 100):            "nested more than 64 deep",
		"\x1d":                                          "a field of type 13",
		"\x18\xff\x01a":                                 "it ends within",
	} {
		_, err := Read(strings.NewReader(thrift))
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, want)
		file := "PAR1" + thrift + string([]byte{byte(len(thrift)), 0, 0, 0}) + "PAR1"
		_, err = allColumns([]byte(file))
		require.ErrorIs(t, err, bloom.ErrCorrupt)
		require.ErrorContains(t, err, want)
	}
	_, err := Read(strings.NewReader("\x15" + strings.Repeat("\xff", 9) + "\x01\x00"))
	require.ErrorContains(t, err, "no algorithm", "a number of 64 bits")
}

func TestConformance(t *testing.T) { require.NoError(t, bloomtest.TestHash(Hash)) }
