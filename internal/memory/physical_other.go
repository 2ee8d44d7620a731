//go:build !linux

package memory

// Physical is unknown where the standard library has no call for it.
func Physical() (total uint64, ok bool) { return 0, false }
