package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const role = "CHILD_TEST_ROLE"

// TestMain is also the parent that is killed, and its child.
func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "parent":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"=child")
		cmd.Stdout = os.Stdout
		if _, err := Start(cmd); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	case "child":
		fmt.Println("here")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// TestKilled kills a program by kill -9: its child ends, too. What the child writes to is then closed.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED on this system: it does not end children")
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), role+"=parent")
	parent.Stdout = w
	require.NoError(t, parent.Start())
	require.NoError(t, w.Close())
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "here\n", line)
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	_, err = out.ReadString('\n')
	require.ErrorIs(t, err, io.EOF)
}

// TestExited: the end of a child is seen, and a program that is not there is an error.
func TestExited(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	exited, err := Start(cmd)
	require.NoError(t, err)
	<-exited
	require.True(t, cmd.ProcessState.Success())
	_, err = Start(exec.Command("/nonexistent"))
	require.Error(t, err)
}
