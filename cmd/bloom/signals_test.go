//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestSignals: Ctrl-C and SIGTERM leave whole lines, no lock and the old filter, or with dedup that of the
// printed lines.
func TestSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		for _, command := range []string{"dedup --filter FILE -n 1000", "add FILE", "build -n 10 --force -o FILE", "check FILE"} {
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
			rest, _ := io.ReadAll(lines)
			err = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != status || len(rest) > 0 || !strings.HasPrefix(said.String(), "bloom: ") || !strings.HasSuffix(said.String(), "bloom: "+map[int]string{130: "interrupt", 143: "terminated"}[status]+"\n") {
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

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
