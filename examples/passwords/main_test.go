package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/persist"
	"github.com/stretchr/testify/require"
)

// lines receives each written line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// publish writes a list to a file, in one step.
func publish(path string, passwords ...string) error {
	f, err := bloom.New(uint64(len(passwords)), 1e-6)
	if err != nil {
		return err
	}
	f.AddStrings(passwords, nil)
	return persist.Save(path, f)
}

// TestNewList: a bad list is not used, a good one is.
func TestNewList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.ErrorIs(t, check(path, nil, nil, nil), os.ErrNotExist)
	require.NoError(t, publish(path, "a"))
	in, typed := io.Pipe()
	out, news := make(lines), make(lines)
	ended := make(chan error)
	go func() { ended <- check(path, in, out, news) }()
	ask := func(password string) string {
		_, err := io.WriteString(typed, password+"\n")
		require.NoError(t, err)
		return <-out
	}
	require.Equal(t, "leaked, nearly certainly\n", ask("a"))
	require.NoError(t, os.WriteFile(path, []byte("no list"), 0o600))
	require.Contains(t, <-news, "the old list stays")
	require.Equal(t, "leaked, nearly certainly\n", ask("a"))
	require.NoError(t, publish(path, "b"))
	require.Contains(t, <-news, "a new list")
	require.Equal(t, "not in the list\n", ask("a"))
	require.Equal(t, "leaked, nearly certainly\n", ask("b"))
	require.NoError(t, typed.Close())
	require.NoError(t, <-ended)
}
