//go:build !purego && !race

package memory

import "unsafe"

//go:noescape
func readLines(words unsafe.Pointer, at *[MostLines]uint64, n int)

//go:noescape
func writeLines(words unsafe.Pointer, at *[MostLines]uint64, n int)
