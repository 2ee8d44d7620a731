package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// holes returns how many bytes of a file have no space on the disk.
func holes(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size() - info.Sys().(*syscall.Stat_t).Blocks*512
}

// All the space of a file is reserved before it is mapped, for a new file and for a copy with holes:
// a disk that is full later cannot stop the program.
func TestSpaceIsReserved(t *testing.T) {
	dir := testkit.TempDir(t)
	path, sparse := filepath.Join(dir, "f"), filepath.Join(dir, "copy")
	probe, err := os.Create(filepath.Join(dir, "probe"))
	require.NoError(t, err)
	defer probe.Close()
	if err := reserve(probe, 1<<20); notSupported(err) {
		t.Skip("NOT TESTED: reserved space, because this file system cannot reserve")
	}
	openFile(t, path, 1_000_000, 0.01).AddString("key")
	require.LessOrEqual(t, holes(t, path), int64(0))

	makeSparse(t, sparse, path)
	f, err := OpenReadOnly(sparse) // which never changes the file
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Positive(t, holes(t, sparse))
	openFile(t, sparse, 1_000_000, 0.01)
	require.LessOrEqual(t, holes(t, sparse), int64(0))
}

// A file that cannot be read may be a mapped filter. The first bytes of this one cannot: no memory is there.
func TestSaveOverAFileThatCannotBeRead(t *testing.T) {
	require.ErrorIs(t, Save("/proc/self/mem", filterWith("a")), syscall.EIO)
}

// makeSparse makes a file with the header and the size of another one, and a hole for the words.
func makeSparse(t *testing.T, path, of string) {
	t.Helper()
	file, err := os.ReadFile(of)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, file[:headerSize], 0o600))
	require.NoError(t, os.Truncate(path, int64(len(file))))
	require.Positive(t, holes(t, path))
}

// On a file system that cannot reserve, zeros are written.
func TestWriteZeros(t *testing.T) {
	for _, size := range []int64{0, 1, 1 << 20, 3<<20 + 5} {
		path := filepath.Join(testkit.TempDir(t), "f")
		f, err := os.Create(path)
		require.NoError(t, err)
		_, err = f.WriteString("head")
		require.NoError(t, err)
		require.NoError(t, writeZeros(f, 4, size))
		require.NoError(t, f.Close())
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(append([]byte("head"), make([]byte, size)...), got))
	}
}

func init() {
	yieldProcessor = func() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
}

