package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// display runs a progress over an input of total bytes and returns what it wrote.
func display(total int64, now counts) string {
	var out bytes.Buffer
	p := &progress{out: &out}
	p.start(total)
	p.set(now)
	time.Sleep(7 * redraw / 2)
	p.Write([]byte("message\n"))
	p.stop()
	return out.String()
}

func TestProgress(t *testing.T) {
	now := counts{bytes: 500_000, lines: 1_234_567, printed: 4_321}
	for _, c := range []struct {
		total int64
		want  []string
	}{
		{1_000_000, []string{"1.2M lines", "4.3k distinct", "50%", "500 kB", "1.0 MB", "message\n"}},
		{0, []string{"1.2M lines", "4.3k distinct", "500 kB", "message\n"}}, // a spinner
		{400_000, []string{"1.2M lines", "99%", "message\n"}},               // the file has grown
	} {
		got := display(c.total, now)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("total %d: no %q in %q", c.total, want, got)
			}
		}
		if !strings.HasSuffix(got, "\r") {
			t.Errorf("total %d: the line is not cleared in the end: %q", c.total, got)
		}
	}
}

func TestTotalSize(t *testing.T) {
	a, b, stdin := writeFile(t, "12345"), writeFile(t, "123"), strings.NewReader("x")
	file, err := os.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := totalSize([]string{a, b, "missing"}, stdin); got != 8 {
		t.Errorf("two files: %d, want 8", got)
	}
	if got := totalSize([]string{b, "-"}, file); got != 8 {
		t.Errorf("a file and a redirected one: %d, want 8", got)
	}
	if got := totalSize([]string{a, "-"}, stdin); got != 0 {
		t.Errorf("with a stream: %d, want 0", got)
	}
	if got := totalSize([]string{t.TempDir(), a}, stdin); got != 0 {
		t.Errorf("with a directory: %d, want 0", got)
	}
}

func TestNoDisplayWithoutTerminal(t *testing.T) {
	if isTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is no terminal")
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) {
		t.Error("a file is no terminal")
	}
}
