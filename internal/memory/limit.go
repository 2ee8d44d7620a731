// Package memory returns the size of the machine's memory.
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
