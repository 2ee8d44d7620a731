package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/effort"
	"github.com/stretchr/testify/require"
)

const golden = "testdata/v1.map" // 100 keys at 1 %, keys 0 to 99; never to be written again

// The file as it was made by the first release: same keys, same bytes.
func TestGoldenFile(t *testing.T) {
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if nativeBigEndian {
		_, err := OpenReadOnly(golden)
		require.ErrorContains(t, err, "its words are little-endian, this machine is big-endian")
		return
	}
	path := filepath.Join(tempDir(t), "f")
	f := openFile(t, path, 100, 0.01)
	for i := range uint64(100) {
		f.Add(key(i))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))

	old, err := OpenReadOnly(golden)
	require.NoError(t, err)
	defer old.Close()
	for i := range uint64(100) {
		require.True(t, old.Contains(key(i)))
	}
	require.Equal(t, bloom.Params{N: 100, P: 0.01, M: 1024, K: 5}, old.Params())
}

// resealed returns a copy of a file with some bytes changed and the checksum right
// again.
func resealed(file []byte, change func(page []byte)) []byte {
	file = bytes.Clone(file)
	change(file)
	if len(file) >= headerSize {
		binary.LittleEndian.PutUint32(file[checkAt:], check(file[:headerSize]))
	}
	return file
}

// rescheme returns a copy of a file with some bytes of its scheme changed, and all
// checksums right again.
func rescheme(file []byte, change func(scheme []byte)) []byte {
	return resealed(file, func(page []byte) {
		scheme := page[schemeAt:]
		size := (48 + int(scheme[13]) + int(scheme[14]) + 63) / 64 * 64
		change(scheme)
		scheme = scheme[:size] // its length, as docs/format.md has it
		sum := crc32.NewIEEE()
		sum.Write(scheme[:8])
		sum.Write(scheme[12:])
		binary.LittleEndian.PutUint32(scheme[8:], sum.Sum32())
	})
}

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	f := openFile(t, path, 100, 0.01)
	f.AddString("key")
	require.NoError(t, f.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	tail := make([]byte, 8)
	endless := fmt.Sprint("want ", int64(headerSize+1<<60))
	if math.MaxInt == math.MaxInt32 {
		endless = "this machine can map at most"
	}

	for name, test := range map[string]struct {
		file []byte
		text string
	}{
		"empty":               {nil, `it begins with "", want "\x89blmap\n"`},
		"text":                {[]byte("hello"), `it begins with "hello"`},
		"magic alone":         {file[:7], "7 bytes, want a header of 4096"},
		"half a header":       {file[:2000], "2000 bytes, want a header of 4096"},
		"no words":            {file[:headerSize], fmt.Sprintf("4096 bytes, want %d", len(file))},
		"a byte too few":      {file[:len(file)-1], fmt.Sprintf("%d bytes, want %d", len(file)-1, len(file))},
		"a word too many":     {append(bytes.Clone(file), tail...), fmt.Sprintf("%d bytes, want %d", len(file)+8, len(file))},
		"a flipped bit":       {append(append(bytes.Clone(file[:20]), file[20]^4), file[21:]...), "checksum of the header"},
		"byte order":          {resealed(file, func(p []byte) { p[orderAt] = 2 }), "byte order 2, want 0 or 1"},
		"before the scheme":   {resealed(file, func(p []byte) { p[63] = 1 }), "byte 0x1 at offset 63"},
		"after the scheme":    {resealed(file, func(p []byte) { p[192] = 1 }), "byte 0x1 at offset 192"},
		"end of the header":   {resealed(file, func(p []byte) { p[4095] = 1 }), "byte 0x1 at offset 4095"},
		"no scheme":           {resealed(file, func(p []byte) { clear(p[schemeAt:]) }), `it begins with "\x00`},
		"damaged scheme":      {resealed(file, func(p []byte) { p[schemeAt+16] ^= 1 }), "checksum"},
		"k = 0":               {rescheme(file, func(s []byte) { s[12] = 0 }), "k = 0"},
		"k = 65":              {rescheme(file, func(s []byte) { s[12] = 65 }), "k = 65"},
		"m = 0":               {rescheme(file, func(s []byte) { clear(s[16:24]) }), "m = 0"},
		"m is another":        {rescheme(file, func(s []byte) { s[17] = 8 }), "want 4352"},
		"m beyond everything": {rescheme(file, func(s []byte) { copy(s[16:24], "\xff\xff\xff\xff\xff\xff\xff\x7f") }), endless},
		"p = NaN":             {rescheme(file, func(s []byte) { binary.LittleEndian.PutUint64(s[32:], math.Float64bits(math.NaN())) }), "NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(tempDir(t), "f")
			require.NoError(t, os.WriteFile(path, test.file, 0o666))
			_, err := Open(path, 100, 0.01)
			require.Error(t, err)
			require.ErrorContains(t, err, strconv.Quote(path))
			for _, open := range []func(string, ...bloom.Option) (*File, error){OpenExisting, OpenReadOnly} {
				_, err = open(path)
				require.ErrorContains(t, err, test.text)
				if !errors.Is(err, bloom.ErrTooLarge) {
					require.ErrorIs(t, err, bloom.ErrCorrupt)
				}
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(test.file), string(after), "a file that is refused is left alone")
		})
	}
	t.Run("other byte order", func(t *testing.T) {
		require.NoError(t, os.WriteFile(path, resealed(file, func(p []byte) { p[orderAt] ^= 1 }), 0o666))
		_, err := Open(path, 100, 0.01)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "-endian")
	})
}

