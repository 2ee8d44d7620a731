package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what is printed into the scripts' golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bloom": main,
		"seq":   seq,
		"sort":  sortLines,
		"gzip":  func() { compress(func(w *bytes.Buffer) closer { return gzip.NewWriter(w) }) },
		"zstd": func() {
			compress(func(w *bytes.Buffer) closer {
				z, err := zstd.NewWriter(w)
				check(err)
				return z
			})
		},
	})
}

// TestScripts runs the program as its users do, and compares what it prints and how it
// ends with what the scripts say.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			// Under the race detector each of the many runs would sleep a second in the end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			interop, err := filepath.Abs("../../interop")
			env.Setenv("INTEROP", interop)
			if err != nil {
				return err
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// status N command...: the command ends with that exit status. What it says has the
			// program's name, which is also the library's, in front and nowhere else.
			"status": func(ts *testscript.TestScript, neg bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(args[1], args[2:]...)
				got := 0
				if exit, ok := err.(interface{ ExitCode() int }); ok {
					got = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				if got != want {
					ts.Fatalf("exit status %d, want %d", got, want)
				}
				if strings.Contains(ts.ReadFile("stderr"), ": bloom: ") {
					ts.Fatalf("the program's name twice in one message")
				}
			},
			// holds folder name...: these are all files in the folder, sorted.
			"holds": func(ts *testscript.TestScript, neg bool, args []string) {
				entries, err := os.ReadDir(ts.MkAbs(args[0]))
				ts.Check(err)
				var names []string
				for _, entry := range entries {
					names = append(names, entry.Name())
				}
				if !slices.Equal(names, args[1:]) {
					ts.Fatalf("in %s are %q, want %q", args[0], names, args[1:])
				}
			},
			// cut N from to: the first bytes of a file.
			"cut": func(ts *testscript.TestScript, neg bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[1]))[:n], 0o666))
			},
		},
	})
}

type closer interface {
	Write([]byte) (int, error)
	Close() error
}

// compress packs the file named first into the one named second.
func compress(pack func(*bytes.Buffer) closer) {
	data, err := os.ReadFile(os.Args[1])
	check(err)
	var out bytes.Buffer
	w := pack(&out)
	_, err = w.Write(data)
	check(err)
	check(w.Close())
	check(os.WriteFile(os.Args[2], out.Bytes(), 0o666))
}

// seq prints the whole numbers from first to last.
func seq() {
	first, err := strconv.Atoi(os.Args[1])
	check(err)
	last, err := strconv.Atoi(os.Args[2])
	check(err)
	var out []byte
	for i := first; i <= last; i++ {
		out = append(strconv.AppendInt(out, int64(i), 10), '\n')
	}
	_, err = os.Stdout.Write(out)
	check(err)
}

// sortLines prints the lines of a file, sorted.
func sortLines() {
	data, err := os.ReadFile(os.Args[1])
	check(err)
	lines := strings.SplitAfter(string(data), "\n")
	slices.Sort(lines)
	_, err = os.Stdout.WriteString(strings.Join(lines, ""))
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
