//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"errors"
	"os"
	"syscall"
)

// errLocked is what lock returns for a file that another process, or an earlier call in
// this one, has.
var errLocked = errors.New("a crawler is already running on this folder, want another folder, or to wait for its end")

// lock takes the file for this process, until it is closed or the process has ended,
// however it ends: a kill leaves no lock behind. It returns errLocked, and does not
// wait, if another has it.
func lock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return errLocked
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}
