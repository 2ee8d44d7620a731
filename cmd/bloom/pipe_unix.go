//go:build unix

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pieceSize returns the number of bytes that a pipe with room takes without waiting: PIPE_BUF.
func pieceSize() int {
	if runtime.GOOS == "linux" {
		return 4096
	}
	return 512 // the least that POSIX allows
}

// hasRoom reports whether a write of a piece does not wait. It waits a moment for that.
func hasRoom(fd int32) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: fd, Events: unix.POLLOUT}}, 20)
	return n > 0 || err != nil && err != unix.EINTR
}
