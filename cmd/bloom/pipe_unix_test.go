//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom/persist"
)

// TestFullPipe: a signal ends a program whose reader stands still. The lines that the pipe has are whole, and dedup has
// saved their keys, and no other.
func TestFullPipe(t *testing.T) {
	const lines = 100_000
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	input, empty := writeFile(t, []byte(text.String())), filepath.Join(t.TempDir(), "empty.bloom")
	expectRun(t, statusFound, "build", "-n", "1", "-o", empty, os.DevNull)
	for _, command := range []string{"dedup --filter FILE -n 100000 -p 1e-12", "dedup -n 100000", "check -v " + empty, "build -n 10M -o -"} {
		for _, both := range []bool{false, true} { // standard output and standard error
			path := filepath.Join(t.TempDir(), "seen.bloom")
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields("bloom "+strings.ReplaceAll(command, "FILE", path)), input)
			cmd := &exec.Cmd{Path: self, Args: args, Stdout: write}
			if both {
				cmd.Stderr = write
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for hasRoom(int32(write.Fd())) {
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			write.Close()
			if status := cmd.ProcessState.ExitCode(); status != 143 {
				t.Errorf("%s: status %d", command, status)
			}
			printed, err := io.ReadAll(read)
			if err != nil || len(printed) == 0 {
				t.Fatal(len(printed), err)
			}
			if strings.HasPrefix(command, "build") {
				continue
			}
			n := strings.Count(string(printed), "\n")
			if !strings.HasPrefix(text.String(), string(printed)) || printed[len(printed)-1] != '\n' || n == lines {
				t.Fatalf("%s: %d lines, which end in %q", command, n, printed[len(printed)-20:])
			}
			if strings.HasPrefix(command, "dedup --filter") {
				f, err := persist.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				for i := range lines {
					if f.ContainsString(fmt.Sprintf("line %d", i)) != (i < n) {
						t.Fatalf("%d lines printed: line %d in the file: %v", n, i, i >= n)
					}
				}
			}
		}
	}
}

// TestFullPipeInALine: a line that a signal cuts off counts as not printed.
func TestFullPipeInALine(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	path := filepath.Join(t.TempDir(), "seen.bloom")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for hasRoom(int32(write.Fd())) {
		}
		cancel(exit{143, "terminated"})
	}()
	var said bytes.Buffer
	in := strings.NewReader("first\n" + strings.Repeat("x", 4<<20) + "\n")
	status := run(ctx, []string{"dedup", "-q", "--filter", path, "-n", "10"}, in, &pipe{ctx, write, int32(write.Fd())}, &said)
	if status != 143 || said.String() != "bloom: terminated, and the output is cut off\n" || fileExists(path) {
		t.Errorf("status %d, %s, saved: %v", status, &said, fileExists(path))
	}
}
