package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuiltinList(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run("", strings.NewReader("qwerty\nzu3.Eq-o\n"), &out, io.Discard))
	require.Equal(t, "leaked, nearly certainly\nnot in the list\n", out.String())
	require.Error(t, run(filepath.Join(t.TempDir(), "none"), nil, nil, nil))
}

// lines receives each written line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestNewList: a bad list is not used, a good one is.
func TestNewList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, publish(path, "a"))
	in, typed := io.Pipe()
	out, log := make(lines), make(lines)
	ended := make(chan error)
	go func() { ended <- run(path, in, out, log) }()
	ask := func(password string) string {
		_, err := io.WriteString(typed, password+"\n")
		require.NoError(t, err)
		return <-out
	}
	require.Equal(t, "leaked, nearly certainly\n", ask("a"))
	require.NoError(t, os.WriteFile(path, []byte("no list"), 0o600))
	require.Contains(t, <-log, "the old list stays")
	require.Equal(t, "leaked, nearly certainly\n", ask("a"))
	require.NoError(t, publish(path, "b"))
	require.Contains(t, <-log, "a new list")
	require.Equal(t, "not in the list\n", ask("a"))
	require.Equal(t, "leaked, nearly certainly\n", ask("b"))
	require.NoError(t, typed.Close())
	require.NoError(t, <-ended)
}

// TestLongLine: a line longer than any buffer is a password like any other.
func TestLongLine(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run("", strings.NewReader(strings.Repeat("x", 1<<17)+"\nqwerty\n"), &out, io.Discard))
	require.Equal(t, "not in the list\nleaked, nearly certainly\n", out.String())
}
