package persist

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed3447c163/bloom/persist/internal/regularfile"
)

// unfinished is the end of a temporary file's name.
const unfinished = ".unfinished"

// temporary is the pattern of a temporary file's name.
var temporary = "?*." + strings.Repeat("[0-9a-f]", 16) + unfinished

// nextSearch is the time from which removeLeftovers may read a folder again, in nanoseconds since 1970. An error, such
// as a full disk, resets it to 0.
var nextSearch atomic.Int64

// removeLeftovers removes the temporary files in a folder, except files that are locked or that it cannot open for
// writing. After a search of a folder with more than 4,096 names, it does nothing for 20 times as long as the search
// took, so that not every Save reads 100,000 names.
func removeLeftovers(dir string, lock func(*os.File) error) {
	start := time.Now()
	if start.UnixNano() < nextSearch.Load() {
		return
	}
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for seen := 0; err == nil; {
		var names []string
		names, err = d.Readdirnames(1024)
		if seen += len(names); seen > 4096 {
			nextSearch.Store(start.Add(20 * time.Since(start)).UnixNano())
		}
		for _, name := range names {
			if !strings.HasSuffix(name, unfinished) {
				continue // saves the time of Match, up to tens of microseconds
			}
			if is, _ := filepath.Match(temporary, name); !is {
				continue
			}
			name = dir + string(filepath.Separator) + name // Join would drop a link before a ".."
			if f, _, err := regularfile.Open(name, os.O_RDWR|regularfile.NoFollow, fs.ErrExist); err == nil {
				if lock(f) == nil {
					_ = os.Remove(name)
				}
				_ = f.Close()
			}
		}
	}
}
