//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/persist"
)

// startDedup starts dedup with a filter for many keys.
func startDedup(t *testing.T, path string) (cmd *exec.Cmd, in io.WriteCloser, out io.Reader) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = &exec.Cmd{Path: self, Args: []string{"bloom-saves-often", "dedup", "-q", "--filter", path, "-n", "100000", "-p", "1e-12"}}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil || cmd.Start() != nil {
		t.Fatal(err1, err2, "it does not start")
	}
	return cmd, in, out
}

// TestKilledDedup: dedup is killed at random moments, while its reader is fast, slow or stands still. Each line
// was printed or is not in the file. After SIGTERM and Ctrl-C, exactly the printed lines are in it.
func TestKilledDedup(t *testing.T) {
	heedSignals(t)
	const lines = 60_000
	rng := rand.New(rand.NewPCG(1, 2))
	saved := 0
	for round := range testkit.Times(9, 30, 600) {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[round%3]
		path := filepath.Join(t.TempDir(), "seen.bloom")
		cmd, in, out := startDedup(t, path)
		piece := 1 + rng.IntN(3000)
		go func() {
			for i := 0; i < lines; i += piece {
				var text strings.Builder
				for j := i; j < min(i+piece, lines); j++ {
					fmt.Fprintf(&text, "line %d\n", j)
				}
				io.WriteString(in, text.String())
			}
		}() // in stays open
		var printed bytes.Buffer
		io.CopyN(&printed, out, 1+rng.Int64N(lines*9)) // and then its reader stands still
		time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		io.Copy(&printed, out)
		cmd.Wait()
		in.Close()
		if want := map[syscall.Signal]int{syscall.SIGKILL: -1, syscall.SIGTERM: 143, syscall.SIGINT: 130}[signal]; cmd.ProcessState.ExitCode() != want {
			t.Fatalf("%v: status %d, want %d", signal, cmd.ProcessState.ExitCode(), want)
		}
		n := bytes.Count(printed.Bytes(), []byte("\n"))
		if text := printed.String(); n > 0 && !strings.HasPrefix(text[strings.LastIndex(text[:strings.LastIndex(text, "\n")], "\n")+1:], fmt.Sprintf("line %d\n", n-1)) {
			t.Fatalf("%d lines, and not the first ones", n)
		}
		f, err := persist.Load(path)
		if errors.Is(err, fs.ErrNotExist) && signal == syscall.SIGKILL {
			continue
		}
		if err != nil {
			t.Fatal(signal, err)
		}
		saved++
		for i := range lines {
			in := f.ContainsString(fmt.Sprintf("line %d", i))
			if i >= n && in {
				t.Fatalf("%v: line %d of %d printed ones is in the file", signal, i, n)
			} else if i < n && !in && signal != syscall.SIGKILL {
				t.Fatalf("%v: line %d of %d printed ones is not in the file", signal, i, n)
			}
		}
	}
	t.Logf("%d files", saved)
}

// TestDedupSavesWhileIdle: the filter is saved while no input comes, and not again without a change.
func TestDedupSavesWhileIdle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.bloom")
	cmd, in, out := startDedup(t, path)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for _, line := range []string{"first\n", "second\n"} {
		io.WriteString(in, line)
		if _, err := io.ReadFull(out, make([]byte, len(line))); err != nil {
			t.Fatal(err)
		}
		for f := (*bloom.BloomFilter)(nil); f == nil || !f.ContainsString(strings.TrimSpace(line)); f, _ = persist.Load(path) {
			time.Sleep(time.Millisecond)
		}
	}
	before, _ := os.Stat(path)
	time.Sleep(20 * time.Millisecond)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was saved again: %v", err)
	}
}
