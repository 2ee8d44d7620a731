package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	for _, key := range passwords {
		f.AddString(key)
	}
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
	require.NoError(t, os.WriteFile(path+".bad", []byte("no list"), 0o600))
	require.NoError(t, os.Rename(path+".bad", path)) // in one step, or half of it would be other news
	require.Contains(t, <-news, "the old list stays")
	require.Equal(t, "leaked, nearly certainly\n", ask("a"))
	require.NoError(t, publish(path, "b"))
	require.Contains(t, <-news, "a new list")
	require.Equal(t, "not in the list\n", ask("a"))
	require.Equal(t, "leaked, nearly certainly\n", ask("b"))
	require.NoError(t, typed.Close())
	require.NoError(t, <-ended)
}

// TestReadsAsTheCommand: of a file from anywhere, passwords finds in a list the lines that bloom check finds,
// which are all lines of the file from which bloom build made the list.
func TestReadsAsTheCommand(t *testing.T) {
	dir := t.TempDir()
	bloomCommand := filepath.Join(dir, "bloom.exe")
	workspace, err := filepath.Abs("../../go.work")
	require.NoError(t, err)
	build := exec.Command("go", "build", "-o", bloomCommand, "./bloom")
	build.Dir, build.Env = "../../cmd", append(os.Environ(), "GOWORK="+workspace)
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	leaked := "\ufeffmarked\n123456\r\nletmein\n\n two words \tand tabs\n" + strings.Repeat("long", 30_000) + "\nqwerty\r\r\npass\rword\nthe last one has no newline"
	other := strings.ReplaceAll(leaked, "\r", "") + "\r\n" + strings.ReplaceAll(leaked, "\n", "\r\n") + "\nanother"
	run := func(args ...string) []byte {
		out, err := exec.Command(bloomCommand, args...).Output()
		require.NoError(t, err)
		return out
	}
	path := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	list := filepath.Join(dir, "list")
	run("build", "-o", list, "-p", "1e-9", path("leaked.txt", leaked))
	for _, text := range []string{leaked, other} {
		var answers, found strings.Builder
		require.NoError(t, check(list, strings.NewReader(text), &answers, io.Discard))
		said := strings.Split(strings.TrimSuffix(answers.String(), "\n"), "\n")
		lines := strings.Split(text, "\n")
		require.Len(t, said, len(lines))
		for i, line := range lines {
			if said[i] == "leaked, nearly certainly" {
				found.WriteString(line + "\n")
			}
		}
		require.Equal(t, string(run("check", list, path("text", text))), found.String())
		if text == leaked {
			require.NotContains(t, answers.String(), "not in the list")
		}
	}
}
