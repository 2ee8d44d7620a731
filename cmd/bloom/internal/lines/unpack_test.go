package lines

import (
	"archive/tar"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const words = "apple\npear\nbanana\n"

// archive returns a tar archive with the words in a file.
func archive(t *testing.T, format tar.Format) string {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: "words.txt", Size: int64(len(words)), Mode: 0o600, Format: format}); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, words)
	w.Close()
	return out.String()
}

func utf16Text(order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + words)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// notLines returns files that are not lines, by a part of their error.
func notLines(t *testing.T) map[string][]string {
	files := map[string][]string{
		"a tar archive, want text, gzip or zstd: unpack it with tar -xO and a pipe": {archive(t, tar.FormatUSTAR), archive(t, tar.FormatPAX), archive(t, tar.FormatGNU)},
		"text in UTF-16": {utf16Text(binary.LittleEndian), utf16Text(binary.BigEndian)},
	}
	cpio := "070701" + strings.Repeat("0000000a", 13) + "words.txt\x00\x00" + words
	files["a cpio archive"] = []string{cpio, "070707" + strings.Repeat("0", 70) + "words.txt\x00" + words}
	files["lines end in CR alone, want text, gzip or zstd: convert it with tr '\\r' '\\n'"] = []string{"a\rb", "a\rb\r", "a\r\r"}
	files["no text"] = []string{"\x00\xff\n", "\xc7\x71\x00"}
	for _, level := range []int{zlib.NoCompression, zlib.BestSpeed, zlib.DefaultCompression, zlib.BestCompression} {
		var out bytes.Buffer
		w, _ := zlib.NewWriterLevel(&out, level)
		io.WriteString(w, words)
		w.Close()
		files["packed by zlib, want"] = append(files["packed by zlib, want"], out.String())
	}
	for _, k := range kinds {
		if k.open == nil {
			files[k.name] = append(files[k.name], strings.ReplaceAll(k.magic, "?", "9")+"\x01\x00\x02\n\x03\n")
		}
	}
	return files
}

func packGzip(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text)
	z.Close()
	return out.String()
}

func packZstd(text string) string {
	z, _ := zstd.NewWriter(nil)
	return string(z.EncodeAll([]byte(text), nil))
}

