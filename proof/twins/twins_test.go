// Package twins shows that the tests can fail. For each of the twins it breaks the
// code in one way, on the side, runs the tests that should notice, and requires that
// every one of them fails, at the latest in the fourth run. Run it with
//
//	go test ./twins -run . -twins essential -v    (or: all, or part of a name)
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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var which = flag.String("twins", "", `which twins to try: "essential", "all" or part of a name`)

// A twin is the code with a mistake in it.
type twin struct {
	name  string
	edits []edit
	tests []string // each of them must fail
	in    string   // the folder whose tests they are, from the root of the repository
	slow  bool     // not one of the essential ones
	long  bool     // the tests do not find it with -short
	hangs bool     // they find it by not ending
	right bool     // there is no mistake, and the tests must pass
}

// An edit replaces text of a file, which must be there: so often, or once if times
// is 0.
type edit struct {
	file, old, new string
	times          int
}

var twins = slices.Concat(rootTwins, fileTwins, scalableTwins, rotatingTwins, countingTwins, frameTwins, ticketTwins, stepTwins, interopTwins, persistTwins, guardTwins, cascadeTwins, formatTwins, redisTwins, oneKeyTwins, growingTwins, windowTwins, cliTwins)

// maxTries is how often the tests of a twin may run until one run of them fails.
const maxTries = 4

// caughtBy reports whether all of the tests that should fail did.
func (w twin) caughtBy(failed []string) bool {
	return !slices.ContainsFunc(w.tests, func(test string) bool { return !slices.Contains(failed, test) })
}

func TestTwinsAreCaught(t *testing.T) {
	if *which == "" {
		t.Skip("NOT TESTED without -twins: that each test catches the mistake that it is there for")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var table sync.Map
	tried := 0
	t.Run("all", func(t *testing.T) {
		for _, w := range twins {
			if *which != "all" && (*which != "essential" || w.slow) && !strings.Contains(w.name, *which) {
				continue
			}
			tried++
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				failed, output := w.run(t, root)
				if w.right {
					require.Empty(t, failed, "%s\n%s", w.name, tail(output))
					table.Store(w.name, "passes")
					return
				}
				// Two goroutines need not meet in one run of a test. That a mistake can be
				// seen is shown by any run; one that was not seen at first stands in the table.
				tries := 1
				for ; tries < maxTries && !w.caughtBy(failed); tries++ {
					failed, output = w.run(t, root)
				}
				for _, test := range w.tests {
					if !slices.Contains(failed, test) {
						t.Errorf("%s does not notice in %d runs: %s\n%s", test, tries, w.name, tail(output))
					}
				}
				caught := strings.Join(failed, ", ")
				if tries > 1 {
					caught += fmt.Sprintf(" in run %d", tries)
				}
				table.Store(w.name, fmt.Sprintf("%s (%.0f s)", caught, time.Since(began).Seconds()))
			})
		}
	})
	require.Positive(t, tried, "no twin of that name")
	for _, w := range twins {
		if caught, ok := table.Load(w.name); ok {
			t.Logf("| %s | %s |", w.name, caught)
		}
	}
}

// TestEditsMatch is quick and needs no flag: a twin whose text is gone tests nothing.
func TestEditsMatch(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, w := range twins {
		require.False(t, names[w.name], "two twins are named %q", w.name)
		names[w.name] = true
		require.NotEmpty(t, w.tests, w.name)
		for file, text := range w.apply(t, root) {
			original, err := os.ReadFile(file)
			require.NoError(t, err)
			if text == string(original) {
				t.Errorf("%s: nothing is changed", w.name)
			}
		}
	}
	t.Logf("%d twins", len(names))
}

// apply returns the files with the mistake in them, by their paths.
func (w twin) apply(t *testing.T, root string) map[string]string {
	files := map[string]string{}
	for _, e := range w.edits {
		path := filepath.Join(root, e.file)
		text, ok := files[path]
		if !ok {
			raw, err := os.ReadFile(path)
			require.NoError(t, err, w.name)
			text = string(raw)
		}
		if n, want := strings.Count(text, e.old), max(1, e.times); n != want {
			t.Errorf("%s: the text to replace in %s is there %d times, want %d:\n%s", w.name, e.file, n, want, e.old)
		}
		files[path] = strings.ReplaceAll(text, e.old, e.new)
	}
	return files
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)|^\trunning tests:\n\t\t(\w+)`)

// run runs the twin's tests with the go command reading the broken files in place of
// the good ones, and returns which of them failed.
func (w twin) run(t *testing.T, root string) (failed []string, output string) {
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range w.apply(t, root) {
		broken := filepath.Join(dir, filepath.Base(path))
		require.NoError(t, os.WriteFile(broken, []byte(text), 0o644))
		replace[path] = broken
	}
	overlay := filepath.Join(dir, "overlay.json")
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, raw, 0o644))

	timeout := "3m"
	if w.hangs {
		timeout = "20s"
	}
	args := []string{"test", "-vet=off", "-count=1", "-timeout=" + timeout, "-run", "^(" + strings.Join(w.tests, "|") + ")$"}
	if !w.long {
		args = append(args, "-short")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = filepath.Join(root, w.in)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-overlay="+overlay)
	// Not where a goroutine of the test never waits for another: it would hog the one.
	if !slices.Contains(w.tests, "TestNoMissesUnderConcurrency") && slices.ContainsFunc(w.edits, func(e edit) bool { return strings.Contains(e.new, "func yield()") }) {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1") // so that to yield is to let another goroutine go on
	}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "[build failed]") || !w.hangs && strings.Contains(string(out), "test timed out") {
		t.Fatalf("%s: %v\n%s", w.name, err, tail(string(out)))
	}
	for _, match := range failure.FindAllStringSubmatch(string(out), -1) {
		failed = append(failed, match[1]+match[2])
	}
	if strings.Contains(string(out), "\nfatal error: fault\n") && len(w.tests) == 1 {
		failed = w.tests // memory that may not be written to is notice enough
	}
	if err != nil && failed == nil {
		t.Fatalf("%s: %v\n%s", w.name, err, tail(string(out)))
	}
	return failed, string(out)
}

func tail(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
