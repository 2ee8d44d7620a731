// Bloom makes, fills, asks, unites and explains Bloom filters in files, from the
// command line. Its help says how: bloom --help.
package main

import (
	"errors"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// The exit status is grep's, and one more.
const (
	statusFound    = 0
	statusNotFound = 1
	statusError    = 2
	statusOverfull = 3
)

// errNotFound is no failure but an answer: nothing to say, only a status.
var errNotFound = errors.New("not found")

// A helpWriter is what cobra prints help to. Cobra only mentions an error and goes on as if
// all was well, so this keeps the first one for the exit status.
type helpWriter struct {
	w   io.Writer
	err error
}

func (h *helpWriter) Write(p []byte) (int, error) {
	if h.err == nil {
		_, h.err = h.w.Write(p)
	}
	return len(p), nil
}

// errSaid is an error of which a message was printed already.
var errSaid = errors.New("said already")

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRoot(&env{stdin: stdin, stdout: stdout, stderr: stderr})
	help := &helpWriter{w: stdout}
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(help)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err == nil {
		err = help.err
	}
	switch {
	case err == nil:
		return statusFound
	case errors.Is(err, errNotFound):
		return statusNotFound
	case errors.Is(err, errSaid):
		return statusError
	case errors.Is(err, errOverfull):
		io.WriteString(stderr, message(err))
		return statusOverfull
	default:
		io.WriteString(stderr, message(err))
		return statusError
	}
}
