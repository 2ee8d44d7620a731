package vector

import "unsafe"

// MostPrefetched is the largest number of lines that one call of Prefetch takes.
const MostPrefetched = 32

// Prefetch prefetches the cache lines at the first n offsets of at, in bytes. The offsets must be within the words.
// Prefetch does not wait, so the processor loads many lines at the same time. If write is true, the lines are
// prefetched for writing; the few processors without this instruction do nothing.
func Prefetch(words unsafe.Pointer, at *[MostPrefetched]uint64, n int, write bool) {
	if write {
		writeLines(words, at, n)
	} else {
		readLines(words, at, n)
	}
}
