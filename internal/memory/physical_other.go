//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package memory

// Physical returns false: the memory of these systems is not known.
func Physical() (total uint64, ok bool) { return 0, false }
