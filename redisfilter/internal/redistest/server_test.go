package redistest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWithoutServer runs the test below where there is no server: it must fail, and say
// what to install; only with the variable set is it skipped.
func TestWithoutServer(t *testing.T) {
	run := func(env ...string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNeedsServer$", "-test.v")
		cmd.Env = append([]string{"PATH="}, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run()
	require.Error(t, err)
	require.Contains(t, out, "--- FAIL: TestNeedsServer")
	require.Contains(t, out, "apt-get install redis-server")
	require.Contains(t, out, Without+"=1")

	out, err = run(Without + "=1")
	require.NoError(t, err)
	require.Contains(t, out, "--- SKIP: TestNeedsServer")
}

func TestNeedsServer(t *testing.T) {
	require.NoError(t, Start(t).Client.Ping(t.Context()).Err())
}
