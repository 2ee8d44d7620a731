// Package child starts programs that end with this one, for examples, measurements and tests.
package child

import (
	"os/exec"
	"runtime"
)

// Start starts a command. exited is closed when it has ended. On Linux, it is killed when this
// program ends in whatever way, also by kill -9; elsewhere, it then goes on.
func Start(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
	started, done := make(chan error), make(chan struct{})
	go func() {
		// The system kills the child when the thread that has started it ends. This one waits
		// for the child, and belongs to it until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		endWithParent(cmd)
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
		close(done)
	}()
	return done, <-started
}
