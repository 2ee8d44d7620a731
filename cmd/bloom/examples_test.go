package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"
)

// TestHelpExamples runs every line of the help that is a command, in the order in which they
// stand, in a folder that has the files they speak of.
func TestHelpExamples(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOT TESTED without sh: the examples in the help texts")
	}
	var tried int
	var try func(c *cobra.Command)
	try = func(c *cobra.Command) {
		t.Run(c.Name(), func(t *testing.T) {
			dir := exampleFolder(t, c.Name() == "bloom" || c.Name() == "build" || c.Name() == "secrets")
			for line := range strings.Lines(c.Long + "\n\n" + c.Example) {
				command, isExample := exampleOf(line)
				if !isExample {
					continue
				}
				tried++
				run := exec.Command(shell, "-c", command)
				run.Dir = dir
				run.Env = append(os.Environ(), "url=https://go.dev/", keyVariable+"=", "PATH="+dir+"/bin"+string(os.PathListSeparator)+os.Getenv("PATH"))
				if out, err := run.CombinedOutput(); err != nil {
					t.Errorf("%s\n%v: %s", command, err, out)
				}
			}
		})
		for _, sub := range c.Commands() {
			try(sub)
		}
	}
	try(newRoot(&env{}))
	if tried < 25 {
		t.Errorf("%d examples, want 25 and more", tried)
	}
}

// exampleOf returns the command in a line of a help text: an indented one.
func exampleOf(line string) (command string, ok bool) {
	text, indented := strings.CutPrefix(line, "  ")
	if !indented || strings.HasPrefix(text, " ") {
		return "", false
	}
	command = strings.TrimSpace(text)
	if strings.HasPrefix(command, "bloom  ") || strings.HasPrefix(command, "bloom completion") { // a format; a file in the home folder
		return "", false
	}
	first, _, _ := strings.Cut(command, " ")
	switch first {
	case "bloom", "cat", "head", "if", "xz":
		return command, true
	}
	return "", false
}

// exampleFolder makes the files that the examples read, and the filter that most of them have
// unless they begin by making it.
func exampleFolder(t *testing.T, withoutFilter bool) string {
	dir := t.TempDir()
	write := func(name string, data []byte, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), data, mode); err != nil {
			t.Fatal(err)
		}
	}
	keys := []byte("https://go.dev/\nhttps://example.com/\n")
	for _, name := range []string{"urls.txt", "more.txt", "today.txt"} {
		write(name, keys, 0o600)
	}
	write("a.log", []byte("1.2.3.4 - - [22/Nov/2026:18:00:00 +0000] \"GET https://go.dev/ HTTP/1.1\" 200 5\n"), 0o600)
	write("candidates.txt", append(keys, "https://new.example/\n"...), 0o600)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(keys)
	z.Close()
	write("urls.txt.gz", packed.Bytes(), 0o600)
	if !withoutFilter {
		for _, name := range []string{"seen.bloom", "monday.bloom", "tuesday.bloom", "wednesday.bloom"} {
			expectRun(t, statusFound, "build", "-n", "1e6", "-p", "0.001", "-o", filepath.Join(dir, name), filepath.Join(dir, "urls.txt"))
		}
	}
	// In place of another machine, and of a program that may not be there.
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("bin/ssh", []byte("#!/bin/sh\nshift\nexec sh -c \"$*\"\n"), 0o700)
	write("bin/jq", []byte("#!/bin/sh\nexec cat\n"), 0o700)
	write("bin/xz", []byte("#!/bin/sh\necho https://go.dev/\n"), 0o700)
	return dir
}
