package bloom

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// golden returns the golden file of a filter. With -update it writes those that
// are missing, and no other.
func golden(t testing.TB, name string, f *BloomFilter) []byte {
	path := filepath.Join("testdata", name+".bloom")
	data, err := os.ReadFile(path)
	if *update && errors.Is(err, fs.ErrNotExist) {
		data = marshal(t, f)
		require.NoError(t, os.WriteFile(path, data, 0o644))
		return data
	}
	require.NoError(t, err)
	return data
}

// TestGoldenFiles: bytes that were written once are what is written today, on every
// architecture, and are read as the filter that they were. A difference breaks every
// file: mend the code, never the golden.
func TestGoldenFiles(t *testing.T) {
	filters := portables(t)
	for name, p := range filters {
		data := golden(t, name, p.f)
		require.True(t, bytes.Equal(data, marshal(t, p.f)), name)
		f, err := Read(bytes.NewReader(data), p.opts...)
		require.NoError(t, err, name)
		same(t, p.f, f)
		require.True(t, bytes.Equal(data, marshal(t, f)), name)
	}
	files, err := filepath.Glob("testdata/*.bloom")
	require.NoError(t, err)
	require.Len(t, files, len(filters), "a golden file of no filter")
}
