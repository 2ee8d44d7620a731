//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder is for one crawler at a time, and for the next one as soon as that has
// closed it.
func TestStateIsLocked(t *testing.T) {
	dir := t.TempDir()
	s, err := openTestState(t, dir)
	require.NoError(t, err)
	one := found(t, s, "/1", 0)
	logPath := filepath.Join(dir, "frontier.log")
	before, err := os.ReadFile(logPath)
	require.NoError(t, err)

	for range 2 {
		_, err = openTestState(t, dir)
		require.ErrorIs(t, err, errLocked)
		require.ErrorContains(t, err, dir+": a crawler is already running on this folder")
	}
	after, err := os.ReadFile(logPath)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the one that is refused writes nothing")

	found(t, s, "/2", 0) // the first one is none the worse for it
	s.done(one)
	require.NoError(t, s.close())
	s, err = openTestState(t, dir)
	require.NoError(t, err)
	require.Len(t, s.pending, 1)
	require.NoError(t, s.close())
}

// What cannot be opened is not left locked.
func TestStateIsUnlockedByFailure(t *testing.T) {
	dir := t.TempDir()
	logPath := filepath.Join(dir, "frontier.log")
	require.NoError(t, os.WriteFile(logPath, []byte("crawl of something else\n"), 0o666))
	_, err := openTestState(t, dir)
	require.ErrorContains(t, err, "it is of a crawl of something else")
	require.NoError(t, os.Truncate(logPath, 0)) // still the same file, with its lock if it has one
	s, err := openTestState(t, dir)
	require.NoError(t, err)
	require.NoError(t, s.close())
}

// A crawler in another process has the folder until it is killed, and not a moment longer.
func TestStateIsUnlockedByKill(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	site := newCountingServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(asked) })
		select { // until the child is killed, or the test has failed
		case <-r.Context().Done():
		case <-release:
		}
	}))
	t.Cleanup(func() { close(release) }) // before the server waits for its handlers
	dir := filepath.Join(t.TempDir(), "state")
	args := []string{"-rate", "0", "-timeout", "1h", "-state", dir, site.URL}
	child := exec.Command(os.Args[0], args...)
	child.Env = append(os.Environ(), childName+"=1")
	ended := make(chan error, 1)
	require.NoError(t, child.Start())
	go func() { ended <- child.Wait() }()
	defer child.Process.Kill()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatal("the crawler asks for nothing and ends:", err)
	}

	cfg, err := parseFlags(args, io.Discard)
	require.NoError(t, err)
	_, err = openState(cfg)
	require.ErrorIs(t, err, errLocked)
	status, out, errOut := runCrawler(t, args...)
	require.Equal(t, exitFail, status, out)
	require.Contains(t, errOut, "crawler: -state: "+dir+": a crawler is already running on this folder")

	require.NoError(t, child.Process.Kill())
	<-ended
	s, err := openState(cfg)
	require.NoError(t, err)
	require.NoError(t, s.close())
}
