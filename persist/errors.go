package persist

import "errors"

// ErrReadOnly means that a File is open for reading only.
var ErrReadOnly = errors.New("file is open read-only")
