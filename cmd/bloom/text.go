package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/seed3447c163/bloom"
)

// grouped formats a count: 1,234,567.
func grouped[N int | uint64](n N) string { return humanize.Comma(int64(n)) }

// counted formats a count with a noun: 1 key, 2 keys.
func counted[N int | uint64](n N, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return grouped(n) + " " + noun
}

// holds formats an estimated number of keys for messages.
func holds(n uint64) string {
	if n == math.MaxUint64 { // every bit is set
		return "more keys than its bits can tell"
	}
	return "about " + counted(n, "key")
}

// warn prints a warning if a filter holds more keys than it was made for. If the file does not say how many, it warns
// if the false-positive rate is above 0.5.
func warn(e *env, s bloom.Stats) {
	if s.P == 0 && s.EstimatedFalsePositiveRate > 0.5 {
		fmt.Fprintf(e.stderr, "bloom: warning: the filter holds %s: its rate is now %.2g\n", holds(s.EstimatedCount), s.EstimatedFalsePositiveRate)
	}
	if s.OverP() {
		fmt.Fprintf(e.stderr, "bloom: warning: the filter was made for %s keys at a rate of %v and holds %s: its rate is now %.2g\n",
			grouped(s.N), s.P, holds(s.EstimatedCount), s.EstimatedFalsePositiveRate)
	}
}
