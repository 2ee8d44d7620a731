package parquet

import (
	"bytes"
	"flag"
	"os"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden file")

// TestGolden: parquet-go goes on writing what the tests of interop/parquet read, up to what
// names the program that wrote it.
func TestGolden(t *testing.T) {
	var out bytes.Buffer
	w := parquetgo.NewGenericWriter[row](&out, parquetgo.BloomFilters(parquetgo.SplitBlockFilter(10, "i64"), parquetgo.SplitBlockFilter(10, "text")), parquetgo.CreatedBy("golden", "1", "1"))
	for g := range 2 {
		for i := range 40 {
			_, err := w.Write([]row{rowAt(g*40 + i)})
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
	}
	require.NoError(t, w.Close())
	const path = "../../interop/parquet/testdata/small.parquet"
	if *update {
		require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, out.Bytes()))
}