// A file that a later version of this package has written is none that is damaged, as
// in a stream: neither where its header is a later one nor where its scheme is.
func TestLaterVersion(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	f := openFile(t, path, 100, 0.01)
	require.NoError(t, f.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	path += ".later"
	for name, later := range map[string][]byte{
		"header":   resealed(file, func(p []byte) { p[len(magic)]++ }),
		"scheme":   rescheme(file, func(s []byte) { s[7]++ }),
		"strategy": rescheme(file, func(s []byte) { s[48]++ }),
		"hash":     rescheme(file, func(s []byte) { s[48+s[13]]++ }),
	} {
		require.NoError(t, os.WriteFile(path, later, 0o666))
		for _, open := range []func() (*File, error){
			func() (*File, error) { return Open(path, 100, 0.01) },
			func() (*File, error) { return OpenExisting(path) },
			func() (*File, error) { return OpenReadOnly(path) },
		} {
			_, err := open()
			require.ErrorIs(t, err, bloom.ErrIncompatible, name)
			require.NotErrorIs(t, err, bloom.ErrCorrupt, name)
		}
	}
	// Damage is damage, whatever the version seems to be.
	file[len(magic)]++
	require.NoError(t, os.WriteFile(path, file, 0o666))
	_, err = OpenReadOnly(path)
	require.ErrorIs(t, err, bloom.ErrCorrupt)
}

// Every length but the right one, and every flipped bit of the header, is noticed
// at opening.
func TestEveryTruncationAndHeaderBit(t *testing.T) {
	file, err := os.ReadFile(golden)
	require.NoError(t, err)
	path := filepath.Join(tempDir(t), "f")
	truncations, flips := 0, 0
	require.NoError(t, os.WriteFile(path, file, 0o666))
	for length := len(file) - 1; length >= 0; length -= effort.Times(13, 1, 1) {
		require.NoError(t, os.Truncate(path, int64(length)))
		if _, err := OpenReadOnly(path); err == nil {
			t.Fatalf("opened a file of %d bytes of %d", length, len(file))
		}
		truncations++
	}
	page := bytes.Clone(file[:headerSize])
	for i := range 8 * headerSize {
		page[i/8] ^= 1 << (i % 8)
		if _, err := decodeHeader(page, nil); err == nil {
			t.Fatalf("took a header with bit %d flipped", i)
		}
		page[i/8] ^= 1 << (i % 8)
		flips++
	}
	t.Logf("%d truncations, %d flipped bits, none accepted", truncations, flips)
}

// What decodes is encoded to the same bytes; nothing panics.
func FuzzHeader(f *testing.F) {
	file, err := os.ReadFile(golden)
	require.NoError(f, err)
	f.Add(file[:headerSize])
	f.Add(file[:100])
	for i := range 112 {
		f.Add(resealed(file[:headerSize], func(p []byte) { p[i] ^= 0x81 }))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		if len(page) >= headerSize { // or the fuzzer would never get past the checksum
			page = resealed(page, func([]byte) {})
			if int(page[schemeAt+15]) > 0 {
				page = rescheme(page, func([]byte) {})
			}
		}
		scheme, err := decodeHeader(page, nil)
		if err != nil {
			if !errors.Is(err, bloom.ErrCorrupt) && !errors.Is(err, bloom.ErrIncompatible) && !errors.Is(err, errors.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		again, err := encodeHeader(scheme)
		if err != nil || !bytes.Equal(again, page[:headerSize]) {
			t.Fatalf("%v is encoded to other bytes: %v", scheme, err)
		}
	})
}
