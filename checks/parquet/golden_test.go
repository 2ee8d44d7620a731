package parquet

import (
	"bytes"
	"flag"
	"os"
	"testing"

	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

const testdata = "../../interop/parquet/testdata/"

// small returns a file of parquet-go with two row groups of 40 rows.
func small(t *testing.T, options ...parquetgo.WriterOption) []byte {
	var out bytes.Buffer
	w := parquetgo.NewGenericWriter[row](&out, append(options, parquetgo.BloomFilters(parquetgo.SplitBlockFilter(10, "i64"), parquetgo.SplitBlockFilter(10, "text")), parquetgo.CreatedBy("golden", "1", "1"))...)
	for g := range 2 {
		for i := range 40 {
			_, err := w.Write([]row{rowAt(g*40 + i)})
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// encrypted returns a file of Arrow with an encrypted column, text, under a plain footer.
func encrypted(t *testing.T) []byte {
	columns := arrowparquet.ColumnPathToEncryptionPropsMap{"text": arrowparquet.NewColumnEncryptionProperties("text", arrowparquet.WithKey("0123456789012345"), arrowparquet.WithKeyID("key"))}
	return arrowFile(t, 40, arrowparquet.WithEncryptionProperties(arrowparquet.NewFileEncryptionProperties("5432109876543210",
		arrowparquet.WithPlaintextFooter(), arrowparquet.WithEncryptedColumns(columns), arrowparquet.WithFooterKeyID("footer"))))
}

// metadataFile returns a _metadata file, whose row groups are in another file.
func metadataFile(t *testing.T) []byte {
	reader, err := file.NewParquetReader(bytes.NewReader(arrowFile(t, 4000)))
	require.NoError(t, err)
	reader.MetaData().SetFilePath("part-0.parquet")
	var out bytes.Buffer
	out.WriteString("PAR1")
	length, err := reader.MetaData().WriteTo(&out, nil)
	require.NoError(t, err)
	out.Write([]byte{byte(length), byte(length >> 8), byte(length >> 16), byte(length >> 24)})
	out.WriteString("PAR1")
	return out.Bytes()
}

// points returns a file of parquet-go with a column "a.b" and a column b of a group a.
func points(t *testing.T) []byte {
	type row struct {
		Flat  string `parquet:"a.b"`
		Group struct {
			B string `parquet:"b"`
		} `parquet:"a"`
	}
	var out bytes.Buffer
	w := parquetgo.NewGenericWriter[row](&out, parquetgo.BloomFilters(parquetgo.SplitBlockFilter(10, "a.b"), parquetgo.SplitBlockFilter(10, "a", "b")), parquetgo.CreatedBy("golden", "1", "1"))
	rows := []row{{Flat: "flat"}}
	rows[0].Group.B = "nested"
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestGolden: parquet-go and Arrow still write the files that the tests of interop/parquet read.
func TestGolden(t *testing.T) {
	for name, data := range map[string][]byte{
		"small.parquet":     small(t),
		"gzip.parquet":      small(t, parquetgo.BloomFilterCompression(&parquetgo.Gzip)),
		"encrypted.parquet": encrypted(t),
		"metadata.parquet":  metadataFile(t),
		"points.parquet":    points(t),
	} {
		path := testdata + name
		if *update {
			require.NoError(t, os.WriteFile(path, data, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		if name == "encrypted.parquet" { // differs each time
			columns, err := parquet.Columns(bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			goldenColumns, err := parquet.Columns(bytes.NewReader(want), int64(len(want)))
			require.NoError(t, err)
			require.Equal(t, len(goldenColumns), len(columns))
			continue
		}
		require.True(t, bytes.Equal(want, data), name)
	}
}
