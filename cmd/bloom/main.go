// Bloom makes, fills, queries, unites and describes Bloom filters in files. See bloom --help.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // a second signal kills
		cancel(interrupted{s})
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Exit statuses. The first three are grep's.
const (
	statusFound    = 0
	statusNotFound = 1
	statusError    = 2
	statusOverfull = 3
	statusSignal   = 128 // plus the signal's number
)

var (
	errNotFound = errors.New("not found")        // has a status and no message
	errReported = errors.New("already reported") // its message was printed before
	errOverfull = errors.New("overfull")
)

// interrupted is the cause of a context that a signal has ended.
type interrupted struct{ os.Signal }

func (i interrupted) Error() string { return i.String() }

// An env holds a command's connections to the outside.
type env struct {
	ctx            context.Context // ends at Ctrl-C and SIGTERM
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRoot(&env{ctx, stdin, stdout, stderr})
	help := &errWriter{w: stdout}
	cmd.SetArgs(args)
	cmd.SetOut(help)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err == nil {
		err = help.err
	}
	status := statusError
	switch signal, ok := errors.AsType[interrupted](err); {
	case err == nil:
		return statusFound
	case errors.Is(err, errNotFound):
		return statusNotFound
	case errors.Is(err, errReported):
		return statusError
	case errors.Is(err, errOverfull):
		status = statusOverfull
	case ok:
		if number, ok := signal.Signal.(syscall.Signal); ok {
			status = statusSignal + int(number)
		}
	}
	io.WriteString(stderr, message(err))
	return status
}

// An errWriter keeps the first error: cobra ignores the errors of its help texts.
type errWriter struct {
	w   io.Writer
	err error
}

func (h *errWriter) Write(p []byte) (int, error) {
	if h.err == nil {
		_, h.err = h.w.Write(p)
	}
	return len(p), nil
}

// message returns the line that reports an error. The library's prefix is this program's name.
func message(err error) string {
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "bloom: "), ": bloom: ", ": ")
	return "bloom: " + printable(text) + "\n"
}

// printable returns a text from a file or a folder, quoted if it could control a terminal.
func printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	return strconv.Quote(text)
}
