// Package parquet compares interop/parquet with other implementations of Parquet: with
// parquet-go, with Apache Arrow's for Go, and with DuckDB under Node.
package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/testing/testkit"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/stretchr/testify/require"
)

const (
	rowsOfGroup = 50_000
	groups      = 2
)

// A row has a column of each physical type.
type row struct {
	I32   int32            `parquet:"i32"`
	I64   int64            `parquet:"i64"`
	I96   deprecated.Int96 `parquet:"i96"`
	F32   float32          `parquet:"f32"`
	F64   float64          `parquet:"f64"`
	Text  string           `parquet:"text"`
	Fixed [16]byte         `parquet:"fixed"`
}

// rowAt returns row i. The file has the first groups·rowsOfGroup rows.
func rowAt(i int) row {
	r := row{I32: int32(i)*7 - 5, I64: int64(i) * 1_000_003, I96: deprecated.Int96{uint32(i), 3, 9}, F32: float32(i) / 4, F64: float64(i) / 7, Text: fmt.Sprint("name ", i)}
	binary.BigEndian.PutUint64(r.Fixed[4:], uint64(i))
	return r
}

var columns = []struct {
	name string
	typ  string
	key  func(dst []byte, r row) []byte
}{
	{"i32", "INT32", func(dst []byte, r row) []byte { return parquet.Append(dst, r.I32) }},
	{"i64", "INT64", func(dst []byte, r row) []byte { return parquet.Append(dst, r.I64) }},
	{"i96", "INT96", func(dst []byte, r row) []byte {
		var v [12]byte
		for i, x := range r.I96 {
			binary.LittleEndian.PutUint32(v[4*i:], x)
		}
		return append(dst, v[:]...)
	}},
	{"f32", "FLOAT", func(dst []byte, r row) []byte { return parquet.Append(dst, r.F32) }},
	{"f64", "DOUBLE", func(dst []byte, r row) []byte { return parquet.Append(dst, r.F64) }},
	{"text", "BYTE_ARRAY", func(dst []byte, r row) []byte { return append(dst, r.Text...) }},
	{"fixed", "FIXED_LEN_BYTE_ARRAY", func(dst []byte, r row) []byte { return append(dst, r.Fixed[:]...) }},
}

// written is a file of parquet-go.
func written(t *testing.T) []byte {
	var out bytes.Buffer
	var filters []parquetgo.BloomFilterColumn
	for _, c := range columns {
		filters = append(filters, parquetgo.SplitBlockFilter(10, c.name))
	}
	w := parquetgo.NewGenericWriter[row](&out, parquetgo.BloomFilters(filters...))
	for g := range groups {
		var rows []row
		for i := range rowsOfGroup {
			rows = append(rows, rowAt(g*rowsOfGroup+i))
		}
		_, err := w.Write(rows)
		require.NoError(t, err)
		require.NoError(t, w.Flush())
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func columnsOf(t *testing.T, data []byte) []parquet.Column {
	var found []parquet.Column
	for c, err := range parquet.Columns(bytes.NewReader(data), int64(len(data))) {
		require.NoError(t, err)
		found = append(found, c)
	}
	return found
}

// TestAgainstParquetGo: its filters are found in the file and have the bytes of the filters made here from the same
// values.
func TestAgainstParquetGo(t *testing.T) {
	data := written(t)
	found := columnsOf(t, data)
	require.Len(t, found, groups*len(columns))
	for i, column := range found {
		g, c := i/len(columns), columns[i%len(columns)]
		types := c.typ
		if c.typ == "FIXED_LEN_BYTE_ARRAY" {
			types += "(16)"
		}
		require.Contains(t, column.String(), fmt.Sprintf("%s:%d %s", c.name, g, types))
		require.Equal(t, []any{g, groups, c.name, c.typ}, []any{column.RowGroup, column.RowGroups, column.Path, column.Type})
		read, err := column.Filter(bytes.NewReader(data)) // it may have added a zero
		require.NoError(t, err)

		made := read.Clone()
		made.Clear()
		for i := range rowsOfGroup {
			key := c.key(nil, rowAt(g*rowsOfGroup+i))
			require.True(t, read.Contains(key))
			made.Add(key)
		}
		var ours bytes.Buffer
		require.NoError(t, parquet.Write(&ours, made))
		require.True(t, bytes.Contains(data, ours.Bytes()), "%s: other bytes", c.name)
	}
}

// TestKeyAgainstArrow: Arrow and Column.Key read the same text as the same value, of each type that Arrow writes.
func TestKeyAgainstArrow(t *testing.T) {
	texts := []struct {
		typ         arrow.DataType
		text, types string
	}{
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, "-5.10", "INT32 DECIMAL(9,2)"},
		{&arrow.Decimal128Type{Precision: 18, Scale: 4}, "12.5000", "INT64 DECIMAL(18,4)"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, "-1.28", "FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,2)"},
		{&arrow.Decimal128Type{Precision: 20, Scale: 0}, "12345678901234567890", "FIXED_LEN_BYTE_ARRAY(9) DECIMAL(20,0)"},
		{arrow.FixedWidthTypes.Date32, "2024-05-17", "INT32 DATE"},
		{arrow.FixedWidthTypes.Time32ms, "15:04:05.25", "INT32 TIME(MILLIS,false)"},
		{arrow.FixedWidthTypes.Time64us, "15:04:05.250001", "INT64 TIME(MICROS,false)"},
		{arrow.FixedWidthTypes.Time64ns, "15:04:05.250000001", "INT64 TIME(NANOS,false)"},
		{arrow.FixedWidthTypes.Timestamp_ms, "1969-05-17T15:04:05.25Z", "INT64 TIMESTAMP(MILLIS,true)"},
		{arrow.FixedWidthTypes.Timestamp_us, "2024-05-17T17:04:05.25+02:00", "INT64 TIMESTAMP(MICROS,true)"},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, "2024-05-17T15:04:05.250000001", "INT64 TIMESTAMP(NANOS,false)"},
		{arrow.FixedWidthTypes.Float16, "0.1", "FIXED_LEN_BYTE_ARRAY(2) FLOAT16"},
		{arrow.FixedWidthTypes.Float16, "-65504", "FIXED_LEN_BYTE_ARRAY(2) FLOAT16"},
		{arrow.PrimitiveTypes.Uint8, "255", "INT32 INTEGER(8,false)"},
		{arrow.PrimitiveTypes.Uint32, "4294967295", "INT32 INTEGER(32,false)"},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551615", "INT64 INTEGER(64,false)"},
		{arrow.PrimitiveTypes.Int16, "-32768", "INT32 INTEGER(16,true)"},
		{arrow.BinaryTypes.String, "text", "BYTE_ARRAY STRING"},
	}
	var fields []arrow.Field
	for i, v := range texts {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: v.typ})
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i, v := range texts {
		require.NoError(t, builder.Field(i).AppendValueFromString(v.text), v.types)
	}
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(arrowparquet.WithBloomFilterEnabled(true), arrowparquet.WithStoreDecimalAsInteger(true)), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(builder.NewRecordBatch()))
	require.NoError(t, w.Close())
	found := columnsOf(t, out.Bytes())
	require.Len(t, found, len(texts))
	for i, c := range found {
		require.Equal(t, fmt.Sprintf("%d:0 %s", i, texts[i].types), c.String())
		key, err := c.Key(texts[i].text)
		require.NoError(t, err)
		in, err := c.Contains(bytes.NewReader(out.Bytes()), key)
		require.NoError(t, err)
		require.True(t, in, "%v: %q has the key %x", c, texts[i].text, key)
	}
}

