package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a new terminal. What is printed on it is read from screen, and what is written to screen is typed.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("NOT TESTED: terminals, because there are none")
	}
	t.Cleanup(func() { screen.Close() })
	number, err1 := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	err2 := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	terminal, err3 := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	return screen, terminal
}

// TestClosedTerminal: dedup reads from a terminal that closes, and ends as at its SIGHUP, which here it does not get.
func TestClosedTerminal(t *testing.T) {
	screen, terminal := openTerminal(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "seen.bloom")
	cmd := &exec.Cmd{Path: self, Args: []string{"bloom", "dedup", "-q", "--filter", path, "-n", "1000"}, Stdin: terminal}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err, "it does not start")
	}
	terminal.Close()
	fmt.Fprintln(screen, "one")
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "one\n" {
		t.Errorf("%q, %v", line, err)
	}
	screen.Close()
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != 129 {
		t.Errorf("status %d", status)
	}
	expectRun(t, statusFound, "check", "-q", path, "-k", "one")
}
