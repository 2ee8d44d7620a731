package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A shownCommand runs with standard error on a terminal, and shows its progress every millisecond.
type shownCommand struct {
	*exec.Cmd
	in      io.WriteCloser
	screen  *os.File
	printed []byte // on the terminal
}

func startOnTerminal(t *testing.T, command string, stdout *os.File) *shownCommand {
	t.Helper()
	screen, terminal := openTerminal(t)
	defer terminal.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &shownCommand{Cmd: &exec.Cmd{Path: self, Args: strings.Fields("bloom-shows-often " + command), Stdout: stdout, Stderr: terminal}, screen: screen}
	if stdout == nil {
		c.Stdout = terminal
	}
	c.Env = append(os.Environ(), "TERM=xterm")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if c.in, err = c.StdinPipe(); err != nil || c.Start() != nil {
		t.Fatal(err, "it does not start")
	}
	return c
}

// read reads what is printed on the terminal, until it contains text, or to the end.
func (c *shownCommand) read(t *testing.T, text string) {
	t.Helper()
	buf := make([]byte, 1<<10)
	for text == "" || !bytes.Contains(c.printed, []byte(text)) {
		n, err := c.screen.Read(buf)
		c.printed = append(c.printed, buf[:n]...)
		if err != nil && text != "" {
			t.Fatalf("%q: %q, want %q", c.Args, c.printed, text)
		} else if err != nil {
			return
		}
	}
}

var controls = regexp.MustCompile(`\x1b\[(?:K|\?7[lh])|(?s:.)`)

// onScreen returns what the terminal displays at the end.
func (c *shownCommand) onScreen() string {
	var all, line []byte
	column := 0
	for _, char := range controls.FindAll(c.printed, -1) {
		switch s := string(char); s {
		case "\r":
			column = 0
		case "\n":
			all, line, column = append(append(all, line...), '\n'), nil, 0
		case "\x1b[K":
			line = line[:column]
		case "\x1b[?7l", "\x1b[?7h":
		default:
			line = append(line[:column], append(char[:1:1], line[min(column+1, len(line)):]...)...)
			column++
		}
	}
	return string(append(all, line...))
}

// TestProgress: on a terminal, long work shows bytes and keys. In the end, and after a warning, the terminal displays
// what it would display without. With -q, without a terminal, and from the first line printed to the terminal on, there
// is no progress at all.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "seen.bloom")
	expectRun(t, statusFound, "build", "-n", "1000", "-p", "1e-6", "-o", path, "-k", "a")
	filter, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, shown, first, rest string
		toTerminal                  bool
	}{
		{"build --force -n 1000 -o FILE", "bloom: 4 B read, 2 keys", "a\nb\n", "c\r\n", false},
		{"add FILE", "bloom: 4 B read, 2 keys", "a\nb\n", "c\r\n", false},
		{"check -v FILE", "bloom: 4 B read, 2 keys", "a\nb\n", "c\r\n", false},
		{"check -c FILE", "bloom: 4 B read, 2 keys", "a\nb\n", "c\r\n", true},
		{"dedup -n 10", "bloom: 4 B read, 2 keys", "a\nb\n", "c\r\n", false},
		{"union --force -o FILE -", "bloom: 100 B read", string(filter[:100]), string(filter[100:]), false},
		{"build -q --force -n 1000 -o FILE", "", "a\nb\n", "c\r\n", false},
		{"dedup -n 10", "", "a\nb\n", "c\n", true},
		{"check -v FILE", "", "a\nb\n", "c\n", true},
	} {
		command := strings.ReplaceAll(c.command, "FILE", path)
		run := func(stderr io.Writer) (string, *shownCommand) {
			out, err := os.Create(filepath.Join(dir, "out"))
			if err != nil || os.WriteFile(path, filter, 0o600) != nil {
				t.Fatal(err, "no file")
			}
			defer out.Close()
			stdout := out
			if c.toTerminal {
				stdout = nil
			}
			cmd := startOnTerminal(t, command, stdout)
			io.WriteString(cmd.in, c.first)
			if c.shown == "" {
				time.Sleep(30 * time.Millisecond) // when it could show progress
			} else {
				cmd.read(t, c.shown)
			}
			io.WriteString(cmd.in, c.rest)
			cmd.in.Close()
			cmd.read(t, "")
			cmd.Wait()
			printed, _ := os.ReadFile(out.Name())
			return string(printed), cmd
		}
		lines, cmd := run(nil)
		seen := cmd.printed
		if c.toTerminal && c.shown == "" { // reading the filter may have shown progress before
			_, seen, _ = bytes.Cut(seen, []byte("\n"))
		}
		if shown := bytes.Contains(seen, []byte("\x1b")); shown != (c.shown != "") {
			t.Errorf("%s: %q", command, cmd.printed)
		}
		var out, said bytes.Buffer
		os.WriteFile(path, filter, 0o600)
		pipe := exec.Command(cmd.Path)
		pipe.Args, pipe.Stdin, pipe.Stdout, pipe.Stderr = cmd.Args, strings.NewReader(c.first+c.rest), &out, &said
		if c.toTerminal {
			pipe.Stdout = &said
		}
		pipe.Run()
		want := strings.ReplaceAll(said.String(), "\r", "")
		if got := cmd.onScreen(); got != want || strings.Contains(said.String(), "\x1b") || lines != out.String() {
			t.Errorf("%s: %q and %q, want %q and %q", command, got, lines, want, &out)
		}
	}
}

// TestProgressEndsAtCtrlC: the size of the input is known, and Ctrl-C leaves only its message.
func TestProgressEndsAtCtrlC(t *testing.T) {
	heedSignals(t)
	zeros := writeFile(t, nil)
	if err := os.Truncate(zeros, 1<<40); err != nil {
		t.Skip("NOT TESTED: a large input, because there is no room for a file with a hole")
	}
	cmd := startOnTerminal(t, "build -0 -n 10 -o "+zeros+".bloom "+zeros, nil)
	cmd.read(t, " of 1.1 TB read, ")
	io.WriteString(cmd.screen, "\x03")
	cmd.read(t, "")
	cmd.Wait()
	if got := cmd.onScreen(); cmd.ProcessState.ExitCode() != 130 || strings.TrimPrefix(got, "^C") != "bloom: interrupt\n" {
		t.Errorf("status %d, %q", cmd.ProcessState.ExitCode(), got)
	}
}
