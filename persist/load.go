package persist

import (
	"io"
	"os"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/persist/internal/regularfile"
)

// Load reads a filter that [Save] has written, as [bloom.Read] does, with its options and errors.
// The error also wraps bloom.ErrCorrupt if there are bytes after the end of the filter. If there is
// no file, it wraps fs.ErrNotExist.
func Load(path string, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	return LoadWith(path, bloom.Read, opts...)
}

// LoadWith is [Load] for a filter of another kind. read is the Read function of package rotating, scalable, counting or
// cascade, or of a package for another library's format:
//
//	f, err := persist.LoadWith("today.filter", rotating.Read)
func LoadWith[T, Option any](path string, read func(io.Reader, ...Option) (T, error), opts ...Option) (T, error) {
	var none T
	file, _, err := regularfile.Open(path, os.O_RDONLY, bloom.ErrCorrupt)
	if err != nil {
		return none, failed("load", path, err)
	}
	defer file.Close()
	// The function read gets the file itself: it knows the size then, and allocates the whole filter at once.
	f, err := read(file, opts...)
	if err == io.EOF {
		err = failure.Errorf(bloom.ErrCorrupt, "the file is empty")
	}
	if err == nil {
		var n int
		if n, err = file.Read(make([]byte, 1)); n > 0 {
			err = failure.Errorf(bloom.ErrCorrupt, "bytes after the end of the filter")
		} else if err == io.EOF {
			return f, nil
		}
	}
	return none, failed("load", path, err)
}
