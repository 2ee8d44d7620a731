//go:build unix

package main

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mark is the signal that settle sends to this process. Apart from settle, only a resized terminal sends it.
const mark = unix.SIGWINCH

// settle is called at the end of input from a pipe. It lets a signal that arrived before the call, or arrives soon, end
// ctx. Otherwise a cut-off input could count as complete: a signal to a whole pipeline may end the program that writes
// the input before this process handles the signal.
//
//  1. settle sleeps, because this process may get the signal last. If a step of the sleep takes twice its time, the
//     processors are busy, and settle begins to sleep anew.
//  2. It sends mark and waits for it. Pending signals are taken in the order of their numbers, and mark's is higher
//     than those of the signals that end ctx. So threads have taken these, but may have lost their processors since.
//  3. If it sees no thread in a handler, package signal has these signals in its queue. They have ended ctx when the
//     next mark has come through the queue.
func (e *env) settle() {
	const step, wait, most = 5 * time.Millisecond, 50 * time.Millisecond, 2 * time.Second
	began := time.Now()
	for slept := time.Duration(0); slept < wait && time.Since(began) < most && e.ctx.Err() == nil; slept += step {
		before := time.Now()
		if time.Sleep(step); time.Since(before) > 2*step {
			slept = 0
		}
	}
	in, ok := e.stdin.(*input)
	for last := false; ok; last = !handlesSignal() || time.Since(began) > 2*most {
		select {
		case <-in.marks: // of a resized terminal
		default:
		}
		if unix.Kill(unix.Getpid(), mark) != nil {
			return
		}
		select {
		case <-in.marks:
		case <-e.ctx.Done():
			return
		}
		if last {
			return
		}
	}
}

// handlesSignal reports whether a thread of this process seems to be in a signal handler. Go's handlers block all
// signals, and Linux tells which signals a thread blocks. SIGSEGV is one that Go blocks nowhere else, except while a
// thread starts or ends. Where /proc does not tell, handlesSignal returns false.
func handlesSignal() bool {
	threads, _ := filepath.Glob("/proc/self/task/*")
	for _, thread := range threads {
		status, _ := os.ReadFile(thread + "/status")
		_, line, _ := strings.Cut(string(status), "\nSigBlk:\t")
		var blocked big.Int // has 128 bits on MIPS
		if fmt.Sscanf(line, "%x", &blocked); blocked.Bit(int(unix.SIGSEGV)-1) == 1 {
			return true
		}
	}
	return false
}

// pieceSize returns PIPE_BUF, the number of bytes that a pipe with room accepts without blocking.
func pieceSize() int {
	if runtime.GOOS == "linux" {
		return 4096
	}
	return 512 // the least value in POSIX
}

// hasRoom reports whether pieceSize bytes can be written without blocking. It waits up to 20 ms for room.
func hasRoom(fd int32) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: fd, Events: unix.POLLOUT}}, 20)
	return n > 0 || err != nil && err != unix.EINTR
}

// isTerminal reports whether p is the terminal of this process, and the process is in the foreground.
func (p *pipe) isTerminal() bool {
	group, err := unix.IoctlGetInt(int(p.fd), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
