// Package memory has the operations on memory that packages of this module share: the machine's limit, arrays of words,
// bytes of strings, copies of keys, and huge pages.
package memory

import "math"

// Limit returns the largest size of an array in bytes: the machine's memory if it is known, and at most the largest
// int.
func Limit() uint64 {
	limit := uint64(math.MaxInt)
	if total, ok := Physical(); ok {
		limit = min(limit, total)
	}
	return limit
}
