// Passwords checks passwords against a published list of leaked ones.
//
//	passwords [-list file] <passwords
//
// Each line of standard input is a password. The list is a filter in a file, such as "bloom build"
// writes. A new version of the file is used within a second. Without -list the example makes a
// list of a few passwords.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/persist"
)

func main() {
	path := flag.String("list", "", "the `file` with the list")
	flag.Parse()
	if err := run(*path, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "passwords:", err)
		os.Exit(1)
	}
}

func run(path string, in io.Reader, out, log io.Writer) error {
	if path == "" {
		dir, err := os.MkdirTemp("", "passwords-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "leaked.bloom")
		if err := publish(path, "123456", "password", "qwerty", "letmein"); err != nil {
			return err
		}
	}
	leaked, err := guard.OpenList(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go leaked.Watch(ctx, time.Second, func(changed bool, err error) {
		if err != nil {
			fmt.Fprintln(log, "the old list stays:", err)
		} else if changed {
			fmt.Fprintln(log, "a new list:", leaked)
		}
	})
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && len(line) == 0 {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if leaked.Contains(bytes.TrimSuffix(line, []byte("\n"))) {
			fmt.Fprintln(out, "leaked, nearly certainly")
		} else {
			fmt.Fprintln(out, "not in the list")
		}
	}
}

// publish writes a list to a file, in one step.
func publish(path string, passwords ...string) error {
	f, err := bloom.New(uint64(len(passwords)), 1e-6)
	if err != nil {
		return err
	}
	f.AddStrings(passwords, nil)
	return persist.Save(path, f)
}
