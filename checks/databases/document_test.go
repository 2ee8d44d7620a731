package databases

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/guide.md and docs/guard.md name as many conditions as guard/doc.go lists. docs/guard.md has the words that the
// tests use.
func TestDocument(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		require.NoError(t, err)
		return string(text)
	}
	document := read("docs/guard.md")
	comment := regexp.MustCompile(`(?s)under five conditions:\n//\n(.*?)\n//\n// [A-Z]`).FindStringSubmatch(read("guard/doc.go"))
	require.Len(t, comment, 2)
	require.Len(t, regexp.MustCompile(`(?m)^//   - `).FindAllString(comment[1], -1), 5)
	require.Regexp(t, `five\sconditions`, document)
	require.Regexp(t, `five\sconditions`, read("docs/guide.md"))
	for _, words := range []string{nextPage, terminate} {
		require.Contains(t, document, words)
	}
}
