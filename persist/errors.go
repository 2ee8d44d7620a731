package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ErrReadOnly means that a File is open for reading only.
var ErrReadOnly = errors.New("file is open read-only")

// failed returns the error of an operation on the file at path, nil if err is nil.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fileError{op, path, err}
}

// A fileError names the operation and the file in one line with one prefix. It quotes names,
// because a name can hold characters that move a terminal's cursor.
type fileError struct {
	op, path string
	err      error
}

func (e *fileError) Error() string {
	return fmt.Sprintf("persist: %s %q: %s", e.op, e.path, e.why())
}

func (e *fileError) why() string {
	switch err := e.err.(type) {
	case *fs.PathError:
		if err.Path == e.path {
			return err.Err.Error()
		}
		return fmt.Sprintf("%s %q: %v", err.Op, err.Path, err.Err)
	case *os.LinkError:
		return fmt.Sprintf("%s %q to %q: %v", err.Op, err.Old, err.New, err.Err)
	}
	return strings.TrimPrefix(e.err.Error(), "bloom: ")
}

func (e *fileError) Unwrap() error { return e.err }

// and returns both errors, or the only one. It keeps a single error as it is, for fileError.
func and(err, other error) error {
	switch {
	case other == nil:
		return err
	case err == nil:
		return other
	}
	return errors.Join(err, other)
}
