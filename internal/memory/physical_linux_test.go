package memory

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmallest: the limit of a container is found in both versions of control groups, also where
// its own group is not visible, and where a parent has the smaller limit.
func TestSmallest(t *testing.T) {
	for name, c := range map[string]struct {
		groups string
		files  map[string]string
		want   uint64
	}{
		"no group":                {"", nil, math.MaxUint64},
		"version 2":               {"0::/a/b\n", map[string]string{"a/b/memory.max": "1000\n", "a/memory.max": "max\n"}, 1000},
		"version 2, parent":       {"0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "2000\n"}, 2000},
		"version 2, own root":     {"0::/\n", map[string]string{"memory.max": "3000\n"}, 3000},
		"version 1":               {"5:cpu:/x\n4:hugetlb,memory:/a\n0::/\n", map[string]string{"memory/a/memory.limit_in_bytes": "4000\n"}, 4000},
		"version 1, not visible":  {"4:memory:/docker/123\n", map[string]string{"memory/memory.limit_in_bytes": "5000\n"}, 5000},
		"another controller":      {"4:memoryless:/a\n", map[string]string{"memory/a/memory.limit_in_bytes": "6000\n"}, math.MaxUint64},
		"a file that is not text": {"0::/a\n::::\nx", map[string]string{"a/memory.max": "\x00"}, math.MaxUint64},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
		}
		require.Equal(t, c.want, smallest(root, c.groups), name)
	}
}
