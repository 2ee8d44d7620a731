//go:build !purego && !race

package prefetch

import "unsafe"

//go:noescape
func readLines(words unsafe.Pointer, at *[Most]uint64, n int)

//go:noescape
func writeLines(words unsafe.Pointer, at *[Most]uint64, n int)
