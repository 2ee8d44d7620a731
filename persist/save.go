package persist

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/regular"
)

// Save writes a filter to a file, by its WriteTo. Whenever the program or the machine
// stops, the file at path is the old one or the new one, whole; when Save has
// returned without an error, it is the new one, also after a power cut. Keys that
// are added while Save runs may be in the file or not; those whose Add had
// returned before are.
//
// It writes a file of its own in the same folder, called path.unfinished, which
// takes the space of a second filter, and then renames it. A leftover of a
// process that was killed is removed by the next Save; never give that name to a file
// of yours. Saves of the same path wait for each other and for an [Open] that makes the
// file, also those of other processes; the last one stays.
//
// A new file gets the permissions that os.Create gives. An old one's are kept, and so
// are its owner and its group; where the system does not allow that, Save fails. Until
// the new file is complete only its owner may read it. Access lists and other
// attributes are not kept. (On Windows it is the other way round: the access list is
// kept, and the owner is who saves. There the lock is a file, path.unfinished.lock, and
// who has opened the old file by other means than this package keeps it from being
// replaced.) If path is a symbolic link, the file that it leads
// to is replaced.
//
// The error is that of WriteTo or of the operating system; it wraps fs.ErrExist if path
// names a mapped filter or no regular file, if path.unfinished is a link or no regular
// file, or if another program has given the name to another file meanwhile. An old file
// that cannot be read is not replaced, as it might be a mapped filter. An error
// leaves the old file and no other, unless it came from the last step, which makes the
// new name safe against a power cut: then the file is the new one, but after a power cut
// may be the old one.
func Save(path string, f io.WriterTo) error {
	return failed("save", path, save(osFiles{}, path, f))
}

func save(files fileSystem, path string, w io.WriterTo) error {
	path, err := realPath(path)
	if err != nil {
		return err
	}
	file, err := files.create(path)
	if err != nil {
		return err
	}
	if old := file.replaces(); old != nil && isMapped(old) {
		// Those that have it open would go on with a file that has no name.
		return and(fmt.Errorf("%w: it is a mapped filter, remove it first", fs.ErrExist), files.discard(file))
	}
	written := false
	defer func() {
		if !written { // WriteTo has panicked, and nothing else releases the file and its lock
			_ = files.discard(file)
		}
	}()
	_, err = w.WriteTo(file)
	written = true
	if err == nil {
		err = file.inherit()
	}
	if err == nil {
		err = file.Sync() // before the rename, or the new name could come to an empty file
	}
	if err == nil {
		err = files.rename(file, path)
	}
	if err != nil {
		return and(err, files.discard(file))
	}
	return files.syncDir(folder(path))
}

// folder returns the folder of a file as the system finds it. filepath.Dir would take a name that a
// ".." follows away, and it may be that of a link.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, ".")
}

// realPath follows symbolic links, the last of which may lead to a file that is not there
// yet.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	for range 40 { // as many as Linux follows
		if err == nil {
			return real, nil
		}
		target, notLink := os.Readlink(path)
		if notLink != nil {
			return path, nil // a new file, or an error that the next step meets too
		}
		if !filepath.IsAbs(target) {
			dir, _ := filepath.Split(path)
			target = dir + target // not cleaned, see folder
		}
		path = target
		real, err = filepath.EvalSymlinks(path)
	}
	return "", err
}

// isMapped reports whether a file is of Open's kind.
func isMapped(f io.ReaderAt) bool {
	head := make([]byte, len(magic))
	_, err := f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// Load reads a filter that [Save] has written, as [bloom.Read] does, with its
// options and errors. The file must end where the filter does: more bytes are an
// error that wraps bloom.ErrCorrupt. If there is no file, the error wraps
// fs.ErrNotExist.
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
	if isMapped(file) {
		return nil, fmt.Errorf("%w: it is a mapped filter, for Open", bloom.ErrCorrupt)
	}
	// Read sees that it is a file, and asks for the memory only once.
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
