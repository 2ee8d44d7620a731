package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// grouped prints a count with its thousands apart: 1,234,567. A file may say that it was
// made for 2^64-1 keys, which no int64 holds.
func grouped[N int | int64 | uint64](n N) string {
	return humanize.BigComma(new(big.Int).SetUint64(uint64(n)))
}

// holds prints an estimated count.
func holds(n uint64) string {
	if n == math.MaxUint64 { // every bit is set
		return "more keys than can be told"
	}
	return "about " + grouped(n) + " keys"
}

// size prints a number of bytes: 1.8 MB.
func size(bytes uint64) string { return humanize.Bytes(bytes) }

// showRate prints a rate to three digits.
func showRate(p float64) string { return fmt.Sprintf("%.3g", p) }

// shown prints the name of a file. One that could move the reader's terminal, or pass for
// something else, is quoted.
func shown(name string) string {
	if harmless(name) != name || strings.Contains(name, "\n") {
		return strconv.Quote(name)
	}
	return name
}

// harmless returns text with its control characters, other than the newlines between joined
// errors, as escape sequences: what a file or a folder says of itself may be in it.
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

// An errorIn is an error and where it is, such as a file. The library's own prefix, which is
// this program's name, stands before the whole, not here.
type errorIn struct {
	where string
	err   error
}

func (e errorIn) Error() string {
	text := strings.TrimPrefix(e.err.Error(), "bloom: ")
	if inPath, ok := errors.AsType[*fs.PathError](e.err); ok && strings.HasPrefix(e.where, shown(inPath.Path)) {
		text = strings.Replace(text, inPath.Error(), inPath.Err.Error(), 1) // where has its name already
	}
	return e.where + ": " + text
}

func (e errorIn) Unwrap() error { return e.err }
