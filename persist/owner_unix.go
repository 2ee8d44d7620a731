//go:build unix

package persist

import (
	"io/fs"
	"os"
	"syscall"
)

// takeOwner gives f the owner and the group of another file, if they are different.
func takeOwner(f *os.File, of fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	want, got := of.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if want.Uid == got.Uid && want.Gid == got.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
