package memory

import "unsafe"

// MostLines is how many lines are asked for at once.
const MostLines = 32

// Prefetch asks the processor for the lines at the first n offsets in bytes, which must be within the
// words: it goes on meanwhile, and has many on their way at the same time. To
// write, it asks for lines that no other processor has; on the few processors that do not know
// how, it does nothing.
func Prefetch(words unsafe.Pointer, at *[MostLines]uint64, n int, write bool) {
	if write {
		writeLines(words, at, n)
	} else {
		readLines(words, at, n)
	}
}
