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
			in := input{env: &env{stdin: r}}
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
	for _, plain := range []string{"", "(", "\x1f", "(\xb5/", "plain"} {
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
		1_000_000: {"1.2M keys", "4.3k new", "50%", "500 kB", "1.0 MB"},
		0:         {"1.2M keys", "4.3k new", "500 kB"}, // unknown: a spinner
		400_000:   {"1.2M keys", "99%"},                // the file has grown
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

func TestFlagValues(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1, "1e6": 1e6, "1_000_000": 1e6, "2.5e3": 2500, "9007199254740993": 9007199254740993,
		"1e16": 1e16, "1e18": 1e18, "1.8e19": 18e18, "9007199254740993e0": 9007199254740993, "18446744073709551615": 1<<64 - 1} {
		var c count
		if err := c.Set(text); err != nil || uint64(c) != want {
			t.Errorf("count %q: %d, %v, want %d", text, c, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "whole number", "0": "at least 1", "-1": "at least 1", "1.5": "whole number", "0.5": "whole number", "NaN": "whole number",
		"x": "whole number", "1e-400": "whole number", "9007199254740992.5": "whole number", "3/2": "whole number", "6/2": "whole number",
		"18446744073709551616": "at most 18,446,744,073,709,551,615 keys", "2e19": "at most", "1e300": "at most", "1e400": "at most", "Inf": "at most",
		"1e999999999": "at most", // at once, not after a billion digits
	} {
		var c count
		if err := c.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("count %q: %d, %v, want %q", text, c, err, want)
		}
	}
	for text, want := range map[string]float64{"0.001": 0.001, "1e-3": 0.001, "0.1%": 0.001, "50 %": 0.5} {
		var r rate
		if err := r.Set(text); err != nil || float64(r) != want {
			t.Errorf("rate %q: %v, %v, want %v", text, r, err, want)
		}
	}
	for _, text := range []string{"", "0", "1", "100%", "-0.1", "NaN", "x", "0%", "%"} {
		var r rate
		if err := r.Set(text); err == nil {
			t.Errorf("rate %q: %v, want an error", text, r)
		}
	}
	if err := new(rate).Set("1e-400"); err == nil || !strings.Contains(err.Error(), "want p >= 2^-64") {
		t.Errorf("rate 1e-400: %v", err)
	}
}
