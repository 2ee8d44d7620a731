package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed3447c163/bloom/cmd/bloom/internal/lines"
)

// An env has the context, the input and the outputs of a command.
type env struct {
	ctx            context.Context // ends at Ctrl-C, SIGTERM and SIGHUP
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Exit statuses. The first three are grep's.
const (
	statusFound    = 0
	statusNotFound = 1
	statusError    = 2
	statusOverfull = 3
	statusSignal   = 128 // plus the signal's number
)

// An exit is an error with an exit status. If its text is empty, nothing is printed.
type exit struct {
	status int
	text   string
}

func (e exit) Error() string { return e.text }

var (
	errNotFound = exit{statusNotFound, ""}
	errSaid     = exit{statusError, ""} // the messages are already printed
	errOverfull = exit{statusOverfull, "overfull"}
)

// statusOf returns the exit status for an error.
func statusOf(err error) int {
	if err == nil {
		return statusFound
	}
	if e := (exit{}); errors.As(err, &e) {
		return e.status
	}
	return statusError
}

// message returns the line that reports an error.
func message(err error) string { return "bloom: " + printable(lines.Text(err)) + "\n" }

// printable returns a text, quoted if it has characters that could control a terminal.
func printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	return strconv.Quote(text)
}
