package memory

import "unsafe"

// MostLines is how many lines are asked for at once.
const MostLines = 32

// Prefetch asks the processor for the lines at the first n offsets in bytes, which must be within the
// words. It does not wait for them, so many lines are on their way at the same time. If write is true,
// it asks for lines that no other processor has; the few processors that cannot do that ignore it.
func Prefetch(words unsafe.Pointer, at *[MostLines]uint64, n int, write bool) {
	if write {
		writeLines(words, at, n)
	} else {
		readLines(words, at, n)
	}
}
