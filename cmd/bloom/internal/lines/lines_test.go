package lines

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// linesOf returns the keys of standard input and the error of Each.
func linesOf(t *testing.T, form Form, stdin io.Reader) (lines []string, err error) {
	form.End = '\n'
	in := &Input{Form: form, Context: t.Context(), Stdin: stdin}
	err = in.Each(func(c *Chunk) (int, error) {
		for _, key := range c.Keys {
			lines = append(lines, string(key))
		}
		return len(c.Keys), nil
	}, nil)
	return lines, err
}

// readers divide their input differently.
var readers = map[string]func(io.Reader) io.Reader{
	"whole":         func(r io.Reader) io.Reader { return r },
	"bytes":         iotest.OneByteReader,
	"halves":        iotest.HalfReader,
	"end with data": iotest.DataErrReader,
}

// TestLines against strings.Split, with lines longer than the buffer, in pieces of every size, with
// and without the last line's end.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for range 200 {
		text = append(text, bytes.Repeat([]byte{'x'}, rng.IntN(40))...)
		text = append(text, '\n')
	}
	text = append(text, bytes.Repeat([]byte{'y'}, 3*chunkSize)...)
	text = append(text, "\n\nlast"...)
	want := strings.Split(string(text), "\n")
	for _, end := range []string{"", "\n"} {
		for name, reader := range readers {
			got, err := linesOf(t, Form{}, reader(strings.NewReader(string(text)+end)))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, end %q: %d lines, want %d; %v", name, end, len(got), len(want), err)
			}
		}
	}
}

// TestUnpack: packed input is recognised by all its first bytes. All members of a gzip file are
// unpacked, and all frames of a file of pzstd, which writes one to be skipped before each.
func TestUnpack(t *testing.T) {
	var packed bytes.Buffer
	for range 2 { // as cat a.gz b.gz makes it
		z := gzip.NewWriter(&packed)
		io.WriteString(z, "line\n")
		z.Close()
	}
	if got, err := linesOf(t, Form{}, &packed); err != nil || !slices.Equal(got, []string{"line", "line"}) {
		t.Errorf("%q, %v", got, err)
	}
	z, _ := zstd.NewWriter(nil)
	frame := z.EncodeAll([]byte("line\n"), []byte("P*M\x18\x04\x00\x00\x00abcd"))
	if got, err := linesOf(t, Form{}, bytes.NewReader(append(frame, frame...))); err != nil || !slices.Equal(got, []string{"line", "line"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, plain := range []string{"", "(", "\x1f", "(\xb5/", "BZh9 is text", "PK", "plain"} {
		r, err := unpack(strings.NewReader(plain))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != plain || err != nil {
			t.Errorf("%q: %q, %v", plain, got, err)
		}
	}
	for name, first := range map[string]string{"xz": "\xfd7zXZ\x00\x00\x04", "bzip2": "BZh91AY&SY\x01", "lz4": "\x04\x22\x4d\x18x", "zip": "PK\x03\x04x"} {
		_, err := unpack(iotest.OneByteReader(strings.NewReader(first)))
		if err == nil || !strings.Contains(err.Error(), "packed by "+name+", want text, gzip or zstd") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFields are those of awk, or of cut with -d.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		field      uint64
		delimiter  string
		line, want string
	}{
		{0, "", " a  b ", " a  b "},
		{1, "", " a  b\tc ", "a"}, {2, "", " a  b\tc ", "b"}, {3, "", " a  b\tc ", "c"}, {4, "", " a  b\tc ", ""}, {1, "", "  ", ""},
		{7, "", `1.2.3.4 - - [22/Nov/2026:18:00:00 +0000] "GET /x?y=1 HTTP/1.1" 200 5`, "/x?y=1"},
		{1, ",", "a,,b", "a"}, {2, ",", "a,,b", ""}, {3, ",", "a,,b", "b"}, {4, ",", "a,,b", ""}, {2, "\t", "a b\tc d", "c d"}, {2, "::", "a:b::c", "c"},
	} {
		got, err := linesOf(t, Form{Field: c.field, Delimiter: c.delimiter}, strings.NewReader(c.line))
		if err != nil || !slices.Equal(got, []string{c.want}) {
			t.Errorf("field %d of %q by %q: %q, %v, want %q", c.field, c.line, c.delimiter, got, err, c.want)
		}
	}
}
