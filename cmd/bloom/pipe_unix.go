//go:build unix

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pieceSize returns PIPE_BUF, the number of bytes that a pipe with room accepts without blocking.
func pieceSize() int {
	if runtime.GOOS == "linux" {
		return 4096
	}
	return 512 // the least value in POSIX
}

// hasRoom reports whether a piece can be written without blocking. It waits up to 20 ms for that.
func hasRoom(fd int32) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: fd, Events: unix.POLLOUT}}, 20)
	return n > 0 || err != nil && err != unix.EINTR
}
