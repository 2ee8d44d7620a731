package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TestFailedWorkPrintsNothing: a key that no column can hold, a packed stream that is cut off, and
// a read error, at the first line, in the middle and at the last. For every command that reads keys,
// and all combinations of its flags, stdout is that of the lines before, the status is 2, the message
// names the line, and no file changes.
func TestFailedWorkPrintsNothing(t *testing.T) {
	const lines = 4001
	keys := make([]string, lines) // every third is in small.parquet's column and in plain
	for i := range keys {
		keys[i] = fmt.Sprint(i%40*1_000_003 + min(i%3, 1)*40_000_120)
	}
	column, dir := filepath.FromSlash("../../interop/parquet/testdata/small.parquet"), t.TempDir()
	plain := filepath.Join(dir, "plain.bloom")
	expectRun(t, statusFound, "build", "-n", "40000", "-p", "1e-9", "-o", plain, writeFile(t, []byte(strings.Join(keys[:40], "\n"))))
	before, _ := os.ReadFile(plain)

	// Each returns an input that ends in the middle of a line, or has a bad one.
	failures := map[string]func(whole []byte, line string) io.Reader{
		"read error": func(whole []byte, line string) io.Reader {
			return io.MultiReader(bytes.NewReader(whole), strings.NewReader(line[:1]), iotest.ErrReader(errors.New("broken")))
		},
		"cut gzip": func(whole []byte, line string) io.Reader {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(append(whole, line[:1]...))
			z.Flush()
			return &packed
		},
		"cut zstd": func(whole []byte, line string) io.Reader {
			var packed bytes.Buffer
			z, _ := zstd.NewWriter(&packed)
			z.Write(append(whole, line[:1]...))
			z.Flush()
			return &packed
		},
		"bad key": func(whole []byte, _ string) io.Reader {
			return io.MultiReader(bytes.NewReader(whole), strings.NewReader("2026-11-23\n"), strings.NewReader(strings.Join(keys, "\n")))
		},
	}
	tried := map[string]int{}
	for _, c := range newRoot(&env{}).Commands() {
		if c.Flags().Lookup("null") == nil {
			continue
		}
		var flags [][]string // all combinations
		flags = append(flags, nil)
		for _, name := range []string{"invert", "count", "quiet"} {
			if c.Flags().Lookup(name) != nil {
				for _, with := range flags {
					flags = append(flags, append(slices.Clone(with), "--"+name))
				}
			}
		}
		for failure, input := range failures {
			args := map[string][]string{"build": {"-n", "100", "--force", "-o", plain}, "add": {plain}, "dedup": {"-n", "10000"}, "check": {plain}}[c.Name()]
			if failure == "bad key" {
				if args = []string{"--column", "i64:0", column}; c.Flags().Lookup("column") == nil {
					continue
				}
			}
			if args == nil {
				t.Fatalf("which arguments has bloom %s?", c.Name())
			}
			for _, with := range flags {
				for _, line := range []int{1, 3001, lines} {
					args := slices.Concat([]string{c.Name()}, with, args)
					whole := []byte(strings.Join(append(slices.Clone(keys[:line-1]), ""), "\n"))
					var want, out, said bytes.Buffer
					wantStatus := statusError
					if c.Name() == "check" {
						ended := run(t.Context(), args, bytes.NewReader(whole), &want, io.Discard)
						if slices.Contains(with, "--quiet") && ended == statusFound {
							wantStatus = statusFound // at the first selected line, as grep's
						}
						if slices.Contains(with, "--count") {
							want.Reset()
						}
					} else if c.Name() == "dedup" {
						run(t.Context(), args, bytes.NewReader(whole), &want, io.Discard)
					}
					status := run(t.Context(), args, input(whole, keys[line-1]), &out, &said)
					if !bytes.Equal(out.Bytes(), want.Bytes()) || status != wantStatus {
						t.Errorf("%q, %s at line %d: status %d, want %d; %d bytes, want %d; %s", args[:len(with)+1], failure, line, status, wantStatus, out.Len(), want.Len(), &said)
					}
					if named := fmt.Sprintf("standard input: line %d: ", line); status == statusError && !strings.Contains(said.String(), named) {
						t.Errorf("%q, %s: %swant %q", args[:len(with)+1], failure, &said, named)
					}
					tried[c.Name()]++
				}
			}
		}
	}
	if after, _ := os.ReadFile(plain); !bytes.Equal(before, after) {
		t.Error("the filter has changed")
	}
	if len(tried) < 4 || tried["check"] < 90 {
		t.Errorf("%v tried", tried)
	}
}
