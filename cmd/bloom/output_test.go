package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestOutputIsNoInput: every command that reads lines or filters refuses, before it prints, to read the file to which
// it prints, under any name.
func TestOutputIsNoInput(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(t.TempDir(), "made")
	expectRun(t, statusFound, "build", "-n", "100", "-o", made, "-k", "a")
	filter, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string][]string{ // they read IN, or standard input
		"build":   {"build -n 10 -o new lines IN", "build --force -n 10 -o IN lines IN", "build -n 10 -o - IN lines", "build -n 10 -o new", "build -n 10 -o - lines -"},
		"add":     {"add other lines IN", "add IN lines", "add IN -k x", "add other", "add -q other -"},
		"check":   {"check other lines IN", "check -c other IN", "check IN lines", "check IN -k a", "check -v other", "check other lines -", "check - lines"},
		"dedup":   {"dedup -n 10 lines IN", "dedup --filter IN lines", "dedup -n 10", "dedup --filter other lines -"},
		"info":    {"info other IN", "info --json other -"},
		"union":   {"union -o new other IN", "union -o - other IN", "union -o - other -"},
		"convert": {"convert --format text -o - IN", "convert --format text -o new -"},
	}
	for _, c := range newRoot(&env{}).Commands() {
		if (c.Flags().Lookup("null") != nil || c.Flags().Lookup("secret-file") != nil) && commands[c.Name()] == nil {
			t.Errorf("what does bloom %s read?", c.Name())
		}
	}
	for _, command := range slices.Concat(slices.Collect(maps.Values(commands))...) {
		for _, name := range []string{"file", "./file", "link", "hard", "/dev/stdout", "/proc/self/fd/1"} {
			for _, same := range []bool{true, false} {
				dir := t.TempDir()
				file := filepath.Join(dir, "file")
				for name, text := range map[string][]byte{"file": filter, "other": filter, "lines": []byte("a\nb\n")} {
					if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				system := strings.HasPrefix(name, "/") // the name is of standard output, whatever that is
				if system && (!same || runtime.GOOS != "linux") ||
					name == "link" && os.Symlink("file", filepath.Join(dir, name)) != nil ||
					name == "hard" && os.Link(file, filepath.Join(dir, name)) != nil {
					continue
				}
				input, output := os.DevNull, file
				if !strings.Contains(command, "IN") {
					input = file
				}
				if !same {
					output = filepath.Join(dir, "out")
				}
				in, err1 := os.Open(input)
				out, err2 := os.OpenFile(output, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				var said strings.Builder
				args := strings.Fields("bloom " + strings.ReplaceAll(command, "IN", name))
				cmd := &exec.Cmd{Path: self, Args: args, Dir: dir, Stdin: in, Stdout: out, Stderr: &said}
				cmd.Run()
				in.Close()
				out.Close()
				after, _ := os.ReadFile(output)
				refused := strings.HasSuffix(said.String(), ": the file is also standard output, want another one to print to\n")
				switch {
				case same && (!refused || cmd.ProcessState.ExitCode() != statusError || string(after) != string(filter)):
					t.Errorf("%q: status %d, the file has %d bytes, want %d: %s", args, cmd.ProcessState.ExitCode(), len(after), len(filter), &said)
				case !same && refused:
					t.Errorf("%q, printing to another file: %s", args, &said)
				}
				if _, err := os.Stat(filepath.Join(dir, "new")); same && err == nil {
					t.Errorf("%q writes a new file", args)
				}
			}
		}
	}
}

// TestOutputThatIsNoFile: a terminal and /dev/null are read and written at the same time, and so is a pipe.
func TestOutputThatIsNoFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd := &exec.Cmd{Path: self, Args: []string{"bloom", "dedup", "-n", "10", os.DevNull, "-"}, Stdin: null, Stdout: null}
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
}
