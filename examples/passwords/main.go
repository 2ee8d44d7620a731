// Passwords asks a list of leaked passwords that somebody else publishes as a file.
//
//	passwords [-list file] <passwords
//
// Each line of the input is a password. The list is a filter in a file, as "bloom build"
// makes it; it may be replaced at any time, and is looked at every second. Without -list
// there is one of a few passwords, in a temporary folder.
package main

import (
	"bufio"
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
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if leaked.Contains(lines.Bytes()) {
			fmt.Fprintln(out, "leaked, nearly certainly")
		} else {
			fmt.Fprintln(out, "not in the list")
		}
	}
	return lines.Err()
}

// publish makes a list and puts it in the place of the old one at once.
func publish(path string, passwords ...string) error {
	f, err := bloom.New(uint64(len(passwords)), 1e-6)
	if err != nil {
		return err
	}
	f.AddStrings(passwords, nil)
	return persist.Save(path, f)
}
