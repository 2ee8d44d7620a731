// Package memory knows how much of it there is.
package memory

import "math"

// Limit is the most bytes that one array may take: what an int can count and the
// machine's memory can hold.
func Limit() uint64 {
	limit := uint64(math.MaxInt)
	if total, ok := Physical(); ok {
		limit = min(limit, total)
	}
	return limit
}
