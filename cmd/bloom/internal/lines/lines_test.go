package lines

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
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
