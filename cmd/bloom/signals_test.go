//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSignals: Ctrl-C, SIGTERM and SIGHUP leave whole lines, no lock and the old filter, or with dedup that of the
// printed lines, also while a named pipe waits for its writer. A terminal that closes may send SIGHUP twice.
func TestSignals(t *testing.T) {
	heedSignals(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[syscall.Signal]string{syscall.SIGINT: "interrupt", syscall.SIGTERM: "terminated", syscall.SIGHUP: "hangup"}
	ab, fifo := writeFile(t, []byte("a\nb\n")), makeFIFO(t)
	for signal, text := range texts {
		for _, command := range []string{
			"dedup --filter FILE -n 1000", "dedup --filter FILE -n 1000 " + ab + " " + fifo, "check FILE", "check FILE " + ab + " " + fifo,
			"add FILE", "add FILE " + fifo, "build -n 10 --force -o FILE", "build -n 10 --force -o FILE " + fifo,
		} {
			status := statusSignal + int(signal)
			dir := t.TempDir()
			path := filepath.Join(dir, "seen.bloom")
			expectRun(t, statusFound, "build", "-n", "1000", "-p", "1e-6", "-s", "blocked", "-o", path, "-k", "a", "-k", "b")
			if strings.HasPrefix(command, "dedup") {
				os.Remove(path)
			}
			before, _ := os.ReadFile(path)
			cmd := &exec.Cmd{Path: self, Args: append([]string{"bloom"}, strings.Fields(strings.ReplaceAll(command, "FILE", path))...)}
			in, err1 := cmd.StdinPipe()
			out, err2 := cmd.StdoutPipe()
			var said bytes.Buffer
			cmd.Stderr = &said
			if err1 != nil || err2 != nil || cmd.Start() != nil {
				t.Fatal(err1, err2, "it does not start")
			}
			if _, err := io.WriteString(in, "a\nb\nhalf a li"); err != nil {
				t.Fatal(err)
			}
			lines, printed := bufio.NewReader(out), ""
			if strings.HasPrefix(command, "dedup") || strings.HasPrefix(command, "check") {
				for range 2 {
					line, _ := lines.ReadString('\n')
					printed += line
				}
				if printed != "a\nb\n" {
					t.Errorf("%s: %q", command, printed)
				}
			} else { // until it holds the lock
				for !fileExists(path + lockSuffix) {
					runtime.Gosched()
				}
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if signal == syscall.SIGHUP {
				cmd.Process.Signal(signal)
			}
			rest, _ := io.ReadAll(lines)
			err = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != status || len(rest) > 0 || !strings.HasPrefix(said.String(), "bloom: ") || !strings.HasSuffix(said.String(), "bloom: "+text+"\n") {
				t.Errorf("%s, %v: status %d (%v), then %q, %q", command, signal, got, err, rest, &said)
			}
			after, _ := os.ReadFile(path)
			if dedups := strings.HasPrefix(command, "dedup"); dedups != strings.Contains(said.String(), "the first 2 printed lines;") {
				t.Errorf("%s, %v: %s", command, signal, &said)
			} else if dedups {
				expectRun(t, statusFound, "check", "-q", path, "-k", "a")
				expectRun(t, statusFound, "check", "-q", path, "-k", "b")
				expectRun(t, statusNotFound, "check", "-q", path, "-k", "half a li")
			} else if !bytes.Equal(before, after) {
				t.Errorf("%s, %v: another file", command, signal)
			}
			if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
				t.Errorf("%s, %v: %q are left", command, signal, left)
			}
		}
	}
}

// ignored are the signals that nohup, or a script's &, made this process ignore. Once one has been caught, the package
// does not report it any more.
var ignored = slices.DeleteFunc([]os.Signal{syscall.SIGHUP, syscall.SIGINT}, func(s os.Signal) bool { return !signal.Ignored(s) })

// heedSignals lets programs that the test starts heed all signals.
func heedSignals(t *testing.T) {
	caught := make(chan os.Signal, 1)
	if len(ignored) > 0 { // else Notify would catch all
		signal.Notify(caught, ignored...)
	}
	t.Cleanup(func() { signal.Stop(caught) })
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func makeFIFO(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestIgnoredSignals: a signal that was ignored at the start stays ignored, as nohup wants it.
func TestIgnoredSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, signal := range map[string]syscall.Signal{"INT": syscall.SIGINT, "HUP": syscall.SIGHUP} {
		cmd := exec.Command("/bin/sh", "-c", "trap '' "+name+`; exec "$0" dedup -q -n 10`, filepath.Join(t.TempDir(), "bloom"))
		if err := os.Symlink(self, cmd.Args[3]); err != nil {
			t.Fatal(err)
		}
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err1 != nil || err2 != nil || cmd.Start() != nil {
			t.Fatal(err1, err2, "it does not start")
		}
		printed := bufio.NewReader(out)
		for _, line := range []string{"a\n", "b\n", "c\n"} {
			io.WriteString(in, line)
			if got, err := printed.ReadString('\n'); got != line {
				t.Errorf("%s: %q, %v, want %q", name, got, err, line)
			}
			cmd.Process.Signal(signal)
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEndsBeforeAPipeOpens: wherever a command reads a file, the end of its context ends the wait for a pipe's writer.
func TestEndsBeforeAPipeOpens(t *testing.T) {
	fifo, out := makeFIFO(t), filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(exit{143, "terminated"})
	for _, c := range newRoot(&env{}).Commands() {
		if c.Flags().Lookup("secret-file") == nil {
			continue // reads no file
		}
		flags := map[string]string{"build": "-n 1 -o " + out, "convert": "--format text -o " + out, "union": "-o " + out}[c.Name()]
		commands := []string{c.Name() + " " + flags + " " + fifo}
		if c.Name() == "build" {
			commands = append(commands, c.Name()+" -k a "+flags+" --secret-file "+fifo)
		}
		for _, command := range commands {
			var said bytes.Buffer
			if status := run(ctx, strings.Fields(command), strings.NewReader(""), io.Discard, &said); status != 143 || said.String() != "bloom: terminated\n" {
				t.Errorf("%s: status %d, %s", command, status, &said)
			}
		}
	}
}
