package redistest

import (
	"os/exec"
	"runtime"
)

// startChild starts a command. exited is closed when it has ended. On Linux, it is killed when this program ends, also by
// kill -9.
func startChild(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
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
