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
// moment, the file at path is the old one or the new one, whole. When Save has returned without
// an error it is the new one, also after a power cut. The file has every key whose Add had
// returned before Save was called; keys added while it runs may be in the file or not.
//
// Save writes path.unfinished in the same folder, which takes the space of a second filter, and
// renames it. The next Save or Open removes the unfinished file of a killed process; never give
// that name to a file of yours. If another user has a file of that name, Save adds random digits
// to its own. Saves of the same path, and an [Open] that makes the file, wait for each other, also
// in other processes of the same user. The last one stays.
//
// Save replaces the file that it found, and never another one: if another program gives the name
// to a new file in between, Save returns an error that wraps fs.ErrExist. On Linux and macOS
// this is decided in the step that renames; on Windows and the BSDs this holds for a new name,
// while an old file is compared just before that step.
//
// A new file gets the permissions that os.Create gives, from its first byte. If there is an old
// file, its permissions, owner and group are kept, or Save fails; until the new file is complete
// only its owner can read it. Access lists and other attributes are not kept. (On Windows the
// access list is kept, and the user that saves is the owner. There the lock is a file,
// path.unfinished.lock, and a program that has opened the old file by other means than this
// package prevents replacing it.) If path is a symbolic link, Save replaces the file that it
// leads to.
//
// The error is that of WriteTo or of the operating system. It wraps fs.ErrExist if path names a
// mapped filter or no regular file. Save does not replace an old file that it cannot read, because
// that might be a mapped filter. An error leaves the old file and no other, except an error of the
// last step, which makes the new name safe against a power cut: the file is then the new one, and
// after a power cut may be the old one.
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

// realPath follows symbolic links. The last link may lead to a file that is not there yet.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	for range 40 { // as many as Linux follows
		if err == nil {
			return real, nil
		}
		target, notLink := os.Readlink(path)
		if notLink != nil {
			return path, nil // a new file, or an error that the next step returns too
		}
		if !filepath.IsAbs(target) {
			dir, _ := filepath.Split(path)
			target = dir + target // not cleaned: "link/.." is the parent of the link's target
		}
		path = target
		real, err = filepath.EvalSymlinks(path)
	}
	return "", err
}

// isMapped reports whether a file holds a mapped filter.
func isMapped(f io.ReaderAt) bool {
	head := make([]byte, len(magic))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// Load reads a filter that [Save] has written, as [bloom.Read] does, with its options and
// errors. Bytes after the end of the filter are an error that wraps bloom.ErrCorrupt; so is a
// file of another kind, and the error names the kind and the function that reads it. If there
// is no file, the error wraps fs.ErrNotExist.
func Load(path string, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	f, err := load(path, opts)
	if err != nil {
		return nil, failed("load", path, err)
	}
	return f, nil
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
	if n, err := file.Read(make([]byte, 1)); n > 0 {
		return nil, fmt.Errorf("%w: bytes after the end of the filter", bloom.ErrCorrupt)
	} else if err != io.EOF {
		return nil, err
	}
	return f, nil
}
