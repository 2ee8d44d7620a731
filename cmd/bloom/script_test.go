package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bloom": main, "seq": seq, "pack": pack, "crlf": crlf, "bloom-saves-often": savesOften, "bloom-shows-often": showsOften})
}

// savesOften is the program with a short time between two saves.
func savesOften() {
	saveEvery = time.Millisecond
	main()
}

// showsOften is the program with a short time between two lines of progress.
func showsOften() {
	showEvery = time.Millisecond
	main()
}

// TestScripts runs the program as its users do, and compares its output and its exit status with
// those in the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *testkit.Update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			// Under the race detector each run would sleep a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			interop, err := filepath.Abs("../../interop")
			env.Setenv("INTEROP", interop)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// status N command...: the command ends with that exit status. Its messages begin with the
			// program's name, which is also the library's, and do not repeat it.
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
			// holds folder name...: the folder has exactly these files, sorted.
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
			// cut N from to: writes the first N bytes of a file.
			"cut": func(ts *testscript.TestScript, neg bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[1]))[:n], 0o666))
			},
		},
	})
}

// seq prints the whole numbers from first to last.
func seq() {
	first, err1 := strconv.Atoi(os.Args[1])
	last, err2 := strconv.Atoi(os.Args[2])
	must(errors.Join(err1, err2))
	var out []byte
	for i := first; i <= last; i++ {
		out = append(strconv.AppendInt(out, int64(i), 10), '\n')
	}
	_, err := os.Stdout.Write(out)
	must(err)
}

// pack packs a file into another one, with gzip or zstd.
func pack() {
	data, err := os.ReadFile(os.Args[2])
	must(err)
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if os.Args[1] == "zstd" {
		w, err = zstd.NewWriter(&out)
		must(err)
	}
	_, err = w.Write(data)
	must(errors.Join(err, w.Close(), os.WriteFile(os.Args[3], out.Bytes(), 0o666)))
}

// crlf writes a text as a program on Windows would: with a UTF-8 mark and carriage returns.
func crlf() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	must(os.WriteFile(os.Args[2], append([]byte("\ufeff"), bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))...), 0o666))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
