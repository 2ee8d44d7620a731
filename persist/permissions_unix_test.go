//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/seed3447c163/bloom/internal/testing/child"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/stretchr/testify/require"
)

// left is the end of a leftover's name.
const left = ".0123456789abcdef" + unfinished

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode()
}

// While a file is rewritten, only its owner can read the new one, from before its first byte. Then
// it has the mode of the old one.
func TestUnfinishedFileIsNotExposed(t *testing.T) {
	f := filterWith("new")
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o444, 0o666} {
		path := filepath.Join(testkit.TempDir(t), "f")
		require.NoError(t, Save(path, filterWith("old")))
		require.NoError(t, os.Chmod(path, mode))
		looks := 0
		require.NoError(t, Save(path, writerTo(func(w io.Writer) (int64, error) {
			return f.WriteTo(writerFunc(func(p []byte) (int, error) {
				n, err := w.Write(p)
				temp, _ := filepath.Glob(path + ".*" + unfinished)
				require.Len(t, temp, 1)
				require.Zero(t, modeOf(t, temp[0]).Perm()&^0o600, "while the old file is %v", mode)
				looks++
				return n, err
			}))
		})))
		require.Positive(t, looks)
		require.Equal(t, mode, modeOf(t, path))
		requireNoLeftover(t, path)
	}
}

// A new file of Save and of Open has the mode that os.Create gives.
func TestNewFileIsAsOfCreate(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.NoError(t, Save(path+".saved", filterWith("a")))
	openFile(t, path+".mapped", 1000, 0.01)
	require.Equal(t, modeOf(t, path), modeOf(t, path+".saved"))
	require.Equal(t, modeOf(t, path), modeOf(t, path+".mapped"))
}

// Users and groups that no system has.
const (
	alice, bob, carol, dave = 12345, 12346, 12347, 12348
	team, staff             = 12350, 12351
)

// A person is a user with groups.
type person struct{ uid, gid, group uint32 }

// rights returns what a file with this owner, group and mode lets a person do.
func (p person) rights(uid, gid uint32, mode fs.FileMode) fs.FileMode {
	switch {
	case p.uid == uid:
		return mode >> 6 & 7
	case p.gid == gid || p.group == gid:
		return mode >> 3 & 7
	}
	return mode & 7
}