// TestAgainstDuckDB: DuckDB skips exactly the row groups of its file whose filters, read here, do not contain the
// value.
func TestAgainstDuckDB(t *testing.T) {
	modules := os.Getenv("BLOOM_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "@duckdb")); err != nil || modules == "" {
		testkit.Missing(t, "@duckdb in BLOOM_NODE_MODULES")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	asked := testkit.Times(2000, 2000, 20_000)
	rowAt := func(i int) row { // the file has the first half
		i *= max(10_000/asked, 1)
		return row{I32: int32(i), I64: int64(i) * 1_000_003, F32: float32(i) / 7, F64: float64(i) / 7, Text: fmt.Sprint("name ", i)}
	}
	probes, answers, filters := map[string][]string{}, map[string][][]int{}, map[string][]*bloom.BloomFilter{}
	for name, literal := range map[string]func(r row) string{
		"i32": func(r row) string { return fmt.Sprintf("%d::int", r.I32) }, "i64": func(r row) string { return fmt.Sprintf("%d::bigint", r.I64) },
		"f32": func(r row) string { return fmt.Sprintf("'%v'::float", r.F32) }, "f64": func(r row) string { return fmt.Sprintf("'%v'::double", r.F64) },
		"text": func(r row) string { return fmt.Sprintf("'%s'", r.Text) },
	} {
		for i := range asked {
			probes[name] = append(probes[name], literal(rowAt(i)))
		}
	}
	raw, err := json.Marshal(probes)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "probes.json"), raw, 0o600))
	command := exec.CommandContext(t.Context(), "node", "duck.mjs", dir)
	command.Env = append(os.Environ(), "NODE_PATH="+modules)
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	raw, err = os.ReadFile(filepath.Join(dir, "answers.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &answers))
	data, err := os.ReadFile(filepath.Join(dir, "duck.parquet"))
	require.NoError(t, err)
	for _, column := range columnsOf(t, data) {
		f, err := column.Filter(bytes.NewReader(data))
		require.NoError(t, err)
		require.Len(t, filters[column.Path], column.RowGroup)
		filters[column.Path] = append(filters[column.Path], f)
	}
	require.Len(t, filters, len(probes))
	for _, c := range columns {
		skipped := 0
		for i := range len(probes[c.name]) {
			got := []int{}
			for g, f := range filters[c.name] {
				if f.Contains(c.key(nil, rowAt(i))) {
					got = append(got, g)
				}
			}
			if len(got) == 0 {
				skipped++
			}
			require.Equal(t, answers[c.name][i], got, "%s: question %d", c.name, i)
		}
		require.Equal(t, len(probes[c.name]) > 0, skipped > 0)
	}
	t.Logf("%s: %d questions a type, none answered otherwise", bytes.TrimSpace(said), asked)
}
