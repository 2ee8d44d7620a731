package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
)

// grouped formats a count: 1,234,567.
func grouped[N int | int64 | uint64](n N) string {
	return humanize.BigComma(new(big.Int).SetUint64(uint64(n)))
}

// compact formats a count in a few characters: 12.3M.
func compact(n int64) string {
	value, prefix := humanize.ComputeSI(float64(n))
	return humanize.FtoaWithDigits(value, 1) + prefix
}

// holds formats an estimated count.
func holds(n uint64) string {
	if n == math.MaxUint64 { // every bit is set
		return "more keys than its bits can tell"
	}
	return "about " + grouped(n) + " keys"
}

// size formats a number of bytes: 1.7 MiB.
func size(bytes uint64) string { return humanize.IBytes(bytes) }

func showRate(p float64) string { return fmt.Sprintf("%.3g", p) }

// shown returns a file's name, quoted if it has control characters.
func shown(name string) string {
	if harmless(name) != name || strings.Contains(name, "\n") {
		return strconv.Quote(name)
	}
	return name
}

// harmless escapes the control characters of a text, which may come from a file. It keeps newlines,
// which separate joined errors.
func harmless(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// message returns the line to print for an error.
func message(err error) string {
	return "bloom: " + harmless(strings.TrimSpace(plain(err))) + "\n"
}

// plain returns an error's text without the library's prefix, which is this program's name, and
// without the names of system calls.
func plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "bloom: ")
	if inPath, ok := errors.AsType[*fs.PathError](err); ok {
		text = strings.Replace(text, inPath.Error(), shown(inPath.Path)+": "+inPath.Err.Error(), 1)
	}
	if inCall, ok := errors.AsType[*os.SyscallError](err); ok {
		text = strings.Replace(text, inCall.Error(), inCall.Err.Error(), 1)
	}
	return text
}

// An errorIn is an error and its place, such as a file.
type errorIn struct {
	where string
	err   error
}

func (e errorIn) Error() string {
	return e.where + ": " + strings.TrimPrefix(plain(e.err), e.where+": ")
}
func (e errorIn) Unwrap() error { return e.err }

// explain adds the remedy to an error of a filter with a secret key, a strategy or a hash that the
// command does not have.
func explain(err error) error {
	text := strings.TrimPrefix(err.Error(), "bloom: ")
	fact, _, custom := strings.Cut(text, ", want one of that name by With")
	switch {
	case !errors.Is(err, bloom.ErrIncompatible):
	case custom:
		return reworded{fact + ", which only the program that defines it can read", err}
	case strings.Contains(text, "key") || strings.Contains(text, "siphash"):
		return reworded{text + " (see bloom help secrets)", err}
	}
	return err
}

// reworded is an error in other words.
type reworded struct {
	text string
	err  error
}

func (r reworded) Error() string { return r.text }
func (r reworded) Unwrap() error { return r.err }

// nearest returns the name that differs from text by at most two edits, or "".
func nearest(text string, names []string) (best string) {
	least := 3
	for _, name := range names {
		if d := distance(text, name); d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// distance is Levenshtein's: the number of bytes to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
