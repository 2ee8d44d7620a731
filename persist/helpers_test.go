package persist

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// key returns the i-th of a sequence of different keys.
func key(i uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte("https://example.com/"), i*0x9e3779b97f4a7c15)
}

func filterWith(keys ...string) *bloom.BloomFilter {
	f := bloom.MustNew(1000, 1e-6)
	f.AddStrings(keys, nil)
	return f
}

func openFile(t testing.TB, path string, n uint64, p float64, opts ...bloom.Option) *File {
	t.Helper()
	f, err := Open(path, n, p, opts...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return f
}

func loaded(t *testing.T, path string) *bloom.BloomFilter {
	t.Helper()
	f, err := Load(path)
	require.NoError(t, err)
	return f
}

func requireNoLeftover(t *testing.T, path string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"+unfinished+"*"))
	require.NoError(t, err)
	require.Empty(t, found)
}

// faults reports whether a call touches memory that is not there or protected.
func faults(call func()) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			_, fault = r.(interface{ Addr() uintptr })
		}
	}()
	call()
	return false
}

// A hookedDisk is the file system with a hook before each step, which can make it fail.
type hookedDisk struct {
	osFiles
	hook func(step, path string) error
	file *os.File // the last temporary file
}

func (d *hookedDisk) create(path string) (tempFile, error) {
	if err := d.hook("create", path); err != nil {
		return nil, err
	}
	f, err := d.osFiles.create(path)
	if err != nil {
		return nil, err
	}
	d.file = f.(osFile).File
	return hookedFile{f.(osFile), d}, nil
}

func (d *hookedDisk) publish(f tempFile, path string) error {
	if err := d.hook("publish", path); err != nil {
		return err
	}
	return d.osFiles.publish(f.(hookedFile).osFile, path)
}

func (d *hookedDisk) discard(f tempFile) error { return d.osFiles.discard(f.(hookedFile).osFile) }

func (d *hookedDisk) syncDir(dir string) error {
	if err := d.hook("syncDir", dir); err != nil {
		return err
	}
	return d.osFiles.syncDir(dir)
}

type hookedFile struct {
	osFile
	disk *hookedDisk
}

func (f hookedFile) Write(p []byte) (int, error) {
	if err := f.disk.hook("write", f.Name()); err != nil {
		n, _ := f.osFile.Write(p[:len(p)/2])
		return n, err
	}
	return f.osFile.Write(p)
}

func (f hookedFile) inherit() error {
	if err := f.disk.hook("inherit", f.Name()); err != nil {
		return err
	}
	return f.osFile.inherit()
}

func (f hookedFile) Sync() error {
	if err := f.disk.hook("sync", f.Name()); err != nil {
		return err
	}
	return f.osFile.Sync()
}

func (f hookedFile) allocate(offset, size int64) error {
	if err := f.disk.hook("allocate", f.Name()); err != nil {
		return err
	}
	return f.osFile.allocate(offset, size)
}

// before returns a disk that calls do before a step.
func before(step string, do func()) *hookedDisk {
	return &hookedDisk{hook: func(now, _ string) error {
		if now == step {
			do()
		}
		return nil
	}}
}

// children are what a process can run instead of the tests. It ends when its standard input does,
// in case the test is gone.
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

// A process is a running child.
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
		t.Skip("NOT TESTED: several processes, because this test runs in an emulator and cannot start itself")
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

func untilStdinEnds() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(2)
}
