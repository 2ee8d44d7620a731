package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	testCommand = regexp.MustCompile("`((?:GOARCH=\\w+ )?go test [^`]*)`")
	testName    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)

	comment   = regexp.MustCompile(`(?m)^\s*//.*`)
	function  = regexp.MustCompile(`(?m)^func (\w+)[\[(]`)
	namedTest = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
)

// TestCommentsNameTests fails if a comment in Go names a test or a benchmark that does not exist.
func TestCommentsNameTests(t *testing.T) {
	exists := map[string]bool{"TestAndAddString": true, "TestMine": true} // of bits-and-blooms, of a user
	named := map[string]string{}
	for _, path := range files(t, "*.go") {
		source, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		for _, m := range function.FindAllSubmatch(source, -1) {
			exists[string(m[1])] = true
		}
		for _, line := range comment.FindAll(source, -1) {
			for _, name := range namedTest.FindAllString(string(line), -1) {
				named[name] = path
			}
		}
	}
	require.NotEmpty(t, named)
	for name, path := range named {
		if !exists[name] {
			t.Errorf("%s names %s, which is not there", path, name)
		}
	}
}

// TestGuaranteesNameTests fails if a command in docs/guarantees.md would run no test: every
// alternative of its pattern must match a test in one of its packages, and every package must
// have a match.
func TestGuaranteesNameTests(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "docs/guarantees.md"))
	require.NoError(t, err)
	commands := testCommand.FindAllStringSubmatch(string(source), -1)
	require.NotEmpty(t, commands)
	for _, m := range commands {
		command := m[1]
		words := strings.Fields(command)
		var patterns, names []string
		for i, word := range words {
			switch {
			case word == "-run" && words[i+1] != "'^$'", word == "-fuzz":
				patterns = append(patterns, strings.Split(strings.Trim(words[i+1], "'"), "|")...)
			case word == "." || strings.HasPrefix(word, "./"):
				own := tests(t, word)
				require.NotEmpty(t, own, "%s: no tests in %s", command, word)
				found := len(patterns) == 0
				for _, p := range patterns {
					found = found || matches(own, p)
				}
				require.True(t, found, "%s: nothing to run in %s", command, word)
				names = append(names, own...)
			}
		}
		for _, p := range patterns {
			require.True(t, matches(names, p), "%s: no test matches %s", command, p)
		}
	}
}

// tests returns the names of the tests in a folder.
func tests(t *testing.T, dir string) (names []string) {
	paths, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	require.NoError(t, err)
	for _, path := range paths {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range testName.FindAllStringSubmatch(string(source), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func matches(names []string, pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(strings.Join(names, "\n"))
}
