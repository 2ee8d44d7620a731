package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestTwoWriters: two that add to one file at the same time come one after the other, and no
// key is lost.
func TestTwoWriters(t *testing.T) {
	for _, args := range [][]string{{"add", "FILE"}, {"dedup", "--filter", "FILE", "-n", "1000"}} {
		path := filepath.Join(t.TempDir(), "seen.bloom")
		if args[0] == "add" {
			expectRun(t, statusFound, "build", "-n", "1000", "-o", path, os.DevNull)
		}
		command := strings.Fields(strings.ReplaceAll(strings.Join(args, " "), "FILE", path))
		firstIn, first := io.Pipe()
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			if status := run(t.Context(), command, firstIn, io.Discard, io.Discard); status != statusFound {
				t.Errorf("%q: the first ends with %d", args, status)
			}
		})
		io.WriteString(first, "apple\n") // it is taken when the filter is loaded

		// The second one waits, or is done: then it has to have been refused.
		said := &firstWrite{happened: make(chan struct{})}
		second := make(chan int)
		go func() { second <- run(t.Context(), command, strings.NewReader("pear\n"), io.Discard, said) }()
		status := -1
		select {
		case <-said.happened:
		case status = <-second:
		}
		first.Close()
		wg.Wait()
		if status < 0 {
			status = <-second
		}
		if status != statusFound {
			t.Errorf("%q: the second ends with %d", args, status)
		}
		for _, key := range []string{"apple", "pear"} {
			expectRun(t, statusFound, "check", "-q", path, "-k", key)
		}
		if leftovers, _ := filepath.Glob(path + "*"); len(leftovers) != 1 {
			t.Errorf("%q leave %q", args, leftovers)
		}
	}
}

// TestManyWriters is the same in numbers.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "seen.bloom")
	expectRun(t, statusFound, "build", "-n", "1000", "-p", "1e-9", "-o", path, os.DevNull)
	var wg sync.WaitGroup
	var all bytes.Buffer
	for w := range 8 {
		var keys strings.Builder
		for i := range 20 {
			fmt.Fprintln(&keys, w, i)
		}
		all.WriteString(keys.String())
		wg.Go(func() {
			if status := run(t.Context(), []string{"add", path}, strings.NewReader(keys.String()), io.Discard, io.Discard); status != statusFound {
				t.Error("status", status)
			}
		})
	}
	wg.Wait()
	var out bytes.Buffer
	if status := run(t.Context(), []string{"check", "-v", "-c", path}, &all, &out, io.Discard); status != statusNotFound {
		t.Errorf("%s of 160 keys are lost", strings.TrimSpace(out.String()))
	}
}

// TestLockFile: what a killed process has left is used again, and nothing else is opened.
func TestLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.bloom")
	expectRun(t, statusFound, "build", "-n", "10", "-o", path, os.DevNull)
	if err := os.WriteFile(path+lockSuffix, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, statusFound, "add", path, "-k", "apple")
	if _, err := os.Lstat(path + lockSuffix); err == nil {
		t.Error("the lock's file is left")
	}

	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, path+lockSuffix); err != nil {
		t.Skip("NOT TESTED: links of that name:", err)
	}
	_, said := expectRun(t, statusError, "add", path, "-k", "pear")
	if !strings.Contains(said, "no regular file") {
		t.Errorf("%q", said)
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("a file was made where the link leads")
	}
}
