package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// linesOf returns the lines of standard input and the error of each.
func linesOf(t *testing.T, o options, stdin io.Reader) (lines []string, err error) {
	o.env = &env{ctx: t.Context(), stdin: stdin}
	err = o.each(nil, &progress{}, false, func(c *chunk) error {
		for _, key := range c.keys {
			lines = append(lines, string(key))
		}
		return nil
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
			got, err := linesOf(t, options{}, reader(strings.NewReader(string(text)+end)))
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, end %q: %d lines, want %d; %v", name, end, len(got), len(want), err)
			}
		}
	}
}

// TestCutLine: a line that a read error cuts off is no line.
func TestCutLine(t *testing.T) {
	broken := errors.New("broken")
	got, err := linesOf(t, options{}, io.MultiReader(strings.NewReader("a\nb\nha"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestManyFiles: there are more files than chunks.
func TestManyFiles(t *testing.T) {
	path := writeFile(t, []byte("apple\npear"))
	args := append([]string{"dedup", "-n", "10"}, slices.Repeat([]string{path}, 5*inFlight)...)
	if got, said := expectRun(t, statusFound, args...); got != "apple\npear\n" || !strings.Contains(said, "40 lines read") {
		t.Errorf("%q, %s", got, said)
	}
}

// TestStreams: dedup prints a line before the next one arrives. The first line may begin as a packed
// file does.
func TestStreams(t *testing.T) {
	for _, first := range []string{"a", "(", "\x1f", ""} {
		inRead, in := io.Pipe()
		out, outWrite := io.Pipe()
		ended := make(chan int)
		go func() { ended <- run(t.Context(), []string{"dedup", "-n", "1000"}, inRead, outWrite, io.Discard) }()
		for _, line := range []string{first + "\n", "second\n", "third\n"} {
			io.WriteString(in, line+line)
			got := make([]byte, len(line))
			if _, err := io.ReadFull(out, got); err != nil || string(got) != line {
				t.Fatalf("%q, %v, want %q", got, err, line)
			}
		}
		in.Close()
		if status := <-ended; status != statusFound {
			t.Errorf("status %d", status)
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
	if got, err := linesOf(t, options{}, &packed); err != nil || !slices.Equal(got, []string{"line", "line"}) {
		t.Errorf("%q, %v", got, err)
	}
	z, _ := zstd.NewWriter(nil)
	frame := z.EncodeAll([]byte("line\n"), []byte("P*M\x18\x04\x00\x00\x00abcd"))
	if got, err := linesOf(t, options{}, bytes.NewReader(append(frame, frame...))); err != nil || !slices.Equal(got, []string{"line", "line"}) {
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
		field      number
		delimiter  string
		line, want string
	}{
		{0, "", " a  b ", " a  b "},
		{1, "", " a  b\tc ", "a"}, {2, "", " a  b\tc ", "b"}, {3, "", " a  b\tc ", "c"}, {4, "", " a  b\tc ", ""}, {1, "", "  ", ""},
		{7, "", `1.2.3.4 - - [22/Nov/2026:18:00:00 +0000] "GET /x?y=1 HTTP/1.1" 200 5`, "/x?y=1"},
		{1, ",", "a,,b", "a"}, {2, ",", "a,,b", ""}, {3, ",", "a,,b", "b"}, {4, ",", "a,,b", ""}, {2, "\t", "a b\tc d", "c d"},
	} {
		got, err := linesOf(t, options{field: c.field, delimiter: c.delimiter}, strings.NewReader(c.line))
		if err != nil || !slices.Equal(got, []string{c.want}) {
			t.Errorf("field %d of %q by %q: %q, %v, want %q", c.field, c.line, c.delimiter, got, err, c.want)
		}
	}
}
