package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestHandlesSignal: signals that arrive all the time are seen in their handlers, at least every tenth time or so, and
// no signal is seen after the last.
func TestHandlesSignal(t *testing.T) {
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
	for handlesSignal() {
	}
}
