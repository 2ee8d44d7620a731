package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/seed3447c163/bloom/persist/internal/regularfile"
)

// Save writes a filter to a file with its WriteTo method. If the program or the machine stops at any moment, the file
// is the complete old one or the complete new one. When Save has returned nil it is the new one, even after a power
// cut. The file has every key whose Add had returned before the call, and perhaps keys added during the call.
//
// Save writes a temporary file in the same folder and renames it. The temporary file takes the space of a second
// filter. If path is a symbolic link, Save replaces its target; on Unix it refuses a link that another user has put
// into a sticky folder such as /tmp. Saves of one path by one process run one after the other. Save does not wait for
// other processes: the last rename wins. The temporary file is called path.*.unfinished, where * is 16 hexadecimal
// digits, and path is cut if the name would have more than 255 bytes. A killed process leaves it. A later Save to the
// folder removes it. The file of a running Save is locked, and stays.
//
// A new file has the permissions of os.Create from its first byte. Until a replacement is complete, only its owner can
// read it. A replaced file keeps its permissions, owner and group, with four exceptions:
//
//   - If the caller may not keep the group, the group's permissions are lost.
//   - If the caller may not keep the owner, Save fails before it calls WriteTo. It replaces the file only if the group
//     is kept, the group has all permissions of the owner, as in mode 0660 or 0664, and the folder is not sticky. An
//     owner outside the group then loses access.
//   - On Linux, Save of a file with an access list fails if the caller may not keep both owner and group.
//   - On Windows, the caller becomes the owner.
//
// Access lists are kept on Linux and Windows. Other attributes are lost.
//
// Save returns any error from WriteTo or the operating system. The error wraps fs.ErrExist if path names a mapped
// filter, an open file such as /dev/stdout, or anything but a regular file. An old file that cannot be read is an
// error, because it might be a mapped filter. After an error the old file is unchanged, except if the last step, the
// sync of the folder, fails. [docs/files.md] has the limits of each system.
//
// [docs/files.md]: https://github.com/seed3447c163/bloom/blob/main/docs/files.md
func Save(path string, f io.WriterTo) error {
	return failed("save", path, save(osFiles{}, path, f))
}

func save(files fileSystem, path string, w io.WriterTo) (err error) {
	if path, err = realPath(path); err != nil {
		return err
	}
	defer lockPath(path)()
	old, err := openOld(path)
	defer func() { old.Close() }() // frees the space of a replaced file
	if err != nil {
		return err
	}
	return makeFile(files, path, old, func(file tempFile) error {
		if _, err := w.WriteTo(file); err != nil {
			return err
		}
		if err := file.inherit(old); err != nil {
			return err
		}
		if err := file.Sync(); err != nil { // before the rename: otherwise only the rename could survive a power cut
			return err
		}
		for {
			// Another process may have replaced the old file since openOld.
			old.Close()
			if old, err = openOld(path); err != nil {
				return err
			}
			if err := file.inherit(old); err != nil {
				return err
			}
			if runtime.GOOS == "windows" {
				old.Close() // some versions of Windows do not replace an open file
			}
			err = explained(files.publish(file, path, old != nil))
			if old != nil || !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	})
}

// openOld opens the file that a Save replaces. It returns nil if there is none, and an error if Save must not replace
// it. It follows no link, because realPath has followed them.
func openOld(path string) (*os.File, error) {
	f, _, err := regularfile.Open(path, os.O_RDONLY|regularfile.NoFollow, fs.ErrExist)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	mapped, err := isMapped(f)
	if mapped {
		// Programs that have the mapped filter open would continue to use the replaced file.
		err = fmt.Errorf("%w: it is a mapped filter, remove it first", fs.ErrExist)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// explained adds the reason and the remedy to the error of a rename, if they are known.
func explained(err error) error {
	if link := (*os.LinkError)(nil); errors.As(err, &link) && errors.Is(err, syscall.EBUSY) {
		err = &os.LinkError{Op: link.Op, Old: link.Old, New: link.New, Err: fmt.Errorf(
			"%w: a file that is mounted by itself, as into a container, cannot be replaced; mount its folder", link.Err)}
	}
	return err
}

// isMapped reports whether a file holds a mapped filter.
func isMapped(f io.ReaderAt) (bool, error) {
	head := make([]byte, len(magic))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return false, err
	}
	return string(head) == magic, nil
}

// realPath follows symbolic links in the last part of a path. The last link may lead to a new file.
func realPath(path string) (string, error) {
	const most = 40 // as on Linux
	for range most {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // path is no link, or the next step will return the error, too
		}
		if foreignLink(path) {
			return "", fmt.Errorf("%w: %q is a link of another user in a sticky folder", fs.ErrPermission, path)
		}
		if dir, err := filepath.EvalSymlinks(folder(path)); err == nil && strings.HasPrefix(dir, "/proc/") {
			// The path is one such as /dev/stdout. Programs that have the file open would not see the new one.
			return "", fmt.Errorf("%w: it is an open file of a process, want the name of a file", fs.ErrExist)
		}
		if !filepath.IsAbs(target) {
			dir, _ := filepath.Split(path)
			target = dir + target // not cleaned: "link/.." is the parent of the link's target
		}
		path = target
	}
	return "", fmt.Errorf("more than %d symbolic links", most)
}
