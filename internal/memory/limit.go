// Package memory returns how much memory there is.
package memory

import "math"

// Limit returns the most bytes that an array may take: what an int can count and the machine's
// memory can hold.
func Limit() uint64 {
	limit := uint64(math.MaxInt)
	if total, ok := Physical(); ok {
		limit = min(limit, total)
	}
	return limit
}
