package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
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
	path := filepath.Join(t.TempDir(), "f")
	f := openFile(t, path, 100, 0.01)
	for i := range uint64(100) {
		f.Add(key(i))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, got)

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

func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f := openFile(t, path, 100, 0.01)
	f.AddString("key")
	require.NoError(t, f.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	tail := make([]byte, 8)

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
		"next version":        {resealed(file, func(p []byte) { p[7] = 2 }), "version 2, want 1"},
		"byte order":          {resealed(file, func(p []byte) { p[13] = 2 }), "byte order 2, want 0 or 1"},
		"long identity":       {resealed(file, func(p []byte) { p[15] = 0xff }), "want at most 4056"},
		"after the identity":  {resealed(file, func(p []byte) { p[4095] = 1 }), "byte 0x1 at offset 4095"},
		"identity cut":        {resealed(file, func(p []byte) { p[14]-- }), "of the header, want 0"},
		"k = 0":               {resealed(file, func(p []byte) { p[12] = 0 }), "k = 0"},
		"k = 65":              {resealed(file, func(p []byte) { p[12] = 65 }), "k = 65"},
		"k is another":        {resealed(file, func(p []byte) { p[12]-- }), "k=4"},
		"m = 0":               {resealed(file, func(p []byte) { clear(p[16:24]) }), "m = 0"},
		"m beyond everything": {resealed(file, func(p []byte) { copy(p[16:24], "\xff\xff\xff\xff\xff\xff\xff\xff") }), "m=18446744073709551615"},
		"p = NaN":             {resealed(file, func(p []byte) { binary.LittleEndian.PutUint64(p[32:], math.Float64bits(math.NaN())) }), "NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			require.NoError(t, os.WriteFile(path, test.file, 0o666))
			_, err := Open(path, 100, 0.01)
			require.Error(t, err)
			require.ErrorContains(t, err, path)
			_, err = OpenReadOnly(path)
			require.ErrorContains(t, err, test.text)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(test.file), string(after), "a file that is refused is left alone")
		})
	}
	t.Run("other byte order", func(t *testing.T) {
		require.NoError(t, os.WriteFile(path, resealed(file, func(p []byte) { p[13] ^= 1 }), 0o666))
		_, err := Open(path, 100, 0.01)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "-endian")
	})
}

// Every length but the right one, and every flipped bit of the header, is noticed
// at opening.
func TestEveryTruncationAndHeaderBit(t *testing.T) {
	file, err := os.ReadFile(golden)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "f")
	truncations, flips := 0, 0
	require.NoError(t, os.WriteFile(path, file, 0o666))
	for length := len(file) - 1; length >= 0; length -= times(13, 1, 1) {
		require.NoError(t, os.Truncate(path, int64(length)))
		if _, err := OpenReadOnly(path); err == nil {
			t.Fatalf("opened a file of %d bytes of %d", length, len(file))
		}
		truncations++
	}
	page := bytes.Clone(file[:headerSize])
	for i := range 8 * headerSize {
		page[i/8] ^= 1 << (i % 8)
		if _, err := decodeHeader(page); err == nil {
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
	for i := range 48 {
		f.Add(resealed(file[:headerSize], func(p []byte) { p[i] ^= 0x81 }))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		if len(page) >= headerSize { // or the fuzzer would never get past the checksum
			page = resealed(page, func([]byte) {})
		}
		h, err := decodeHeader(page)
		if err != nil {
			if !errors.Is(err, bloom.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(h.encode(), page[:headerSize]) {
			t.Fatalf("%+v is encoded to other bytes", h)
		}
		// And what it says is a scheme or an error.
		if _, err := readScheme(bytes.NewReader(page), nil, nil); err == nil && h.identity == "" {
			t.Fatal("a scheme without identity")
		}
	})
}
