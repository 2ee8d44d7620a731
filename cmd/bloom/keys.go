package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
)

const inputHelp = `Keys are the lines of the named files, in order, or of standard input if no
file is named. gzip and zstd are unpacked. Other packed input, archives, tables,
UTF-16 and UTF-32 are refused: xz -dc urls.xz | bloom check seen.bloom

A key is the bytes of a line: blanks, letter case and quotes of CSV count. An
empty line is the empty key. With -0, keys end in NUL instead of newline, as
find -print0 writes them. For a file from Windows, --crlf leaves out the
carriage return at the end of a line, and a UTF-8 mark at its start; lines are
printed as they came. A line of more than --max-line (64MiB) is an error.

With -f N, the key is field N of a line; with -f N-, the line from there to its
end. Fields are separated by blanks, as in awk, or by the text of -d, in which
\t is a tab, \\ a backslash, \0 a NUL and \xNN a byte. With -d, a line without
the text has no field 1:

  input       flags      result
  a b         -f 1       key a
  a           -f 1       key a
  a,b         -f 1       key a,b
  a,b         -f 1 -d ,  key a
  a           -f 1 -d ,  no key
  "a,b",c     -f 1 -d ,  key "a
  a\r\n                  key a\r, warned of
  a\r\n       --crlf     key a
  \ufeffa                key \ufeffa, warned of
  \ufeffa     --crlf     key a
  a\x00b                 key a\x00b, warned of
  a\x00       -0         key a
  a\rb                   refused
  a\x00\xff              refused
  PAR1\x15               refused
  a           -f 1k      refused
  a           -d \011    refused

A line with fewer fields has no key. dedup prints it, build and add skip it, and
check prints it neither with -v nor without. A warning names the first one. If
all lines are such, that is an error.

Numbers are 1000000, 1_000_000, 1e6 or 1M; rates 0.001, 1e-3, 0.1% or 1/1000.
"-" is standard input, and standard output for a new filter. A file of that name
is "./-".`

// end returns the byte that ends a line.
func (o *command) end() byte {
	if o.null {
		return 0
	}
	return '\n'
}

// input returns the source of the keys that the flags and files name.
func (o *command) input(files []string) *lines.Input {
	form := o.form
	form.End = o.end()
	in := &lines.Input{
		Form:    form,
		Context: o.ctx, Keys: o.keys, Files: files, Stdin: o.stdin, Settle: o.settle,
		Read: &o.progress.read,
		Warn: func(text string) {
			defer o.progress.pause()()
			fmt.Fprintf(o.stderr, "bloom: warning: %s\n", printable(text))
		},
	}
	if out, ok := o.stdout.(*pipe); ok {
		in.Room, in.PieceSize = out.room, pieceSize()
	}
	return in
}

// print returns a function that prints the lines of a chunk whose answer, in the field Yes, is answer.
func (o *command) print(answer bool) func(c *lines.Chunk) error {
	return func(c *lines.Chunk) error {
		text := c.Selected(answer, o.end())
		if len(text) == 0 {
			return nil
		}
		_, err := o.stdout.Write(text)
		return err
	}
}

// fromStdin reports whether keys are read from standard input.
func (o *command) fromStdin(files []string) bool {
	return len(o.keys) == 0 && (len(files) == 0 || slices.Contains(files, "-"))
}

// count reads the files and returns their number of keys. The command reads them again later, so count refuses files
// that can be read only once, such as pipes.
func (o *command) count(files []string) (uint64, error) {
	const want = "how many keys will there be? Want -n: "
	if len(o.keys) > 0 {
		return uint64(len(o.keys)), nil
	}
	if o.fromStdin(files) {
		return 0, errors.New(want + "standard input cannot be read twice to count them")
	}
	for _, name := range files { // before any is opened: opening a pipe waits for its writer
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return 0, fmt.Errorf("%s%s cannot be read twice to count them", want, name)
		}
	}
	n, in := 0, o.input(files)
	in.Warn = nil // the second reading will warn
	err := o.each(in, func(c *lines.Chunk) (int, error) {
		n += len(c.Keys)
		return len(c.Keys), nil
	}, nil)
	if err == nil && n == 0 {
		return 0, errors.New(want + "the files are empty")
	}
	return uint64(n), err
}