// TestNotLines: files that are not lines are refused, also inside gzip and zstd, before any line is answered.
func TestNotLines(t *testing.T) {
	for want, files := range notLines(t) {
		for _, file := range files {
			for _, packed := range []string{file, packGzip(file), packZstd(file)} {
				for name, reader := range readers {
					got, err := linesOf(t, Form{}, reader(strings.NewReader(packed)))
					if err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 {
						t.Errorf("%.20q, %s: %q, %v, want %s", packed, name, got, err, want)
					}
				}
			}
		}
	}
	for _, twice := range []string{packGzip(packGzip(words)), packZstd(packGzip(words)), packGzip(packZstd(words))} {
		if got, err := linesOf(t, Form{}, strings.NewReader(twice)); err == nil || !strings.Contains(err.Error(), ", then unpack it with ") || len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestTextLikeAKind: text that begins as a file of another kind is read, and its first line before the next
// one arrives. No part of a tar archive's mark makes a line one.
func TestTextLikeAKind(t *testing.T) {
	first := []string{"", "x^ is text", "x", "LZIP", "PAR1", "ustar", strings.Repeat("x", 257) + "ustar", strings.Repeat("x", 257) + "ustar  x", strings.Repeat("x", 300)}
	for _, k := range kinds {
		for n := range len(k.magic) {
			if line := strings.ReplaceAll(k.magic[:n], "?", "9"); utf8.ValidString(line) || !strings.Contains(line, "\x00") && !strings.HasPrefix(line, "\xff\xfe") {
				first = append(first, line)
			}
		}
	}
	for _, line := range first {
		in, typed := io.Pipe()
		got := make(chan string, 1)
		go func() {
			err := (&Input{Form: Form{End: '\n', CRLF: true}, Context: t.Context(), Stdin: in}).Each(func(c *Chunk) (int, error) {
				for _, l := range c.Lines {
					got <- string(l)
				}
				return len(c.Lines), nil
			}, nil)
			if err != nil {
				got <- err.Error()
				in.Close()
			}
		}()
		io.WriteString(typed, line+"\n")
		if read := <-got; read != line {
			t.Errorf("%q, want %q", read, line)
		}
		typed.Close()
	}
}

// TestUnpack: all members of a gzip file are unpacked, as cat a.gz b.gz makes it, and all frames of a file of
// pzstd, which writes one to be skipped before each. Zeros may follow gzip's members, and nothing else.
func TestUnpack(t *testing.T) {
	member := packGzip("line\n")
	want, all := []string{"line", "line"}, []string{member + member + "\x00", member + member + strings.Repeat("\x00", 100_000)}
	for first := 'P'; first <= '_'; first++ {
		all = append(all, strings.Repeat(string(first)+"*M\x18\x04\x00\x00\x00abcd"+packZstd("line\n"), 2))
	}
	for _, packed := range all {
		for name, reader := range readers {
			if got, err := linesOf(t, Form{}, reader(strings.NewReader(packed))); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	for rest, said := range map[string]string{"\x00\x00x": "after the zeros", "\x00" + member: "after the zeros", "x": "invalid header|unexpected EOF", member[:15]: "unexpected EOF"} {
		_, err := linesOf(t, Form{}, strings.NewReader(member+member+rest))
		if err == nil || !slices.ContainsFunc(strings.Split(said, "|"), func(s string) bool { return strings.Contains(err.Error(), s) }) {
			t.Errorf("%q after the members: %v", rest, err)
		}
	}
}

// TestReadOfPackedFiles: Read counts the bytes of the file, not those of its text.
func TestReadOfPackedFiles(t *testing.T) {
	for _, packed := range []string{packGzip(strings.Repeat("line\n", 1e6)), packZstd(strings.Repeat("line\n", 1e6))} {
		var read atomic.Int64
		in := &Input{Form: Form{End: '\n'}, Context: t.Context(), Stdin: strings.NewReader(packed), Read: &read}
		err := in.Each(func(c *Chunk) (int, error) { return len(c.Keys), nil }, nil)
		if err != nil || read.Load() != int64(len(packed)) {
			t.Errorf("%d bytes read, %v, want %d", read.Load(), err, len(packed))
		}
	}
}

// TestLongWindow: a frame that needs more memory than this program gives says what to do.
func TestLongWindow(t *testing.T) {
	const oneGiB = 20 << 3 // exponent above 10, mantissa 0
	frame := "\x28\xb5\x2f\xfd\x00" + string([]byte{oneGiB}) + "\x01\x00\x00"
	_, err := linesOf(t, Form{}, strings.NewReader(frame))
	if err == nil || !strings.Contains(err.Error(), "zstd -dc --long=31 and a pipe") {
		t.Errorf("%v", err)
	}
}

// TestNoText: NUL bytes and bytes that are not UTF-8, in any lines that begin in the first 4 KiB, are no text.
func TestNoText(t *testing.T) {
	for text, refused := range map[string]bool{
		"ORC\n\x00\n\xff\n": true, "ORC\n\xff\n\x00": true, strings.Repeat("line\n", 819) + "\x00\xff": true,
		strings.Repeat("line\n", 820) + "\x00\xff": false, "a\x00b\n": false, "a\xff\n": false,
	} {
		for name, reader := range readers {
			got, err := linesOf(t, Form{}, reader(strings.NewReader(text)))
			if said := err != nil && strings.Contains(err.Error(), "no text"); said != refused || !refused && err != nil {
				t.Errorf("%s, %.20q: %d lines, %v", name, text, len(got), err)
			}
		}
	}
}
