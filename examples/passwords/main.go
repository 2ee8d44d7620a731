// Passwords checks passwords against a published list of leaked passwords:
//
//	bloom build -o list -p 1e-6 leaked.txt
//	passwords list <passwords
//
// Each line of standard input is a password: all bytes before the newline, as in bloom build. If the list comes from
// Windows, use bloom build --crlf. A new version of the list is used within a second.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/seed3447c163/bloom/persist"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: passwords LIST")
	}
	if err := check(os.Args[1], os.Stdin, os.Stdout, os.Stderr); err != nil {
		log.Fatal("passwords: ", err)
	}
}

// check prints for each line whether it is in the list.
func check(path string, in io.Reader, out, news io.Writer) error {
	leaked, err := persist.OpenList(path)
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
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		switch password := bytes.TrimSuffix(line, []byte{'\n'}); {
		case err == io.EOF && len(line) == 0:
			return nil
		case err != nil && err != io.EOF:
			return err
		case leaked.Contains(password):
			fmt.Fprintln(out, "leaked, nearly certainly")
		default:
			fmt.Fprintln(out, "not in the list")
		}
	}
}
