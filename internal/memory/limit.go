// Package memory has what the packages of this module do with memory: how much the machine has, arrays of
// words, views and copies of keys, and lines of the cache that will be needed soon.
package memory

import "math"

// Limit returns the largest size of an array in bytes: the machine's memory, and what an int can count.
func Limit() uint64 {
	limit := uint64(math.MaxInt)
	if total, ok := Physical(); ok {
		limit = min(limit, total)
	}
	return limit
}
