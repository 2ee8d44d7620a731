//go:build !unix

package persist

import (
	"io/fs"
	"os"
)

// takeOwner does nothing. On Windows create has set the access list; the other systems have no
// owners.
func takeOwner(*os.File, fs.FileInfo) error { return nil }
