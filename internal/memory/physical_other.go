//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package memory

// Physical is unknown: Go has no call for it on these systems.
func Physical() (total uint64, ok bool) { return 0, false }