// On tmpfs a hole takes memory when it is read. If there is none, OpenReadOnly returns an error
// instead of lookups that end the program.
func TestSparseFileInFullMemory(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("NOT TESTED: a full tmpfs, because it cannot be mounted:", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	whole := filepath.Join(t.TempDir(), "f")
	openFile(t, whole, 400_000, 0.01)
	sparse, filler := filepath.Join(dir, "f"), filepath.Join(dir, "filler")
	makeSparse(t, sparse, whole)
	lookups := func() error {
		f, err := OpenReadOnly(sparse)
		if err != nil {
			return err
		}
		defer f.Close()
		require.False(t, faults(func() { f.Stats() }), "a lookup would have ended the program")
		return nil
	}
	require.Error(t, os.WriteFile(filler, make([]byte, 1<<20), 0o600))
	require.ErrorIs(t, lookups(), syscall.ENOSPC)
	require.NoError(t, os.Remove(filler))
	require.NoError(t, lookups())
	_ = os.WriteFile(filler, make([]byte, 1<<20), 0o600)
	require.NoError(t, lookups(), "it has its memory now")
}

// TestSaveToAnOpenFile: what leads to an open file of a process is no name of a file.
func TestSaveToAnOpenFile(t *testing.T) {
	file, err := os.Create(filepath.Join(testkit.TempDir(t), "f"))
	require.NoError(t, err)
	defer file.Close()
	link := file.Name() + ".link"
	require.NoError(t, os.Symlink(fmt.Sprintf("/dev/fd/%d", file.Fd()), link))
	for _, path := range []string{link, fmt.Sprintf("/dev/fd/%d", file.Fd()), fmt.Sprintf("/proc/self/fd/%d", file.Fd())} {
		err := Save(path, filterWith("a"))
		require.ErrorIs(t, err, fs.ErrExist, path)
		require.ErrorContains(t, err, "it is an open file of a process, want the name of a file")
	}
	opened, err1 := file.Stat()
	named, err2 := os.Stat(file.Name())
	require.NoError(t, errors.Join(err1, err2))
	require.True(t, os.SameFile(opened, named) && opened.Size() == 0)
}

// TestSaveToAMountedFile mounts one, where that is allowed.
func TestSaveToAMountedFile(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	require.NoError(t, Save(path, filterWith("a")))
	self, err := os.Executable()
	require.NoError(t, err)
	const script = `mount --bind "$1" "$1" && exec "$0" "$1"`
	said, err := child.Command("unshare", "save once", "-m", "sh", "-c", script, self, path).CombinedOutput()
	require.Error(t, err)
	if !strings.Contains(string(said), "child save once") {
		t.Skipf("NOT TESTED: a mount is not allowed: %v, %s", err, said)
	}
	require.Contains(t, string(said), "mount its folder")
	require.True(t, loaded(t, path).ContainsString("a"))
}

// accessListOf returns an access list with entries for users: tag, permissions and number. The group may do nothing.
// The mask has all permissions of the entries.
func accessListOf(users ...[3]uint32) (value []byte) {
	const all = 1<<32 - 1
	mask := uint32(0)
	for _, u := range users {
		mask |= u[1]
	}
	value = binary.LittleEndian.AppendUint32(value, 2) // version
	for _, e := range append(append([][3]uint32{{1, 6, all}}, users...), [3]uint32{4, 0, all}, [3]uint32{16, mask, all}, [3]uint32{32, 0, all}) {
		value = binary.LittleEndian.AppendUint16(value, uint16(e[0]))
		value = binary.LittleEndian.AppendUint16(value, uint16(e[1]))
		value = binary.LittleEndian.AppendUint32(value, e[2])
	}
	return value
}

// TestAccessList: a file keeps its access list. Without the list, its group would have the permissions of the mask. A
// file without a list gets none from its folder.
func TestAccessList(t *testing.T) {
	list := accessListOf([3]uint32{2, 4, alice}) // one user may read, the group may not
	path := filepath.Join(testkit.TempDir(t), "f")
	require.NoError(t, Save(path, filterWith("a")))
	require.NoError(t, os.Chmod(path, 0o640))
	if err := unix.Setxattr(filepath.Dir(path), "system.posix_acl_default", list, 0); errors.Is(err, unix.ENOTSUP) {
		t.Skip("NOT TESTED: access lists, because the file system has none")
	}
	got := make([]byte, 1000)
	require.NoError(t, Save(path, filterWith("b")))
	_, err := unix.Getxattr(path, "system.posix_acl_access", got)
	require.ErrorIs(t, err, unix.ENODATA)
	require.Equal(t, fs.FileMode(0o640), modeOf(t, path))

	require.NoError(t, unix.Setxattr(path, "system.posix_acl_access", list, 0))
	require.NoError(t, Save(path, filterWith("c")))
	n, err := unix.Getxattr(path, "system.posix_acl_access", got)
	require.NoError(t, err)
	require.Equal(t, list, got[:n])
	require.Equal(t, fs.FileMode(0o640), modeOf(t, path))
}

// TestAccessListNeedsItsOwner: a list may give the group less than the mode shows, so that the old owner or the list's
// users could lose access to a file that another user saves, and the group could become others.
func TestAccessListNeedsItsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: files of other users, because only root may give files away")
	}
	folder, err := os.MkdirTemp("", "") // t.TempDir is in a folder that only root may enter
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o777))
	program, path := filepath.Join(folder, "program"), filepath.Join(folder, "f")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, self, 0o755))
	for name, saver := range map[string]person{"root": {}, "the owner": {alice, alice, team}, "a member": {bob, bob, team}, "the owner, outside the group": {alice, staff, staff}} {
		require.NoError(t, Save(path, filterWith("old")))
		require.NoError(t, os.Chown(path, alice, team))
		list := accessListOf([3]uint32{2, 6, bob}, [3]uint32{2, 4, carol}) // the group may do nothing
		if err := unix.Setxattr(path, listName, list, 0); errors.Is(err, unix.ENOTSUP) {
			t.Skip("NOT TESTED: access lists, because the file system has none")
		}
		command := child.Command(program, "save once", path)
		command.Dir = folder
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: saver.uid, Gid: saver.gid, Groups: []uint32{saver.group}}}
		out, err := command.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("NOT TESTED: another user, because this test runs in an emulator and cannot start itself")
		}
		want := name == "root" || name == "the owner"
		require.Equal(t, want, err == nil, "%s: %s", name, out)
		require.Equal(t, want, loaded(t, path).ContainsString("by another user"), name)
		require.Equal(t, !want, strings.Contains(string(out), "cannot keep the access list"), "%s: %s", name, out)
		got := make([]byte, 1000)
		n, err := unix.Getxattr(path, listName, got)
		require.NoError(t, err)
		require.Equal(t, list, got[:n], name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, [2]uint32{alice, team}, [2]uint32{info.Sys().(*syscall.Stat_t).Uid, info.Sys().(*syscall.Stat_t).Gid}, name)
		requireNoLeftover(t, path)
	}
}
