package testkit

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program that a test needs. If the program is missing, Program calls Missing. debian is
// the program's Debian package.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" (Debian: "+debian+")")
	}
	return path
}

// Missing skips a test because a tool is missing. If BLOOM_REQUIRE is set, Missing fails the test instead.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("BLOOM_REQUIRE") != "" {
		t.Fatalf("missing %s, and BLOOM_REQUIRE is set: see .ci/install", what)
	}
	t.Skipf("NOT TESTED without %s: see .ci/install", what)
}

// ByIndex returns the field Positions of a bloom.Definition. Position i of a key, 0 <= i < k, is index(h1, h2, i, m).
func ByIndex(index func(h1, h2 uint64, i int, m uint64) uint64) func(m uint64, k int) (func(h1, h2 uint64, i int) uint64, error) {
	return func(m uint64, _ int) (func(h1, h2 uint64, i int) uint64, error) {
		return func(h1, h2 uint64, i int) uint64 { return index(h1, h2, i, m) }, nil
	}
}

// Filter takes the results of a call such as bloom.NewScheme and returns an empty filter with the scheme, or the error.
func Filter[F any, S interface{ Filter() (F, error) }](scheme S, err error) (filter F, _ error) {
	if err != nil {
		return filter, err
	}
	return scheme.Filter()
}
