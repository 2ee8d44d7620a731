package main

import (
	"math"
	"math/big"

	"github.com/dustin/go-humanize"
)

// grouped formats a count: 1,234,567.
func grouped[N int | int64 | uint64](n N) string {
	return humanize.BigComma(new(big.Int).SetUint64(uint64(n)))
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
