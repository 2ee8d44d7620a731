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

// TestPieces: a piece has as many lines as fit, or one longer line, and is printed after a call of Room.
func TestPieces(t *testing.T) {
	rooms, pieces := 0, []string{}
	in := &Input{Form: Form{End: '\n'}, Context: t.Context(), Stdin: strings.NewReader("ab\ncd\nabc\nde\n0123456789\n\nx\n"), PieceSize: 6}
	in.Room = func() error { rooms++; return nil }
	err := in.Each(func(c *Chunk) (int, error) { return len(c.Keys), nil }, func(c *Chunk) error {
		text := ""
		for _, line := range c.Lines {
			text += string(line) + "\n"
		}
		pieces = append(pieces, text)
		return nil
	})
	if want := []string{"ab\ncd\n", "abc\n", "de\n", "0123456789\n", "\nx\n"}; err != nil || !slices.Equal(pieces, want) || rooms != len(want) {
		t.Errorf("%q with %d calls of Room, %v, want %q", pieces, rooms, err, want)
	}
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

// TestFields are those of awk, or of cut with -d. A line that does not have the field has no key.
func TestFields(t *testing.T) {
	const none = "no key"
	for _, c := range []struct {
		field           uint64
		delimiter, line string
		want, toEnd     string
	}{
		{0, "", " a  b ", " a  b ", " a  b "},
		{1, "", " a  b\tc ", "a", "a  b\tc "}, {2, "", " a  b\tc ", "b", "b\tc "}, {3, "", " a  b\tc ", "c", "c "}, {4, "", " a  b\tc ", none, none},
		{1, "", "a", "a", "a"}, {1, "", "a ", "a", "a "}, {2, "", "a ", none, none}, {1, "", "  ", none, none}, {1, "", "", none, none},
		{7, "", `1.2.3.4 - - [22/Nov/2026:18:00:00 +0000] "GET /x?y=1 HTTP/1.1" 200 5`, "/x?y=1", `/x?y=1 HTTP/1.1" 200 5`},
		{1, ",", "a,,b", "a", "a,,b"}, {2, ",", "a,,b", "", ",b"}, {3, ",", "a,,b", "b", "b"}, {4, ",", "a,,b", none, none},
		{1, ",", "", none, none}, {2, ",", "", none, none}, {1, ",", "a b", none, none}, {1, ",", ",", "", ","}, {2, ",", "a b", none, none}, {2, ",", "a,", "", ""},
		{2, "\t", "a b\tc d", "c d", "c d"}, {2, "::", "a:b::c::", "c", "c::"}, {3, "::", "a:::b", none, none}, {2, "\x00", "a\x00b", "b", "b"},
		{1 << 63, "", "a b", none, none},
	} {
		for _, toEnd := range []bool{false, true} {
			want := []string{c.want}
			if toEnd {
				want = []string{c.toEnd}
			}
			if c.want == none {
				want = nil
			}
			got, err := linesOf(t, Form{Field: c.field, ToEnd: toEnd, Delimiter: c.delimiter}, strings.NewReader(c.line+"\n"))
			if (err != nil) != (want == nil) || !slices.Equal(got, want) {
				t.Errorf("field %d (to the end: %v) of %q by %q: %q, %v, want %q", c.field, toEnd, c.line, c.delimiter, got, err, want)
			}
		}
	}
}
