package docs

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxColumns = 120 // of a comment; a tab has 4

// TestCommentsAreWrapped: no line of a Go comment is wider than maxColumns, and no line leaves much room for the next
// line's first word within the width of its paragraph, as an edit does that wraps only its own line.
func TestCommentsAreWrapped(t *testing.T) {
	columns := func(line string) int { return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) }
	for _, d := range read(t, "*.go") {
		if strings.HasSuffix(d.path, "example_test.go") {
			continue // Output stands as it is printed
		}
		var paragraph []string // plain lines
		number := 0
		check := func() {
			widest := 0
			for _, line := range paragraph {
				widest = max(widest, columns(line))
			}
			for i := 1; i < len(paragraph); i++ {
				next := strings.Fields(paragraph[i])[1]
				if columns(paragraph[i-1])+1+columns(next)+12 <= widest {
					t.Errorf("%s:%d: wrap the whole paragraph again", d.path, number-len(paragraph)+i-1)
				}
			}
			paragraph = nil
		}
		for lines := bufio.NewScanner(bytes.NewReader(d.source)); lines.Scan(); {
			number++
			line := lines.Text()
			text, isComment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "//")
			if isComment && columns(line) > maxColumns && !strings.HasPrefix(text, "\t") {
				t.Errorf("%s:%d: %d columns, want at most %d", d.path, number, columns(line), maxColumns)
			}
			plain := isComment && len(text) > 1 && text[0] == ' ' && !strings.ContainsAny(text[1:2], " \t#[-")
			if plain && !strings.Contains(text[1:], "  ") {
				paragraph = append(paragraph, line)
				continue
			}
			check()
		}
	}
}
