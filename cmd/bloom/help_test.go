package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/spf13/cobra"
)

// TestHelpFitsAScreen of 80 columns and 46 lines, per command.
func TestHelpFitsAScreen(t *testing.T) {
	for _, c := range newRoot(&env{}).Commands() {
		text, _ := expectRun(t, statusFound, "help", c.Name())
		if lines := strings.Count(text, "\n"); lines > 46 {
			t.Errorf("%s: %d lines", c.Name(), lines)
		}
		for line := range strings.Lines(text) {
			if len(line) > 81 {
				t.Errorf("%s: %d columns: %s", c.Name(), len(line)-1, line)
			}
		}
	}
}

// TestMessages of wrong command lines.
func TestMessages(t *testing.T) {
	for command, want := range map[string]string{
		"buidl":                          `unknown command "buidl", want one of add, build, check, completion, convert, dedup, help, info, size, union`,
		"-x check":                       `unknown shorthand flag: 'x' in -x, want one of bloom --help`,
		"nothing like it":                `unknown command "nothing", want one of add, build, `,
		"help nosuch":                    `unknown command "nosuch", want one of add, build, check, completion, convert, dedup, formats, help, info, input, secrets, size, union`,
		"completion ksh":                 `unknown command "ksh", want one of bash, fish, powershell, zsh`,
		"help completion ksh":            `unknown command "ksh", want one of bash, fish, powershell, zsh`,
		"input nosuch":                   `unknown command "nosuch", want one of add, build, `,
		"help format":                    `unknown command "format", want one of `,
		"help build it":                  `unknown command "it", want one of `,
		"size --numer 3":                 `unknown flag: --numer, want one of bloom size --help`,
		"size -y":                        `unknown shorthand flag: 'y' in -y, want one of bloom size --help`,
		"size -n":                        `--number has no value, want distinct KEYS planned for, such as 1M`,
		"size":                           `no -n and no -m, want the number of keys, the memory, or both`,
		"size -n 1 -m 1kB -p 1%":         `-n, -m and -p, want two of them: bloom size computes the third`,
		"build -n 10":                    `no --output, want -o FILE to write, - for standard output`,
		"dedup --grow --window 1h":       `--window and --grow, want at most one`,
		"size -n 10 -s bloked":           `invalid argument "bloked" for "-s, --strategy" flag: want one of double-hashing, seeded-hashing, blocked, split-block`,
		"size -n x":                      `invalid argument "x" for "-n, --number" flag: want a whole number from 1 to 2^63, such as 1000000, 1_000_000, 1e6 or 1M`,
		"size -n 1.000":                  `invalid argument "1.000" for "-n, --number" flag: 1.000 can mean 1000 or 1.000, want 1000 or 1.0000`,
		"size -n 1,000k":                 `invalid argument "1,000k" for "-n, --number" flag: 1,000 can mean 1000 or 1.000, want 1000 or 1.0000`,
		"size -n 1 -p 1/10,000":          `invalid argument "1/10,000" for "-p, --rate" flag: 10,000 can mean 10000 or 10.000, want `,
		"size -n 1 -m 1.024MB":           `invalid argument "1.024MB" for "-m, --memory" flag: 1.024 can mean 1024 or 1.024, want 1024 or 1.0240`,
		"size -n 1 -m 0B":                `invalid argument "0B" for "-m, --memory" flag: want a size from 1B`,
		"size -n 1.5":                    `invalid argument "1.5" for "-n, --number" flag: want a whole number`,
		"size -n 1e19":                   `invalid argument "1e19" for "-n, --number" flag: want a whole number`,
		"size -p 0%":                     `invalid argument "0%" for "-p, --rate" flag: want a rate between 0 and 1`,
		"size -p 100%":                   `invalid argument "100%" for "-p, --rate" flag: want a rate between 0 and 1`,
		"size -n 10 -p 2":                `invalid argument "2" for "-p, --rate" flag: want a rate between 0 and 1, such as 0.001, 1e-3, 0.1% or 1/1000`,
		"size -n 10 -s x":                `invalid argument "x" for "-s, --strategy" flag: want one of double-hashing, seeded-hashing, blocked, split-block`,
		"size -n 10 more":                `argument "more" is one too many, want bloom size -n KEYS [-p RATE] | -m SIZE {-n KEYS | -p RATE}`,
		"convert --format text -o x a b": `argument "b" is one too many, want bloom convert --format FORMAT -o NEW-FILE FILE`,
		"check":                          `no FILE, want bloom check FILE [INPUT ... | -k KEY ...]`,
		"check x -f -1":                  `invalid argument "-1" for "-f, --field" flag: want a whole number from 1, such as 2, or 2- for the line from field 2 on`,
		"check x -f 2-3":                 `invalid argument "2-3" for "-f, --field" flag: want a whole number from 1, such as 2, or 2- `,
		"check x -f 0-":                  `invalid argument "0-" for "-f, --field" flag: want a whole number from 1`,
		`check x -f 1 -d \n`:             `invalid argument "\\n" for "-d, --delimiter" flag: want a text, in which a backslash begins \t, \\, \0 or \xNN`,
		`check x -f 1 -d a\`:             `invalid argument "a\\" for "-d, --delimiter" flag: want a text, in which `,
		`check x -f 1 -d \x9`:            `invalid argument "\\x9" for "-d, --delimiter" flag: want a text, in which `,
		"check x -f 1 --delimiter=":      `invalid argument "" for "-d, --delimiter" flag: want a text, in which `,
		"dedup -d ,":                     `--delimiter without --field`,
		"check -v x -f 2 -k a":           `--key and --field, want at most one`,
	} {
		if _, said := expectRun(t, statusError, strings.Fields(command)...); !strings.HasPrefix(said, "bloom: "+want) || strings.Count(said, "\n") != 1 {
			t.Errorf("%s:\n%swant %s", command, said, want)
		}
	}
}

// TestHelpExamples runs every command of the help texts, in a folder with the files that they name.
func TestHelpExamples(t *testing.T) {
	shell := testkit.Program(t, "sh", "dash")
	tried := 0
	root := newRoot(&env{})
	for _, c := range append(root.Commands(), root) {
		dir := exampleFolder(t, c.Name() != "bloom" && c.Name() != "build" && c.Name() != "secrets")
		for _, command := range examplesOf(c) {
			tried++
			run := exec.Command(shell, "-c", command)
			run.Dir = dir
			run.Env = append(os.Environ(), "url=https://go.dev/", secretVariable+"=", "PATH="+dir+"/bin"+string(os.PathListSeparator)+os.Getenv("PATH"))
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%s\n%v: %s", command, err, out)
			}
		}
	}
	if tried < 25 {
		t.Errorf("%d examples, want 25 and more", tried)
	}
}

// examplesOf returns the indented lines of a help text that are commands.
func examplesOf(c *cobra.Command) (commands []string) {
	for line := range strings.Lines(c.Long + "\n\n" + c.Example) {
		text, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "  ")
		switch first, rest, _ := strings.Cut(text, " "); {
		case !indented || strings.HasPrefix(rest, " "): // a format is called bloom, too
		case first == "bloom" || first == "cat" || first == "head" || first == "if" || first == "xz":
			commands = append(commands, text)
		}
	}
	return commands
}

// exampleFolder makes the files that the examples read.
func exampleFolder(t *testing.T, withFilters bool) string {
	dir := t.TempDir()
	keys := "https://go.dev/\nhttps://example.com/\n"
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"urls.txt": keys, "more.txt": keys, "today.txt": keys, "urls.txt.gz": keys, "urls.tsv": "1\thttps://go.dev/\n", "candidates.txt": keys + "https://new.example/\n",
		"a.log": `1.2.3.4 - - [22/Nov/2026:18:00:00 +0000] "GET https://go.dev/ HTTP/1.1" 200 5` + "\n",
		// Another machine, and programs that may be missing.
		"bin/ssh": "#!/bin/sh\nshift\nexec sh -c \"$*\"\n", "bin/jq": "#!/bin/sh\nexec cat\n", "bin/xz": "#!/bin/sh\necho https://go.dev/\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"seen.bloom", "monday.bloom", "tuesday.bloom", "wednesday.bloom"} {
		if withFilters {
			expectRun(t, statusFound, "build", "-n", "1e6", "-p", "0.001", "-o", filepath.Join(dir, name), filepath.Join(dir, "urls.txt"))
		}
	}
	return dir
}
