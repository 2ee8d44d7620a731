package guard

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed3447c163/bloom/persist"
)

// TestListIsReadAgainAfterItCouldNotBe: what is wrong with the disk is not wrong with the file, and
// may pass without a change of it.
func TestListIsReadAgainAfterItCouldNotBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, persist.Save(path, listOf("a")))
	l, err := OpenList(path)
	require.NoError(t, err)
	require.NotZero(t, l.seen)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink("/proc/self/mem", path)) // a file whose first byte cannot be read
	changed, err := l.Reload()
	require.ErrorIs(t, err, syscall.EIO)
	require.False(t, changed)
	require.Zero(t, l.seen)
	only(t, l, "a")
}
