//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

// TestAbortedPipelines: a signal to the whole group of FEEDER | bloom ends bloom with its status, although bloom reads
// the end of its input, too. Files stay as they were, and check tells nothing of half an input. All processors are
// busy, so that the signal is often handled after the end of the input was read.
func TestAbortedPipelines(t *testing.T) {
	heedSignals(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range runtime.NumCPU() {
		busy := exec.Command("/bin/sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer busy.Wait()
		defer busy.Process.Kill()
	}
	dir := t.TempDir()
	path, fifo, other := filepath.Join(dir, "seen.bloom"), makeFIFO(t), filepath.Join(dir, "other.bloom")
	expectRun(t, statusFound, "build", "-n", "1000", "-o", other, "-k", "other")
	expectRun(t, statusFound, "build", "-n", "1000", "-o", path, "-k", "in")
	before, _ := os.ReadFile(path)
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	const fast, slow = "exec yes", "while echo y; do sleep 0.01; done"
	filter := fmt.Sprintf("cat %s; exec sleep 100", other)
	for _, c := range []struct{ command, feeder string }{
		{"build -q -n 1000 --force -o FILE", fast}, {"build -q -n 1000 --force -o FILE", slow}, {"build -q -n 1000 --force -o FILE " + fifo, slow + " >" + fifo},
		{"build -q -n 1000 -o -", fast},
		{"add -q FILE", fast}, {"add -q FILE", slow},
		{"check -c FILE", fast}, {"check -c FILE", slow}, {"check -q FILE", fast},
		{"union --force -o FILE -", filter}, {"union --force -o FILE -", "head -c 200 " + other + "; exec sleep 100"},
		{"dedup -q -n 1000", slow},
		{"info -", filter},
	} {
		failed, early := 0, 2
		for trial := 0; trial < testkit.Times(10, 10, 400); trial++ {
			signal := signals[trial%len(signals)]
			feeder := exec.Command("/bin/sh", "-c", c.feeder)
			feeder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := feeder.StdoutPipe()
			if err != nil || feeder.Start() != nil {
				t.Fatal(err, "it does not start")
			}
			var said bytes.Buffer
			cmd := &exec.Cmd{
				Path: self, Args: append([]string{"bloom"}, strings.Fields(strings.ReplaceAll(c.command, "FILE", path))...),
				Stdin: out, Stdout: &said, Stderr: &said, SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pgid: feeder.Process.Pid},
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out.Close() // so that bloom alone reads
			time.Sleep(time.Duration(10*early+trial%10) * time.Millisecond)
			if err := syscall.Kill(-feeder.Process.Pid, signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			feeder.Wait()
			if cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() && early < 100 { // killed before it caught signals
				early++
				trial--
				continue
			}
			after, _ := os.ReadFile(path)
			status := cmd.ProcessState.ExitCode()
			if strings.HasPrefix(c.command, "dedup") {
				said.Next(len("y\n"))
			}
			if status != statusSignal+int(signal) || !bytes.Equal(after, before) || strings.Count(said.String(), "\n") != 1 {
				if failed++; failed == 1 {
					t.Errorf("%s | bloom %s, %v: status %d, %q, saved: %v", c.feeder, c.command, signal, status, &said, !bytes.Equal(after, before))
				}
				os.WriteFile(path, before, 0o600)
			}
		}
		if failed > 0 {
			t.Errorf("%s | bloom %s: %d failed", c.feeder, c.command, failed)
		}
	}
}
