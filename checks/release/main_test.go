package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLongChecksPassed(t *testing.T) {
	dir := t.TempDir()
	commit := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		run(dir, nil, "git", "add", ".")
		run(dir, nil, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", name)
		return run(dir, nil, "git", "rev-parse", "HEAD")
	}
	const log = "checks/long.log"
	run(dir, nil, "git", "init", "-q")
	first := "commit " + commit("code", "1")
	require.ErrorContains(t, longChecksPassed(dir), "no such file")
	commit(log, first+"\nraces failed\n")
	require.ErrorContains(t, longChecksPassed(dir), "does not end with")
	commit(log, first+"\nall parts passed\n")
	commit(".ci/run", "")
	require.NoError(t, longChecksPassed(dir))
	commit("code", "2")
	require.ErrorContains(t, longChecksPassed(dir), "has changed: run bash .ci/long again\ncode")
}
