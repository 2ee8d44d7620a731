// Package twins shows that the tests of the promises can fail. Each twin is the library with
// one mistake, and each of its tests must fail on it:
//
//	go test ./checks/proof/twins -v -twins all        or "first" for one per promise, or part of a name
package twins

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var which = flag.String("twins", "", `the twins to run: "all", "first" for one per promise, or part of a name`)

// A twin is the library with a mistake in it.
type twin struct {
	name  string // the promise, and what breaks it
	in    string // the folder of the tests
	tests string // names separated by spaces, each of which must fail
	edits []edit
	slow  bool // goroutines yield inside the bit array, so that they race on one processor too
	right bool // nothing is wrong, and the tests must pass

	assembly bool // the kernels in assembly serve, as for an edit of one, and not the Go code
}

// An edit replaces text within one declaration of a folder. Declarations are found by name:
// "New" for a function, constant, variable or type, "Filter.Add" for a method, and "file.s" for
// a file in another language.
type edit struct {
	folder, declaration string
	old                 string // code, each occurrence of which is replaced; "" stands for the body of a function
	new                 string
}

// maxRuns is large because two goroutines need not meet in the first run of a test. Beside three busy programs, a
// setter without its lock once passed twelve runs.
const maxRuns = 100

func TestTwinsAreCaught(t *testing.T) {
	if *which == "" {
		t.Skip("NOT TESTED without -twins: that each test notices its twin's mistake")
	}
	tried := 0
	promises := map[string]bool{}
	for _, w := range twins {
		promise, _, _ := strings.Cut(w.name, ":")
		first := *which == "first" && !promises[promise] && !w.right
		if *which != "all" && !first && !strings.Contains(w.name, *which) {
			continue
		}
		promises[promise] = true
		tried++
		t.Run(w.name, func(t *testing.T) {
			began := time.Now()
			files := w.files(t)
			passed, output := w.run(t, files, w.testNames(), true)
			runs := 1
			for ; len(passed) > 0 && !w.right && runs < maxRuns; runs++ { // not short, of the tests that have not failed yet
				passed, output = w.run(t, files, passed, false)
			}
			if w.right {
				require.Equal(t, w.testNames(), passed, "it is right, and a test fails:\n%s", output)
			} else {
				require.Empty(t, passed, "these tests pass in each of %d runs:\n%s", runs, output)
			}
			t.Logf("%s: %d runs, %.0f s", w.tests, runs, time.Since(began).Seconds())
		})
	}
	require.Positive(t, tried, "no twin has a name with %q in it", *which)
}

// TestEditsApply fails if a declaration, text or test that a twin names is gone.
func TestEditsApply(t *testing.T) {
	names := map[string]bool{}
	for _, w := range twins {
		t.Run(w.name, func(t *testing.T) {
			require.False(t, names[w.name], "there are two of this name")
			names[w.name] = true
			require.Equal(t, w.right, len(w.files(t)) == 0 || w.slow && len(w.edits) == 0, "nothing is changed")
			sources, err := filepath.Glob(filepath.Join(root(t), w.in, "*_test.go"))
			require.NoError(t, err)
			all := ""
			for _, source := range sources {
				text, err := os.ReadFile(source)
				require.NoError(t, err)
				all += string(text)
			}
			for _, name := range w.testNames() {
				require.True(t, strings.Contains(all, "func "+name+"("), "%s has no %s", w.in, name)
			}
		})
	}
}

// TestWalkHasTwins: each function that the walk of docs/internals.md names has a twin.
func TestWalkHasTwins(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "internals.md"))
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "## The walk")
	section, _, _ = strings.Cut(section, "\n## ")
	var named, have []string
	for _, match := range regexp.MustCompile("`([\\w.]+)\\(\\)`").FindAllStringSubmatch(section, -1) {
		named = append(named, match[1])
	}
	for _, w := range twins {
		if name, found := strings.CutPrefix(w.name, "walk: "); found {
			have = append(have, name)
		}
	}
	slices.Sort(named)
	require.NotEmpty(t, named)
	require.ElementsMatch(t, have, slices.Compact(named))
}

func (w twin) testNames() []string { return strings.Fields(w.tests) }

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)|^\trunning tests:\n\t\t(\w+)`)

// run runs tests with the changed files instead of the real ones, and returns the tests that did not fail.
func (w twin) run(t *testing.T, files map[string]string, tests []string, short bool) (passed []string, output string) {
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		require.NoError(t, os.WriteFile(replace[path], []byte(text), 0o644))
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, raw, 0o644))

	tags := "purego" // where there is assembly, the Go kernels are not called otherwise
	for path := range files {
		if w.assembly || strings.HasSuffix(path, ".s") {
			tags = ""
		}
	}
	cmd := exec.Command("go", "test", fmt.Sprint("-short=", short), "-tags="+tags, "-vet=off", "-count=1", "-timeout=5m", "-run", "^("+strings.Join(tests, "|")+")$", ".")
	cmd.Dir = filepath.Join(root(t), w.in)
	cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=-overlay="+overlay)
	out, err := cmd.CombinedOutput()
	output = string(out)
	if lines := strings.Split(output, "\n"); len(lines) > 30 {
		output = strings.Join(append(lines[:10], lines[len(lines)-20:]...), "\n")
	}
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "test timed out") {
		t.Fatalf("%v\n%s", err, output)
	}
	if strings.Contains(string(out), "\nfatal error: ") && len(tests) == 1 {
		return nil, output // a crash of the only test
	}
	var failed []string
	for _, match := range failure.FindAllStringSubmatch(string(out), -1) {
		failed = append(failed, match[1]+match[2])
	}
	require.Equal(t, err != nil, len(failed) > 0, "%v\n%s", err, output)
	return slices.DeleteFunc(slices.Clone(tests), func(name string) bool { return slices.Contains(failed, name) }), output
}

func root(t *testing.T) string {
	dir, err := filepath.Abs("../../..")
	require.NoError(t, err)
	return dir
}
