// Package child runs functions of a test in other processes, so that the test can kill them.
package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const variable = "BLOOM_TEST_CHILD"

// Main is for TestMain. In a process that Start has started, it runs one of the functions instead of the tests.
func Main(m *testing.M, functions map[string]func(args []string) error) {
	name := os.Getenv(variable)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := functions[name](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "child", name+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// EndWithTest ends this process when the process that has started it ends.
func EndWithTest() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(2)
	}()
}

// Command returns a command that runs the function of this name in a new process of program. It does not start it.
func Command(program, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), variable+"="+name)
	return cmd
}

// A Process is a running child.
type Process struct {
	*exec.Cmd
	out *bufio.Reader
	err strings.Builder
}

// Start starts a child. It is killed when the test ends.
func Start(t *testing.T, name string, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: Command(os.Args[0], name, args...)}
	p.Stderr = &p.err
	_, err := p.StdinPipe() // for EndWithTest
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

// Finish waits until the child has ended by itself. It fails the test if the child has failed.
func (p *Process) Finish(t *testing.T) {
	t.Helper()
	if err := p.Wait(); err != nil {
		t.Fatalf("%v: %s", err, p.Errors())
	}
}

// Line returns the next line of the child's output. ok is false if the output ends before the line does.
func (p *Process) Line() (line string, ok bool) {
	line, err := p.out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err == nil
}

// Errors returns the child's standard error. The child must have ended.
func (p *Process) Errors() string { return p.err.String() }
