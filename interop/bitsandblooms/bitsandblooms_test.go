package bitsandblooms

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/conformance"
	"github.com/stretchr/testify/require"
)

// golden are files of bits-and-blooms, see testdata/README.md.
var golden = []struct {
	name string
	n    uint64
	p    float64
	keys int
}{{"empty", 10, 0.01, 0}, {"ten", 10, 0.01, 10}, {"hundred", 100, 1e-6, 100}, {"one", 1, 0.5, 1}}

func TestFrozenFiles(t *testing.T) {
	for _, g := range golden {
		made, err := New(g.n, g.p)
		require.NoError(t, err)
		for i := range g.keys {
			made.AddString(fmt.Sprintf("key %d", i))
		}
		binaryFormat.Golden(t, "testdata/"+g.name+".bloom", made)
		jsonFormat.Golden(t, "testdata/"+g.name+".json", made)
	}
}

var (
	binaryFormat = conformance.Foreign[*bloom.BloomFilter]{New: New, Read: Read, Write: Write, Stream: true}
	jsonFormat   = conformance.Foreign[*bloom.BloomFilter]{New: New, Read: ReadJSON, Write: WriteJSON, Text: true}
)

// filled returns a filter of n keys.
func filled(t testing.TB, n uint64) *bloom.BloomFilter {
	f, err := New(n, 0.01)
	require.NoError(t, err)
	for i := range n {
		f.AddString(fmt.Sprint(i))
	}
	return f
}

func TestFormats(t *testing.T) {
	filters := []*bloom.BloomFilter{filled(t, 1), filled(t, 10), filled(t, 60_000), filled(t, 1_000_000)}
	binaryFormat.Test(t, filters...)
	jsonFormat.Test(t, filters...)
}

func FuzzRead(f *testing.F) { binaryFormat.Fuzz(f, goldenFiles(f, "bloom")...) }

