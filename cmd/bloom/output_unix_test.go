//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSharedFile: users of a group go on with a file of the group. Where a save could not keep the owner, all commands
// that write say so before they print or read anything.
func TestSharedFile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: files of other users, because only root may give files away")
	}
	const alice, bob, team = 12345, 12346, 12350
	dir, err := os.MkdirTemp("", "") // t.TempDir is in a folder that only root may enter
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, err1 := os.ReadFile(os.Args[0])
	if err1 != nil || os.WriteFile(filepath.Join(dir, "bloom"), self, 0o755) != nil || os.Chmod(dir, 0o777) != nil {
		t.Fatal(err1)
	}
	path := filepath.Join(dir, "seen.bloom")
	for _, command := range []string{"add FILE", "dedup --filter FILE", "build -n 10 --force -o FILE", "union --force -o FILE FILE"} {
		for _, mode := range []fs.FileMode{0o644, 0o664} {
			expectRun(t, statusFound, "build", "--force", "-n", "1000", "-p", "1e-9", "-o", path, "-k", "alice's")
			if os.Chown(path, alice, team) != nil || os.Chmod(path, mode) != nil {
				t.Fatal("no such file")
			}
			before, _ := os.ReadFile(path)
			cmd := exec.Command(filepath.Join(dir, "bloom"), strings.Fields(strings.ReplaceAll(command, "FILE", path))...)
			cmd.Stdin = strings.NewReader("bob's\n")
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: bob, Gid: bob, Groups: []uint32{team}}}
			cmd.Run()
			after, _ := os.ReadFile(path)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			owner := info.Sys().(*syscall.Stat_t)
			if status := cmd.ProcessState.ExitCode(); mode == 0o664 {
				if status != statusFound || owner.Uid != bob || owner.Gid != team || info.Mode() != mode {
					t.Errorf("%s: status %d, %v of %d and %d, %s", command, status, info.Mode(), owner.Uid, owner.Gid, &said)
				}
			} else if status != statusError || out.Len() > 0 || !strings.HasPrefix(said.String(), "bloom: persist: save ") ||
				!strings.Contains(said.String(), "cannot keep the owner") || strings.Count(said.String(), "\n") > 1 || !bytes.Equal(before, after) {
				t.Errorf("%s: status %d, %q, %s", command, status, &out, &said)
			}
		}
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}
