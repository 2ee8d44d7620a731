package main

import (
	"fmt"
	"math"
	"math/big"

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
