package databases

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Three documents name the same conditions, and docs/guard.md has the words that the tests use. That it quotes
// recipes.go is tested in checks/docs.
func TestDocument(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		require.NoError(t, err)
		return string(text)
	}
	document := read("docs/guard.md")
	conditions := regexp.MustCompile(`(?s)\*\*Conditions\.\*\*.*?\n\n(.*?)\n\n`).FindStringSubmatch(document)
	require.Len(t, conditions, 2)
	n := len(regexp.MustCompile(`(?m)^\d\. `).FindAllString(conditions[1], -1))
	require.Equal(t, 5, n)
	comment := regexp.MustCompile(`(?s)under five conditions:\n//\n(.*?)\n//\n// [A-Z]`).FindStringSubmatch(read("guard/doc.go"))
	require.Len(t, comment, 2)
	require.Len(t, regexp.MustCompile(`(?m)^//   - `).FindAllString(comment[1], -1), n)
	require.Regexp(t, `under the five\s+conditions\s+of\s+\[guard\.md\]`, read("docs/guide.md"))
	for _, words := range []string{nextPage, terminate} {
		require.Contains(t, document, words)
	}
}
