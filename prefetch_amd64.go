//go:build !purego && !race

package bloom

import "unsafe"

// prefetchRead asks for the lines at the first n offsets in bytes, which must be within
// the words. prefetchWrite asks for them to be written; on the few processors that do not
// know how, it does nothing.
//
//go:noescape
func prefetchRead(words unsafe.Pointer, at *[maxPrefetch]uint64, n int)

//go:noescape
func prefetchWrite(words unsafe.Pointer, at *[maxPrefetch]uint64, n int)
