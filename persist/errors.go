package persist

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// failed returns the error of an operation on the file at path, nil if err is nil.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fileError{op, path, err}
}

// A fileError has one prefix. It quotes names, because a name can hold characters that move a
// terminal's cursor.
type fileError struct {
	op, path string
	err      error
}

func (e *fileError) Error() string {
	why := strings.TrimPrefix(e.err.Error(), "bloom: ")
	switch err := e.err.(type) {
	case *fs.PathError:
		if why = err.Err.Error(); err.Path != e.path {
			why = fmt.Sprintf("%s %q: %v", err.Op, err.Path, err.Err)
		}
	case *os.LinkError:
		why = fmt.Sprintf("%s %q to %q: %v", err.Op, err.Old, err.New, err.Err)
	}
	return fmt.Sprintf("persist: %s %q: %s", e.op, e.path, why)
}

func (e *fileError) Unwrap() error { return e.err }
