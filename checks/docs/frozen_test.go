package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatATagFreezes walks the list in CONTRIBUTING.md: each of its folders has each of the tests of the same line.
// Every test with Frozen in its name is in the list.
func TestWhatATagFreezes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, list, ok := strings.Cut(string(text), "\n## What a tag freezes\n")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, "\n## ")

	inFolder := map[string]bool{} // folder and test
	tests := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, d := range read(t, "*_test.go") {
		folder := filepath.ToSlash(filepath.Dir(d.path))
		for _, m := range tests.FindAllStringSubmatch(string(d.source), -1) {
			inFolder[folder+" "+m[1]] = true
		}
	}
	named := map[string]bool{}
	for line := range strings.Lines(list) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		for _, folder := range inline.FindAllStringSubmatch(cells[2], -1) {
			tests := inline.FindAllStringSubmatch(cells[3], -1)
			require.NotEmpty(t, tests, line)
			for _, test := range tests {
				if named[folder[1]+" "+test[1]] = true; strings.HasPrefix(test[1], folder[1]+"/") {
					require.FileExists(t, filepath.Join(root, test[1]))
				} else if !inFolder[folder[1]+" "+test[1]] {
					t.Errorf("%s has no %s", folder[1], test[1])
				}
			}
		}
	}
	require.NotEmpty(t, named)
	for test := range inFolder {
		if strings.Contains(test, " TestFrozen") && !named[test] {
			t.Errorf("%s is not in the list", test)
		}
	}
}
