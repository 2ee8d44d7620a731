package lines

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestCRLF: with CRLF, the keys of a text from Windows are those of the text with newlines, whatever the
// pieces in which it arrives, and its lines are as they came.
func TestCRLF(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		var plain, windows strings.Builder
		windows.WriteString([]string{"", utf8Mark}[rng.IntN(2)])
		for range 1 + rng.IntN(5) {
			line := []string{"", "a b", "a\rb", utf8Mark[:2], strings.Repeat("long ", 40)}[rng.IntN(5)]
			plain.WriteString(line + "\n")
			windows.WriteString(line + []string{"\n", "\r\n"}[rng.IntN(2)])
		}
		for _, field := range []uint64{0, 1, 2} {
			want, wantErr := linesOf(t, Form{Field: field}, strings.NewReader(plain.String())) // perhaps none has the field
			for name, reader := range readers {
				var lines strings.Builder
				var keys []string
				in := &Input{Form: Form{End: '\n', Field: field, CRLF: true}, Context: t.Context(), Stdin: reader(strings.NewReader(windows.String()))}
				err := in.Each(func(c *Chunk) (int, error) {
					for _, key := range c.Keys {
						keys = append(keys, string(key))
					}
					return len(c.Lines), nil
				}, func(c *Chunk) error {
					for _, line := range c.Lines {
						lines.WriteString(string(line) + "\n")
					}
					return nil
				})
				if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(keys, want) || lines.String() != windows.String() {
					t.Errorf("%s, field %d of %q: %q, want %q; %q; %v", name, field, &windows, keys, want, &lines, err)
				}
			}
		}
	}
}

// TestDoubts: each kind of doubt is told once, for any number of lines and files, and not if the keys do
// not have it.
func TestDoubts(t *testing.T) {
	const mark, cr, nul = "UTF-8 mark", "carriage return", "NUL bytes"
	for _, c := range []struct {
		form Form
		text string
		want []string
	}{
		{Form{End: '\n'}, "a\nb\n", nil},
		{Form{End: '\n'}, "a\r\nb\r\n", []string{cr}},
		{Form{End: '\n'}, "a\nb\r\n", []string{cr}},
		{Form{End: '\n'}, "a\rb\n\n", nil},
		{Form{End: '\n'}, utf8Mark + "a\r\nb\x00\r\n", []string{mark, nul, cr}},
		{Form{End: '\n'}, "a\n" + utf8Mark + "b\n", []string{mark}},
		{Form{End: '\n', Field: 2}, utf8Mark + "a b\n", nil},
		{Form{End: '\n'}, "a\nb\nlast\x00", []string{nul}},
		{Form{End: '\n', CRLF: true}, utf8Mark + "a\r\nb\r\n", nil},
		{Form{End: '\n', Field: 1}, "a b\r\n", nil},
		{Form{End: '\n', Field: 2}, "a b\r\n", []string{cr}},
		{Form{End: 0}, "a\r\x00b\n\x00", nil},
		{Form{End: 0}, utf8Mark + "a\x00", []string{mark}},
	} {
		for name, reader := range readers {
			var got []string
			err := (&Input{
				Form: c.form, Context: t.Context(), Stdin: reader(strings.NewReader(strings.Repeat(c.text, 1000))), Files: []string{"-", "-"},
				Warn: func(text string) { got = append(got, text) },
			}).Each(func(c *Chunk) (int, error) { return len(c.Lines), nil }, nil)
			same := len(got) == len(c.want)
			for _, want := range c.want { // in any order: by bytes, a NUL arrives after the first block
				same = same && slices.ContainsFunc(got, func(text string) bool {
					return strings.HasPrefix(text, "standard input: ") && strings.Contains(text, want)
				})
			}
			if err != nil || !same {
				t.Errorf("%s, %+v of %q: %q, want %q; %v", name, c.form, c.text, got, c.want, err)
			}
		}
	}
	in := &Input{Context: t.Context(), Keys: []string{utf8Mark + "a\r"}, Warn: func(text string) { t.Errorf("a key of the command line: %s", text) }}
	if err := in.Each(func(c *Chunk) (int, error) { return len(c.Lines), nil }, nil); err != nil {
		t.Error(err)
	}
}

// TestMaxLine: whatever the pieces, the lines before the first one that is too long are answered, and the
// error names it.
func TestMaxLine(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	small, large := []string{"", x(4), x(5), "", x(7), "last"}, []string{"", x(chunkSize - 1), x(chunkSize), x(chunkSize + 1), x(3 * chunkSize), "last"}
	try := func(name string, reader func(io.Reader) io.Reader, lines []string, most uint64) {
		n := slices.IndexFunc(lines, func(line string) bool { return uint64(len(line)) > most })
		for _, end := range []string{"", "\n"} {
			got, err := linesOf(t, Form{MaxLine: most}, reader(strings.NewReader(strings.Join(lines, "\n")+end)))
			if n < 0 {
				if err != nil || !slices.Equal(got, lines) {
					t.Errorf("%d, %s: %d lines, %v", most, name, len(got), err)
				}
			} else if want := fmt.Sprintf("standard input: line %d: longer than ", n+1); err == nil || !strings.HasPrefix(err.Error(), want) || !slices.Equal(got, lines[:n]) {
				t.Errorf("%d, %s: %d lines, %v, want %d and %s", most, name, len(got), err, n, want)
			}
		}
	}
	for name, reader := range readers {
		for most := range uint64(8) {
			try(name, reader, small, most+1)
		}
		for _, most := range []uint64{chunkSize - 1, chunkSize, chunkSize + 1, 3*chunkSize - 1, 3 * chunkSize} {
			if name != "bytes" { // a goroutine per byte
				try(name, reader, large, most)
			}
		}
	}
}

// TestMemoryOfALongLine is not that of the line.
func TestMemoryOfALongLine(t *testing.T) {
	const most = 1 << 20
	took := testkit.Allocated(func() {
		endless := io.MultiReader(strings.NewReader("first\n"), zeros{})
		got, err := linesOf(t, Form{MaxLine: most}, endless)
		if err == nil || !strings.Contains(err.Error(), "line 2: longer than 1.0 MiB, want shorter lines or a larger --max-line") || !slices.Equal(got, []string{"first"}) {
			t.Errorf("%q, %v", got, err)
		}
	})
	if took > 8*most {
		t.Errorf("%d bytes for lines of up to %d", took, most)
	}
}

// zeros has no end and no newline.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
