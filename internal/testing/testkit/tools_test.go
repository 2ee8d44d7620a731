package testkit

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMissingProgram runs the test below: without the program it is skipped, and fails if BLOOM_REQUIRE is set.
func TestMissingProgram(t *testing.T) {
	for env, want := range map[string]string{"BLOOM_REQUIRE=": "--- SKIP: TestNeedsProgram", "BLOOM_REQUIRE=1": "--- FAIL: TestNeedsProgram"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNeedsProgram$", "-test.v")
		cmd.Env = append(os.Environ(), env, "BLOOM_PROGRAM=no-such-program")
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || !strings.Contains(string(out), "Debian: some-package") || (err != nil) != strings.Contains(want, "FAIL") {
			t.Errorf("%s: %v\n%s\nwant %s", env, err, out, want)
		}
	}
}

func TestNeedsProgram(t *testing.T) {
	if name := os.Getenv("BLOOM_PROGRAM"); name != "" {
		Program(t, name, "some-package")
	}
}
