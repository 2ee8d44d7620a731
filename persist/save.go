package persist

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/regular"
)

// Save writes a filter to a file, by its WriteTo. If the program or the machine stops at any
// moment, the file at path is the old one or the new one, whole. When Save has returned nil it is
// the new one, also after a power cut. The file has every key whose Add had returned before the
// call; keys added during the call may be in the file or not.
//
// Save writes path.unfinished in the same folder, which takes the space of a second filter, and
// renames it. Do not use that name for another file: the next Save or [Open] removes it. The empty
// file path.unfinished.lock makes Saves of the same path wait for each other, also in other
// processes of the same user. If path is a symbolic link, Save replaces its target.
//
// A new file has the permissions of os.Create from its first byte. A replaced file keeps its
// permissions, owner and group, or Save fails; until the new file is complete only its owner can
// read it. Access lists and other attributes are lost. (On Windows the access list is kept, and the
// caller becomes the owner.)
//
// The error is that of WriteTo or of the operating system. It wraps fs.ErrExist if path names a
// mapped filter, a file that another program has put there since the call, or no regular file. An
// old file that cannot be read is an error, because it might be a mapped filter. After an error the
// old file is unchanged, except if the last step fails, the sync of the folder. docs/files.md has
// the limits of each system.
func Save(path string, f io.WriterTo) error {
	return failed("save", path, save(osFiles{}, path, f))
}

func save(files fileSystem, path string, w io.WriterTo) error {
	path, err := realPath(path)
	if err != nil {
		return err
	}
	return replaceFile(files, path, func(file tempFile) error {
		if old := file.replaces(); old != nil && isMapped(old) {
			// Programs that have it open would go on with a file that has no name.
			return fmt.Errorf("%w: it is a mapped filter, remove it first", fs.ErrExist)
		}
		if _, err := w.WriteTo(file); err != nil {
			return err
		}
		return file.inherit()
	})
}

// realPath follows symbolic links in the last part of a path. The last link may lead to a new file.
func realPath(path string) (string, error) {
	const most = 40 // as on Linux
	for range most {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link; the next step returns other errors too
		}
		if !filepath.IsAbs(target) {
			dir, _ := filepath.Split(path)
			target = dir + target // not cleaned: "link/.." is the parent of the link's target
		}
		path = target
	}
	return "", fmt.Errorf("more than %d symbolic links", most)
}

// isMapped reports whether a file holds a mapped filter.
func isMapped(f io.ReaderAt) bool {
	head := make([]byte, len(magic))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// Load reads a filter that [Save] has written, as [bloom.Read] does, with its options and errors.
// The error wraps bloom.ErrCorrupt if there are bytes after the end of the filter or the file is of
// another kind; then it names the kind and the function that reads it. If there is no file, it
// wraps fs.ErrNotExist.
func Load(path string, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	f, err := load(path, opts)
	return f, failed("load", path, err)
}

func load(path string, opts []bloom.Option) (*bloom.BloomFilter, error) {
	file, _, err := regular.Open(path, os.O_RDONLY, bloom.ErrCorrupt)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// Read sees that this is a file, and allocates the whole filter at once.
	f, err := bloom.Read(file, opts...)
	if err == io.EOF {
		return nil, fmt.Errorf("%w: the file is empty", bloom.ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	switch n, err := file.Read(make([]byte, 1)); {
	case n > 0:
		return nil, fmt.Errorf("%w: bytes after the end of the filter", bloom.ErrCorrupt)
	case err != io.EOF:
		return nil, err
	}
	return f, nil
}
