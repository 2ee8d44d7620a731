package persist

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// create makes a file with a name that nobody else has.
func (osFiles) create(path string) (tempFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFiles) rename(t tempFile, path string) error {
	return move(t, path, windows.MOVEFILE_REPLACE_EXISTING)
}

func (osFiles) publish(t tempFile, path string) error { return move(t, path, 0) }

// move renames a file and returns when the new name is on the disk. An open file
// cannot be renamed.
func move(t tempFile, path string, flags uint32) error {
	f := t.(osFile)
	if err := f.Close(); err != nil {
		return err
	}
	from, err := windows.UTF16PtrFromString(f.Name())
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(from, to, flags|windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return &os.LinkError{Op: "rename", Old: f.Name(), New: path, Err: err}
	}
	return nil
}

func (osFiles) discard(t tempFile) error {
	f := t.(osFile)
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Remove(f.Name())
}

// syncDir has nothing to do: move has waited for the name.
func (osFiles) syncDir(string) error { return nil }
