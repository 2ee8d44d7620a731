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
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

const golden = "testdata/v2.map" // 100 keys at 1 %, keys 0 to 99; frozen

// The same keys make the same bytes as in the first release.
func TestGoldenFile(t *testing.T) {
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	old, err := OpenReadOnly(golden)
	if nativeBigEndian {
		require.ErrorIs(t, err, errors.ErrUnsupported)
		return
	}
	require.NoError(t, err)
	defer old.Close()
	path := filepath.Join(testkit.TempDir(t), "f")
	f := openFile(t, path, 100, 0.01)
	for i := range uint64(100) {
		f.Add(key(i))
		require.True(t, old.Contains(key(i)))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	require.Equal(t, bloom.Params{N: 100, P: 0.01, M: 1024, K: 5}, old.Scheme().Params())
}

// resealed returns a copy of a file with some bytes changed and the checksum right again.
func resealed(file []byte, change func(page []byte)) []byte {
	file = bytes.Clone(file)
	change(file)
	binary.LittleEndian.PutUint32(file[checkAt:], check(file[:headerSize]))
	return file
}

// rescheme returns a copy of a file with some bytes of its scheme changed, and all checksums right
// again.
func rescheme(file []byte, change func(scheme []byte)) []byte {
	return resealed(file, func(page []byte) {
		scheme := page[schemeAt:]
		size := (48 + int(scheme[13]) + int(scheme[14]) + 63) / 64 * 64 // see docs/spec.md
		change(scheme)
		sum := crc32.NewIEEE()
		sum.Write(scheme[:8])
		sum.Write(scheme[12:size])
		binary.LittleEndian.PutUint32(scheme[8:], sum.Sum32())
	})
}

// Damage is ErrCorrupt, and a later version is ErrIncompatible, in each part of the header. A
// refused file stays as it is.
func TestRefusedFiles(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	openFile(t, path, 100, 0.01)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	damaged := func(change func(page []byte)) []byte { b := bytes.Clone(file); change(b); return b }
	otherOrder := func(page []byte) { page[orderAt] ^= 1 }
	endless := fmt.Sprint("want ", int64(headerSize+1<<60))
	if math.MaxInt == math.MaxInt32 {
		endless = "this machine can map at most"
	}
	for name, test := range map[string]struct {
		file []byte
		is   error
		text string
	}{
		"empty":             {nil, bloom.ErrCorrupt, `it begins with "", want "\x89blmap\n"`},
		"text":              {[]byte("hello"), bloom.ErrCorrupt, `it begins with "hello"`},
		"half a header":     {file[:2000], bloom.ErrCorrupt, "2000 bytes, want a header of 4096"},
		"a byte too few":    {file[:len(file)-1], bloom.ErrCorrupt, fmt.Sprintf("%d bytes, want %d", len(file)-1, len(file))},
		"a byte too many":   {append(bytes.Clone(file), 0), bloom.ErrCorrupt, fmt.Sprintf("%d bytes, want %d", len(file)+1, len(file))},
		"a flipped bit":     {damaged(func(p []byte) { p[20] ^= 4 }), bloom.ErrCorrupt, "checksum of the header"},
		"damaged version":   {damaged(func(p []byte) { p[len(magic)]++ }), bloom.ErrCorrupt, "checksum of the header"},
		"byte order":        {resealed(file, func(p []byte) { p[orderAt] = 2 }), bloom.ErrCorrupt, "byte order 2, want 0 or 1"},
		"other byte order":  {resealed(file, otherOrder), errors.ErrUnsupported, fmt.Sprint("big-endian: ", !nativeBigEndian)},
		"before the scheme": {resealed(file, func(p []byte) { p[63] = 1 }), bloom.ErrCorrupt, "byte 0x1 at offset 63"},
		"after the scheme":  {resealed(file, func(p []byte) { p[192] = 1 }), bloom.ErrCorrupt, "byte 0x1 at offset 192"},
		"end of the header": {resealed(file, func(p []byte) { p[4095] = 1 }), bloom.ErrCorrupt, "byte 0x1 at offset 4095"},
		"damaged scheme":    {resealed(file, func(p []byte) { p[schemeAt+16] ^= 1 }), bloom.ErrCorrupt, "checksum"},
		"k = 65":            {rescheme(file, func(s []byte) { s[12] = 65 }), bloom.ErrCorrupt, "k = 65"},
		"another m":         {rescheme(file, func(s []byte) { s[17] = 8 }), bloom.ErrCorrupt, "want 4352"},
		"endless m":         {rescheme(file, func(s []byte) { copy(s[16:24], "\xff\xff\xff\xff\xff\xff\xff\x7f") }), nil, endless},
		"a bit beyond m":    {rescheme(append(file[:len(file)-1:len(file)-1], 0x80), func(s []byte) { s[16]-- }), bloom.ErrCorrupt, ""},
		"later header":      {resealed(file, func(p []byte) { p[len(magic)]++ }), bloom.ErrIncompatible, "version 2, want 1"},
		"later scheme":      {rescheme(file, func(s []byte) { s[7]++ }), bloom.ErrIncompatible, "version"},
		"later strategy":    {rescheme(file, func(s []byte) { s[48]++ }), bloom.ErrIncompatible, ""},
		"later hash":        {rescheme(file, func(s []byte) { s[48+s[13]]++ }), bloom.ErrIncompatible, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(testkit.TempDir(t), "f")
			require.NoError(t, os.WriteFile(path, test.file, 0o666))
			for _, open := range []func() (*File, error){
				func() (*File, error) { return OpenExisting(path) },
				func() (*File, error) { return OpenReadOnly(path) },
				func() (*File, error) { return Open(path, 100, 0.01) },
			} {
				_, err := open()
				require.Error(t, err)
				require.ErrorContains(t, err, strconv.Quote(path))
				require.ErrorContains(t, err, test.text)
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
					require.Equal(t, test.is == bloom.ErrCorrupt, errors.Is(err, bloom.ErrCorrupt))
				}
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(test.file), string(after))
		})
	}
}

// A header that can be decoded is encoded to the same bytes, and none panics.
func FuzzHeader(f *testing.F) {
	file, err := os.ReadFile(golden)
	require.NoError(f, err)
	f.Add(file[:headerSize])
	f.Add(file[:100])
	for i := range 112 {
		f.Add(resealed(file[:headerSize], func(p []byte) { p[i] ^= 0x81 }))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		if len(page) >= headerSize { // or the fuzzer would not get past the checksum
			page = rescheme(page, func([]byte) {})
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