func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"b":"AAAAAAAAAEAAAAAAAAAA+/8=","k":255,"m":64}`))
	jsonFormat.Fuzz(f, goldenFiles(f, "json")...)
}

func goldenFiles(t testing.TB, ending string) (files [][]byte) {
	for _, g := range golden {
		data, err := os.ReadFile("testdata/" + g.name + "." + ending)
		require.NoError(t, err)
		files = append(files, data)
	}
	return files
}

// TestOtherForms reads filters of programs that have called bitset.LittleEndian or bitset.Base64StdEncoding, and of
// FromWithM, whose set is longer than m.
func TestOtherForms(t *testing.T) {
	for _, n := range []uint64{1, 100, 60_000} {
		f := filled(t, n)
		data := binaryFormat.Bytes(t, f)
		for _, spare := range []uint64{0, -f.Params().M % 64} {
			binary.BigEndian.PutUint64(data[16:], f.Params().M+spare)
			g, err := Read(bytes.NewReader(data))
			require.NoError(t, err)
			require.True(t, g.Equal(f))
		}
		for at := 16; at < len(data); at += 8 {
			slices.Reverse(data[at : at+8])
		}
		g, err := Read(bytes.NewReader(data))
		require.NoError(t, err)
		require.True(t, g.Equal(f))
		text := strings.NewReplacer("-", "+", "_", "/").Replace(string(jsonFormat.Bytes(t, f)))
		require.True(t, n == 1 || strings.ContainsAny(text, "+/"))
		g, err = ReadJSON(iotest.HalfReader(strings.NewReader(text))) // of unknown length
		require.NoError(t, err)
		require.True(t, g.Equal(f))
		require.LessOrEqual(t, cap(g.Words()), 2+len(f.Words())*8/7, "an array of double the size is kept")
	}
}

// head returns m, k and the set's length, each with the given last byte.
func head(m, k, length byte) string {
	zeros := strings.Repeat("\x00", 7)
	return zeros + string([]byte{m}) + zeros + string([]byte{k}) + zeros + string([]byte{length})
}

func TestReadRefuses(t *testing.T) {
	ones, word := strings.Repeat("\xff", 8), strings.Repeat("\x00", 8)
	for _, c := range []struct{ data, text string }{
		{head(0, 1, 0), "m = 0 bits, want at least 1"},
		{head(64, 0, 64) + word, "k = 0, want 1 to 255"},
		{ones + ones + ones, "k = 18446744073709551615, want 1 to 255"},
		{head(64, 1, 63) + word, "a set of 63 bits for m = 64"},
		{head(64, 1, 0), "a set of 0 bits for m = 64"},
		{head(1, 1, 65) + word + word, "a set of 65 bits for m = 1, want 1 words"},
		{head(64, 1, 64)[:16] + ones, "a set of 18446744073709551615 bits for m = 64"},
		{head(3, 1, 3) + "\x00\x00\x00\x00\x00\x00\x00\x08", "last word 0x8 has bits beyond m = 3"},
		{head(3, 1, 4) + "\x00\x00\x00\x00\x00\x00\x00\x08", "last word 0x8 has bits beyond m = 3"},
		{"\x00", "it ends within the head"},
		{head(64, 1, 64)[:16], "it ends within the head"},
		{head(64, 1, 64)[:23], "it ends within the head"},
		{head(64, 1, 64), "it ends within the bits"},
		{head(64, 1, 64) + word[:7], "it ends within the bits"},
	} {
		_, err := Read(strings.NewReader(c.data))
		require.ErrorIs(t, err, bloom.ErrCorrupt, "%q", c.data)
		require.ErrorContains(t, err, "bloom: corrupt data: "+c.text)
		require.Equal(t, strings.Contains(c.text, "ends"), errors.Is(err, io.ErrUnexpectedEOF))
	}

	// More than any machine has is not waited for.
	_, err := Read(io.MultiReader(strings.NewReader(ones+head(0, 1, 0)[8:16]+ones), iotest.ErrReader(errors.New("it is waited for"))))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	require.ErrorContains(t, err, "m = 18446744073709551615 bits")
}

func TestReadJSONRefuses(t *testing.T) {
	for _, c := range []struct{ json, text string }{
		{``, "unexpected end of JSON input"},
		{`{}`, "field b has 0 bytes, want at least 8"},
		{`null`, "field b has 0 bytes"},
		{`[{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA=="}]`, "cannot unmarshal array"},
		{`{"m":0,"k":3,"b":"AAAAAAAAAAA="}`, "m = 0 bits"},
		{`{"m":64,"k":0,"b":"AAAAAAAAAEA="}`, "k = 0"},
		{`{"m":64,"k":300,"b":"AAAAAAAAAEA="}`, "k = 300"},
		{`{"m":-1,"k":3,"b":""}`, "cannot unmarshal number -1"},
		{`{"m":64,"k":3,"b":7}`, "cannot unmarshal number"},
		{`{"m":64,"k":3}`, "field b has 0 bytes"},
		{`{"m":64,"k":3,"x":{"b":"AAAAAAAAAEAAAAAAAAAAAA=="}}`, "field b has 0 bytes"},
		{`{"m":64,"b":null,"k":3,"x":"AAAA"}`, "field b has 0 bytes"},
		{`{"m":64,"k":3,"b":"AAAA"}`, "field b has 3 bytes"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEA="}`, "field b has 8 bytes, want 16 for m = 64"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAAAA"}`, "field b has 18 bytes, want 16"},
		{`{"m":64,"k":3,"b":"AAAAA!AA"}`, "field b is not base64"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA\x"}`, "field b is not base64"},
		{"{\"m\":64,\"k\":3,\"b\":\"AAAAAAAAAEAAAAAAAAAAAA\n==\"}", `'\n' in a JSON string`},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA=="} {}`, "invalid character '{' after top-level value"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA==","b":""}`, "field b twice"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAA`, "it ends within the bits"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA==","B":"AAAA"}`, "want at least 8, once"},
		{`{"m":64,"k":3,"b":"AAAAAAAAAEAAAAAAAAAAAA==","\u0062":"AAAA"}`, "want at least 8, once"},
	} {
		_, err := ReadJSON(strings.NewReader(c.json))
		require.ErrorIs(t, err, bloom.ErrCorrupt, c.json)
		require.ErrorContains(t, err, c.text)
		require.ErrorContains(t, err, "bloom: corrupt data: ")
	}
	endless := io.MultiReader(strings.NewReader(`{"b":"`+strings.Repeat("A", 10_000)), iotest.ErrReader(errors.New("it is waited for")))
	_, err := ReadJSON(endless, bloom.WithMaxBytes(1<<10))
	require.ErrorIs(t, err, bloom.ErrTooLarge)
	set := append(binary.BigEndian.AppendUint64(nil, 1<<13), make([]byte, 1<<10)...)
	for at := range set { // padding within the text
		text := base64.StdEncoding.EncodeToString(set[:at]) + base64.StdEncoding.EncodeToString(set[at:])
		_, err := ReadJSON(strings.NewReader(`{"m":8192,"k":3,"b":"` + text + `"}`))
		require.Equal(t, at%3 == 0, err == nil, "%d: %v", at, err)
	}
	want, err := ReadJSON(strings.NewReader(`{"m":64,"k":3,"b":"AAAAAAAAAED___AAAAAAAA=="}`))
	require.NoError(t, err)
	for _, same := range []string{
		`{"m":64,"k":3,"b":"AAAAAAAAAED///AAAAAAAA==","of a later version":[{"b":"AAAA"}],"\"":"b"}`,
		`{"x\\":1,"b" : "AAAAAAAAAED///AAAAAAAA==" , "k":3, "m":64} `,
		`{"m":64,"b":"AAAA\u0041AAAA\u0045\u0044\/\/\u005f\u0041AAAAAAA\n=\r\u000a\u003d","k":3}`,
	} {
		got, err := ReadJSON(iotest.OneByteReader(strings.NewReader(same)))
		require.NoError(t, err, same)
		require.True(t, got.Equal(want), same)
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(10, 1e-80)
	require.ErrorContains(t, err, "bloom: invalid parameter: p = 1e-80 needs k = 266, want at most 255")
	_, err = New(math.MaxUint64, 0.01)
	require.ErrorContains(t, err, "want at most 9223372036854775808")
	_, err = New(10, 0.01, bloom.WithSeed(3))
	require.ErrorContains(t, err, "bits-and-blooms has no seed")
}
