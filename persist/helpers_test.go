package persist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/byindex"
	"github.com/stretchr/testify/require"
)

// key returns the i-th of a sequence of different keys.
func key(i uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte("https://example.com/"), i*0x9e3779b97f4a7c15)
	return b
}

// tempDir is t.TempDir. On Windows a mapped file can be removed only when the garbage
// collector has unmapped it.
func tempDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if runtime.GOOS == "windows" {
		t.Cleanup(func() {
			for range 1000 {
				runtime.GC()
				if err := os.RemoveAll(dir); err == nil {
					return
				}
				time.Sleep(10 * time.Millisecond) // for the cleanups
			}
		})
	}
	return dir
}

func openFile(t testing.TB, path string, n uint64, p float64) *File {
	t.Helper()
	f, err := Open(path, n, p)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return f
}

// A child is a process that runs one of these, and not the tests. It ends itself
// when its standard input does, should the test be gone.
var children = map[string]func(args []string) error{
	"save":      childSave,
	"add":       childAdd,
	"race":      childRace,
	"make":      childMake,
	"save once": childSaveOnce,
}

const childName = "BLOOM_PERSIST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childName); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "child", name+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A process is a child that runs.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err strings.Builder
}

func startChild(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), childName+"="+name)
	p.Stderr = &p.err
	var err error
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.out = bufio.NewReader(out)
	err = p.Start()
	if err != nil && strings.Contains(err.Error(), "exec format error") {
		t.Skip("NOT TESTED: several processes, for this test runs in an emulator and cannot start itself")
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	return p
}

// wait returns when the child has ended by itself.
func (p *process) wait(t *testing.T) {
	t.Helper()
	if err := p.Wait(); err != nil {
		t.Fatalf("%v: %s", err, p.err.String())
	}
}

// line returns the child's next line; ok is false if there is no whole one.
func (p *process) line() (line string, ok bool) {
	line, err := p.out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err == nil
}

// untilStdinEnds ends a child whose test has ended.
func untilStdinEnds() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(2)
}

// openHooked opens a file whose strategy calls hook for each bit of a key.
func openHooked(t *testing.T, path string, hook func()) *File {
	t.Helper()
	hooked := bloom.NewStrategy("hooked", bloom.Definition{Positions: byindex.Positions(func(h1, h2 uint64, i int, m uint64) uint64 {
		hook()
		return doubled(h1, h2, i, m)
	})})
	f, err := Open(path, 1000, 0.001, bloom.WithStrategy(hooked))
	require.NoError(t, err)
	return f
}
