//go:build !purego && !race

package vector

import "unsafe"

//go:noescape
func readLines(words unsafe.Pointer, at *[MostPrefetched]uint64, n int)

//go:noescape
func writeLines(words unsafe.Pointer, at *[MostPrefetched]uint64, n int)
