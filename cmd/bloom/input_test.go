package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
)

// TestSplit against bytes.Split, with keys longer than the buffer, in pieces of every
// size, with and without the last key's end.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for range 200 {
		text = append(text, bytes.Repeat([]byte{'x'}, rng.IntN(40))...)
		text = append(text, '\n')
	}
	text = append(text, bytes.Repeat([]byte{'y'}, 3*bufferSize)...)
	text = append(text, "\n\nlast"...)
	readers := map[string]func(io.Reader) io.Reader{
		"whole":         func(r io.Reader) io.Reader { return r },
		"bytes":         iotest.OneByteReader,
		"halves":        iotest.HalfReader,
		"end with data": iotest.DataErrReader,
	}
	for _, end := range []string{"", "\n"} {
		want := strings.Split(string(text), "\n")
		for name, reader := range readers {
			var got []string
			err := split(reader(strings.NewReader(string(text)+end)), '\n', func(keys [][]byte) error {
				for _, key := range keys {
					got = append(got, string(key))
				}
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, end %q: %d keys, want %d; %v", name, end, len(got), len(want), err)
			}
		}
	}
}

// TestSplitDropsWhatIsCut: a key that is cut short by an error is no key.
func TestSplitDropsWhatIsCut(t *testing.T) {
	broken := errors.New("broken")
	var got []string
	err := split(io.MultiReader(strings.NewReader("a\nb\nha"), iotest.ErrReader(broken)), '\n', func(keys [][]byte) error {
		for _, key := range keys {
			got = append(got, string(key))
		}
		return nil
	})
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNoWaiting: a key is handled when it has come, not when a buffer is full, also by
// the look at the first bytes for what they are packed with.
func TestNoWaiting(t *testing.T) {
	for _, first := range []string{"a\n", "(\n", "\x1f\n", "\n"} { // the beginnings of gzip and zstd too
		r, w := io.Pipe()
		handled := make(chan string)
		go func() {
			in := input{env: &env{ctx: t.Context(), stdin: r}}
			in.each(nil, &progress{}, func(keys [][]byte) error {
				for _, key := range keys {
					handled <- string(key)
				}
				return nil
			})
			close(handled)
		}()
		for _, key := range []string{first, "second\n"} {
			io.WriteString(w, key)
			select {
			case got := <-handled:
				if got+"\n" != key {
					t.Errorf("%q, want %q", got, key)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%q has come and is not handled", key)
			}
		}
		w.Close()
		<-handled
	}
}

func TestUnpackMembers(t *testing.T) {
	var packed bytes.Buffer
	for range 2 { // as cat a.gz b.gz makes it
		z := gzip.NewWriter(&packed)
		io.WriteString(z, "line\n")
		z.Close()
	}
	r, err := unpack(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "line\nline\n" || err != nil {
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
}

func TestProgress(t *testing.T) {
	for total, want := range map[int64][]string{
		1_000_000: {"1.2M keys", "4.3k new", "50%", "488/977 KiB"},
		0:         {"1.2M keys", "4.3k new", "488 KiB"}, // unknown: a spinner
		400_000:   {"1.2M keys", "99%"},                 // the file has grown
	} {
		var out bytes.Buffer
		p := &progress{what: "new"}
		p.start(&out, total)
		p.read(500_000)
		p.count(1_234_567, 4_321)
		time.Sleep(7 * redraw / 2)
		p.stop()
		p.stop() // twice does no harm
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("total %d: no %q in %q", total, part, out.String())
			}
		}
		if !strings.HasSuffix(out.String(), "\r") {
			t.Errorf("total %d: the line is not cleared in the end: %q", total, out.String())
		}
	}
}

// TestProgressOnlyBesideFiles: no display over what is printed to a terminal or to a pager.
func TestProgressOnlyBesideFiles(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isRegular(w) || !isRegular(file) || !isRegular(io.Discard) {
		t.Error("a pipe, a file, a buffer:", isRegular(w), isRegular(file), isRegular(io.Discard))
	}
}

// TestProgressSays: a message begins a line of its own, and the display goes on behind it.
func TestProgressSays(t *testing.T) {
	var out bytes.Buffer
	p := &progress{}
	p.say(&out, "first\n")
	if out.String() != "first\n" {
		t.Errorf("%q without a display", out.String())
	}
	screen := &firstWrite{happened: make(chan struct{})}
	p.start(screen, 0)
	<-screen.happened // there is something in the way
	p.say(screen, "second\n")
	p.say(screen, "third\n")
	p.stop()
	if got := screen.text.String(); !strings.Contains(got, "\rsecond\n") || !strings.Contains(got, "third\n") {
		t.Errorf("%q with a display", got)
	}
}

// A firstWrite tells when something has been written to it.
type firstWrite struct {
	text     bytes.Buffer
	once     sync.Once
	happened chan struct{}
}

func (w *firstWrite) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	w.once.Do(func() { close(w.happened) })
	return n, err
}

func TestTotalSize(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for name, text := range map[string]string{a: "12345", b: "123"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		files []string
		stdin io.Reader
		want  int64
	}{
		{[]string{a, b, "missing"}, nil, 8},
		{[]string{b, "-"}, file, 8},
		{nil, file, 5},
		{nil, strings.NewReader("x"), 0},
		{[]string{a, dir}, nil, 0},
	} {
		if got := totalSize(c.files, c.stdin); got != c.want {
			t.Errorf("%q: %d, want %d", c.files, got, c.want)
		}
	}
}

// TestFields are those of awk, or of cut with -d.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		field      int
		delimiter  string
		line, want string
	}{
		{0, "", " a  b ", " a  b "},
		{1, "", " a  b\tc ", "a"}, {2, "", " a  b\tc ", "b"}, {3, "", " a  b\tc ", "c"}, {4, "", " a  b\tc ", ""}, {1, "", "", ""}, {1, "", "  ", ""},
		{7, "", `1.2.3.4 - - [22/Nov/2026:18:00:00 +0000] "GET /x?y=1 HTTP/1.1" 200 5`, "/x?y=1"},
		{1, ",", "a,,b", "a"}, {2, ",", "a,,b", ""}, {3, ",", "a,,b", "b"}, {4, ",", "a,,b", ""}, {1, ",", "", ""}, {2, "\t", "a b\tc d", "c d"},
	} {
		in := input{field: c.field, delimiter: c.delimiter}
		if got := in.keyOf([]byte(c.line)); string(got) != c.want {
			t.Errorf("field %d of %q by %q: %q, want %q", c.field, c.line, c.delimiter, got, c.want)
		}
	}
}

// TestPackedInputIsRefused by name, where the command cannot unpack it.
func TestPackedInputIsRefused(t *testing.T) {
	for name, magic := range map[string]string{"xz": "\xfd7zXZ\x00\x00\x04", "bzip2": "BZh91AY&SY\x01", "lz4": "\x04\x22\x4d\x18x", "zip": "PK\x03\x04x"} {
		_, err := unpack(iotest.OneByteReader(strings.NewReader(magic)))
		if err == nil || !strings.Contains(err.Error(), "packed by "+name+", want text, gzip or zstd") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var out, said bytes.Buffer
	if status := run(t.Context(), []string{"dedup"}, strings.NewReader("BZh91AY&SY\x01"), &out, &said); status != statusError || out.Len() > 0 || !strings.Contains(said.String(), "standard input: packed by bzip2") {
		t.Errorf("status %d, %q, %q", status, &out, &said)
	}
}