// TestOwnerAndGroup: alice's files of the group team, of many modes, are saved by several users in several folders. The
// owner, the group and the mode are kept. Without the group, the group's bits are lost. Without the owner, Save needs
// the group, with the rights of the owner, and a folder in which the name may be replaced; else it fails before it
// calls WriteTo, and the old file stays. Nobody gets a right but the owners, who can take each right.
func TestOwnerAndGroup(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: files of other users, because only root may give files away")
	}
	people := []person{{alice, alice, team}, {alice, staff, staff}, {bob, bob, team}, {bob, 0, team}, {carol, staff, staff}, {dave, dave, dave}}
	folder, err := os.MkdirTemp("", "") // t.TempDir is in a folder that only root may enter
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o755))
	program := filepath.Join(folder, "program")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, self, 0o755))
	type stat = *syscall.Stat_t
	statOf := func(path string) (stat, fs.FileMode) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Sys().(stat), info.Mode()
	}
	old, saved := filterWith("old"), map[string]int{}
	for name, c := range map[string]struct {
		dir      fs.FileMode
		uid, gid int // of the folder
		saver    person
		group    bool // is kept
	}{
		"root":                              {0o700 | fs.ModeSticky, alice, team, person{}, true},
		"the owner":                         {0o777, 0, 0, people[0], true},
		"the owner, outside the group":      {0o777, 0, 0, people[1], false},
		"the owner, in a folder of staff":   {0o777 | fs.ModeSetgid, 0, staff, people[1], false},
		"a member":                          {0o777, 0, 0, people[2], true},
		"a member, in a folder of the team": {0o770 | fs.ModeSetgid, 0, team, people[2], true},
		"a container with an fsGroup":       {0o775 | fs.ModeSetgid, 0, team, people[3], true},
		"a member, in a sticky folder":      {0o777 | fs.ModeSticky, 0, 0, people[2], true},
		"a member, in their sticky folder":  {0o777 | fs.ModeSticky, bob, 0, people[2], true},
		"a member, in the owner's sticky":   {0o777 | fs.ModeSticky, alice, 0, people[2], true},
		"a stranger":                        {0o777, 0, 0, people[5], false},
		"a stranger, in a team's folder":    {0o777 | fs.ModeSetgid, 0, team, people[5], true},
	} {
		dir := filepath.Join(folder, name)
		require.NoError(t, os.Mkdir(dir, 0o777))
		var paths []string
		for mode := range fs.FileMode(0o1000) {
			if mode&0o111 == 0 && (mode&0o222)<<1&^mode == 0 { // each of the three has nothing, r, or rw
				path := filepath.Join(dir, fmt.Sprintf("%03o", uint32(mode)))
				var data bytes.Buffer
				_, err := old.WriteTo(&data)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(path, data.Bytes(), 0o600))
				require.NoError(t, os.Chown(path, alice, team))
				require.NoError(t, os.Chmod(path, mode))
				paths = append(paths, path)
			}
		}
		require.Len(t, paths, 27)
		require.NoError(t, os.Chown(dir, c.uid, c.gid))
		require.NoError(t, os.Chmod(dir, c.dir))
		command := child.Command(program, "save once", paths...)
		command.Dir = folder
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.saver.uid, Gid: c.saver.gid, Groups: []uint32{c.saver.group}}}
		out, err := command.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("NOT TESTED: another user, because this test runs in an emulator and cannot start itself")
		}
		require.NotContains(t, string(out), "late: ")
		failed := 0
		for _, path := range paths {
			bits, err := strconv.ParseUint(filepath.Base(path), 8, 32)
			require.NoError(t, err)
			mode, owned := fs.FileMode(bits), c.saver.uid == alice || c.saver.uid == 0
			want := owned || c.group && mode>>6&^(mode>>3) == 0 && c.dir&fs.ModeSticky == 0
			if c.saver.uid != 0 && c.saver.rights(alice, team, mode)&4 == 0 {
				want = false // it might be a mapped filter
			}
			now, after := statOf(path)
			what := fmt.Sprintf("%s, %v: %s, now %v of %d and %d", name, mode, out, after, now.Uid, now.Gid)
			got := loaded(t, path)
			require.Equal(t, want, got.ContainsString("by another user"), what)
			if !want {
				require.True(t, got.Equal(old), what)
				require.Equal(t, person{alice, team, 0}, person{now.Uid, now.Gid, 0}, what)
				require.Equal(t, mode, after, what)
				failed++
				continue
			}
			saved[name]++
			require.Equal(t, owned, now.Uid == alice, what)
			require.Equal(t, c.group, now.Gid == team, what)
			if c.group {
				require.Equal(t, mode, after, what)
			} else {
				require.Zero(t, after&0o070, what)
			}
			for _, p := range people {
				if p.uid != now.Uid && p.uid != alice {
					require.Zero(t, p.rights(now.Uid, now.Gid, after)&^p.rights(alice, team, mode), "%v: %s", p, what)
				}
			}
		}
		require.Equal(t, failed > 0, err != nil, "%s: %s", name, out)
		requireNoLeftover(t, paths[0])
	}
	require.Equal(t, map[string]int{
		"root": 27, "the owner": 18, "the owner, outside the group": 18, "the owner, in a folder of staff": 18,
		"a member": 15, "a member, in a folder of the team": 15, "a container with an fsGroup": 15,
		"a stranger, in a team's folder": 12,
	}, saved)
}

// TestForeignLink: Save refuses a link of another user in a sticky folder that all may write to, and leaves its target.
func TestForeignLink(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: links of other users, because only root may give files away")
	}
	for _, mode := range []fs.FileMode{0o777 | fs.ModeSticky, 0o770 | fs.ModeSticky, 0o777, 0o755} {
		for _, owner := range []int{0, alice, bob} {
			dir, target := testkit.TempDir(t), filepath.Join(testkit.TempDir(t), "f")
			path := filepath.Join(dir, "link")
			require.NoError(t, Save(target, filterWith("old")))
			require.NoError(t, os.Symlink(target, path))
			require.NoError(t, os.Lchown(path, owner, 0))
			require.NoError(t, os.Chown(dir, bob, 0))
			require.NoError(t, os.Chmod(dir, mode))
			err, refused := Save(path, filterWith("new")), mode == 0o777|fs.ModeSticky && owner == alice
			require.Equal(t, refused, errors.Is(err, fs.ErrPermission), "%v of %d: %v", mode, owner, err)
			require.Equal(t, refused, err != nil)
			require.Equal(t, refused, loaded(t, target).ContainsString("old"))
			if refused {
				require.ErrorContains(t, err, strconv.Quote(path)+" is a link of another user in a sticky folder")
			}
		}
	}
}

// TestIsNamed: a file whose name is a link to it has lost its name.
func TestIsNamed(t *testing.T) {
	f, err := os.Create(filepath.Join(testkit.TempDir(t), "f"))
	require.NoError(t, err)
	defer f.Close()
	require.True(t, isNamed(f))
	require.NoError(t, os.Rename(f.Name(), f.Name()+".moved"))
	require.False(t, isNamed(f))
	require.NoError(t, os.Symlink(f.Name()+".moved", f.Name()))
	require.False(t, isNamed(f))
}
