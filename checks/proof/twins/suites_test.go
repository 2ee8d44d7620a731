package twins

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSuites: the tests that .ci/run chooses for some builds, by checks/suites, find the twins of these builds: changed
// assembly, and goroutines that race.
func TestSuites(t *testing.T) {
	for kind, is := range map[string]func(w twin) bool{
		"builds":     func(w twin) bool { return strings.HasSuffix(w.edits[0].declaration, ".s") },
		"goroutines": func(w twin) bool { return w.slow },
	} {
		cmd := exec.Command("go", "run", "./checks/suites", kind, "./...")
		cmd.Dir = root(t)
		cmd.Env = append(os.Environ(), "GOWORK=") // the suites are of another module
		out, err := cmd.Output()
		require.NoError(t, err)
		chosen := regexp.MustCompile(`\bTest\w+`).FindAllString(string(out), -1)
		packages := strings.Fields(string(out))[2:]
		found := 0 // of the root module, by tests
		for _, w := range twins {
			folder := strings.TrimSuffix("github.com/seed3447c163/bloom/"+w.in, "/")
			if len(w.edits) == 0 || !is(w) || w.tests == walk || strings.HasPrefix(w.in, "checks") {
				continue
			}
			found++
			require.Contains(t, packages, folder, "%s: %s", kind, w.name)
			require.True(t, slices.ContainsFunc(w.testNames(), func(name string) bool { return slices.Contains(chosen, name) }), "%s: %s", kind, w.name)
		}
		require.Greater(t, found, 2, kind)
	}
}
