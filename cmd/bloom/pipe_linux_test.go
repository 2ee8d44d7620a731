package main

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSettleWaitsForItsOwnMarks: settle waits for two marks that it sent, also if a resized terminal sent one before.
func TestSettleWaitsForItsOwnMarks(t *testing.T) {
	caught, marks := make(chan os.Signal, 8), make(chan struct{}, 8)
	signal.Notify(caught, mark)
	defer close(caught)
	defer signal.Stop(caught)
	marks <- struct{}{}
	var came atomic.Int32
	go func() {
		for range caught {
			time.Sleep(50 * time.Millisecond) // in which settle must not send another mark
			came.Add(1)
			marks <- struct{}{}
		}
	}()
	(&env{ctx: t.Context(), stdin: &input{marks: marks}}).settle()
	if came.Load() < 2 {
		t.Errorf("settle returned after %d of its marks, want 2 or more", came.Load())
	}
}

// TestHandlesSignal: signals that arrive all the time are seen in their handlers, and none is seen after the last, even
// if a thread blocks mark, as under a parent that blocks it.
func TestHandlesSignal(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one thread is seen by another
	caught, stop, stopped := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(caught, mark)
	defer signal.Stop(caught)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				syscall.Kill(os.Getpid(), mark)
			}
		}
	}()
	for !handlesSignal() {
	}
	close(stop)
	<-stopped
	runtime.LockOSThread() // until the end of the test, and the thread ends with it
	var blocked unix.Sigset_t
	blocked.Val[0] = 1 << (mark - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, nil); err != nil {
		t.Fatal(err)
	}
	for handlesSignal() {
	}
}
