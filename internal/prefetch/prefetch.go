// Package prefetch asks the processor for lines of memory that will be needed soon: it goes on
// meanwhile, and has many on their way at the same time.
package prefetch

import "unsafe"

// Most is how many lines are asked for at once.
const Most = 32

// Lines asks for the lines at the first n offsets in bytes, which must be within the words. To
// write, it asks for lines that no other processor has; on the few processors that do not know
// how, it does nothing.
func Lines(words unsafe.Pointer, at *[Most]uint64, n int, write bool) {
	if write {
		writeLines(words, at, n)
	} else {
		readLines(words, at, n)
	}
}
