//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package memory

// Physical returns false: this package cannot find out how much memory these systems have.
func Physical() (total uint64, ok bool) { return 0, false }
