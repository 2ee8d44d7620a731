// Passwords checks passwords against a published list of leaked ones.
//
//	passwords [list] <passwords
//
// Each line of standard input is a password. The list is a filter in a file, such as "bloom build"
// writes. A new version of the file is used within a second. Without an argument the example makes a
// list of a few passwords.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/guard"
	"github.com/seed3447c163/bloom/persist"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal("passwords: ", err)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		return check(args[0], os.Stdin, os.Stdout, os.Stderr)
	}
	dir, err := os.MkdirTemp("", "passwords-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "leaked.bloom")
	if err := publish(path, "123456", "password", "qwerty", "letmein"); err != nil {
		return err
	}
	return check(path, os.Stdin, os.Stdout, os.Stderr)
}

// check says of each line whether it is in the list.
func check(path string, in io.Reader, out, news io.Writer) error {
	leaked, err := guard.OpenList(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go leaked.Watch(ctx, time.Second, func(changed bool, err error) {
		if err != nil {
			fmt.Fprintln(news, "the old list stays:", err)
		} else if changed {
			fmt.Fprintln(news, "a new list:", leaked)
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

// publish writes a list to a file, in one step.
func publish(path string, passwords ...string) error {
	f, err := bloom.New(uint64(len(passwords)), 1e-6)
	if err != nil {
		return err
	}
	f.AddStrings(passwords, nil)
	return persist.Save(path, f)
}
