//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package memory

// Physical is unknown: these systems have no call for it that Go can make.
func Physical() (total uint64, ok bool) { return 0, false }
