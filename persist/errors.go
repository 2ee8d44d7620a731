package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed3447c163/bloom/internal/failure"
)

// errLocked means that the file is locked through another descriptor.
var errLocked = errors.New("another program has locked the file")

// A fileError wraps any error of this package. Its text has the prefix "persist" once. It quotes file names, because a
// name can contain terminal control characters.
type fileError struct {
	text string
	err  error
}

func (e *fileError) Error() string { return e.text }
func (e *fileError) Unwrap() error { return e.err }

// failed returns the error of an operation on the file at path, nil if err is nil.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	why := failure.Text(err)
	switch err := err.(type) {
	case *fs.PathError:
		if why = err.Err.Error(); err.Path != path {
			why = fmt.Sprintf("%s %q: %v", err.Op, err.Path, err.Err)
		}
	case *os.LinkError:
		why = fmt.Sprintf("%s %q to %q: %v", err.Op, err.Old, err.New, err.Err)
	}
	return &fileError{fmt.Sprintf("persist: %s %q: %s", op, path, why), err}
}
