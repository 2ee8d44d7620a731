// Package parquet compares interop/parquet with other implementations of Parquet: with
// parquet-go, with Apache Arrow's for Go, and with DuckDB under Node.
package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	arrowparquet "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/stretchr/testify/require"
)

var long = flag.Bool("long", false, "ask DuckDB twenty thousand questions of each type, not two thousand")

const (
	rowsOfGroup = 50_000
	groups      = 2
	questions   = 200_000 // of each type: all that are there, and as many that are not
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

// TestAgainstParquetGo: its filters are found in the file, have the bytes of the filters made here from the
// same values, and give the same answers.
func TestAgainstParquetGo(t *testing.T) {
	data := written(t)
	found, err := parquet.Columns(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, found, groups*len(columns))
	theirs, err := parquetgo.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	differ := 0
	for i, column := range found {
		g, c := i/len(columns), columns[i%len(columns)]
		length := 0
		if c.typ == "FIXED_LEN_BYTE_ARRAY" {
			length = 16
		}
		require.Equal(t, parquet.Column{RowGroup: g, Path: c.name, Type: c.typ, TypeLength: length, Offset: column.Offset, Length: column.Length}, column)
		f, err := column.Filter(bytes.NewReader(data))
		require.NoError(t, err)

		made := f.Clone()
		made.Clear()
		for i := range rowsOfGroup {
			made.Add(c.key(nil, rowAt(g*rowsOfGroup+i)))
		}
		require.True(t, made.Equal(f), "%s: other bits", c.name)
		var ours bytes.Buffer
		require.NoError(t, parquet.Write(&ours, made))
		require.Equal(t, data[column.Offset:][:ours.Len()], ours.Bytes(), "%s: other bytes", c.name)

		chunk := theirs.RowGroups()[g].ColumnChunks()[i%len(columns)]
		filter := chunk.BloomFilter()
		schema := parquetgo.SchemaOf(row{})
		yes := 0
		for i := range questions {
			r := rowAt(i)
			value := schema.Deconstruct(nil, &r)[chunk.Column()]
			want, err := filter.Check(value)
			require.NoError(t, err)
			got := f.Contains(c.key(nil, r))
			if got != want {
				differ++
			}
			if got {
				yes++
			}
		}
		require.GreaterOrEqual(t, yes, rowsOfGroup)
		require.Less(t, yes, questions/2)
	}
	require.Zero(t, differ)
	t.Logf("%d filters, %d questions, none answered otherwise", len(found), len(found)*questions)
}

// arrowFile returns a file of Arrow with the first rows, and all columns except i96.
func arrowFile(t *testing.T, rows int, options ...arrowparquet.WriterProperty) []byte {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i32", Type: arrow.PrimitiveTypes.Int32}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64}, {Name: "f32", Type: arrow.PrimitiveTypes.Float32},
		{Name: "f64", Type: arrow.PrimitiveTypes.Float64}, {Name: "text", Type: arrow.BinaryTypes.String}, {Name: "fixed", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}},
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range rows {
		r := rowAt(i)
		builder.Field(0).(*array.Int32Builder).Append(r.I32)
		builder.Field(1).(*array.Int64Builder).Append(r.I64)
		builder.Field(2).(*array.Float32Builder).Append(r.F32)
		builder.Field(3).(*array.Float64Builder).Append(r.F64)
		builder.Field(4).(*array.StringBuilder).Append(r.Text)
		builder.Field(5).(*array.FixedSizeBinaryBuilder).Append(r.Fixed[:])
	}
	var out bytes.Buffer
	options = append(options, arrowparquet.WithBloomFilterEnabled(true), arrowparquet.WithBloomFilterNDV(int64(rows)))
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(builder.NewRecordBatch()))
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestAgainstArrow: Arrow and this package agree on the filters of a file, also of one that Arrow wrote.
func TestAgainstArrow(t *testing.T) {
	asked := 0
	for name, data := range map[string][]byte{"parquet-go's file": written(t), "Arrow's file": arrowFile(t, rowsOfGroup)} {
		found, err := parquet.Columns(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		reader, err := file.NewParquetReader(bytes.NewReader(data))
		require.NoError(t, err)
		for _, column := range found {
			f, err := column.Filter(bytes.NewReader(data))
			require.NoError(t, err)
			group, err := reader.GetBloomFilterReader().RowGroup(column.RowGroup)
			require.NoError(t, err)
			theirs, err := group.GetColumnBloomFilter(reader.MetaData().Schema.ColumnIndexByName(column.Path))
			require.NoError(t, err)
			for _, c := range columns {
				if c.name != column.Path {
					continue
				}
				for i := range questions {
					key := c.key(nil, rowAt(i))
					if got, want := f.Contains(key), theirs.CheckHash(theirs.Hasher().Sum64(key)); got != want {
						t.Fatalf("%s, %s: row %d is %v, Arrow says %v", name, column.Path, i, got, want)
					}
					if i/rowsOfGroup == column.RowGroup && !f.Contains(key) {
						t.Fatalf("%s, %s: row %d is missed", name, column.Path, i)
					}
					asked++
				}
			}
		}
	}
	t.Logf("%d questions, none answered otherwise", asked)
}

// TestAgainstDuckDB: DuckDB skips exactly the row groups whose filters, read here, do not contain the value.
func TestAgainstDuckDB(t *testing.T) {
	modules := os.Getenv("BLOOM_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "@duckdb")); err != nil || modules == "" {
		if os.Getenv("BLOOM_REQUIRE") != "" {
			t.Fatalf("BLOOM_NODE_MODULES = %q has no @duckdb (%v): eval \"$(bash .ci/install DIR)\"", modules, err)
		}
		t.Skip("NOT TESTED against DuckDB: eval \"$(bash .ci/install DIR)\"")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	data := written(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ours.parquet"), data, 0o600))
	asked := 2000
	if *long {
		asked = 20_000
	}
	// Row i of our file, and the value of its columns for i of DuckDB's file, which has i
	// from 0 to 4999.
	step, duckStep := groups*rowsOfGroup*2/asked, max(10_000/asked, 1)
	literals := map[string]func(r row) string{
		"i32": func(r row) string { return fmt.Sprintf("%d::int", r.I32) }, "i64": func(r row) string { return fmt.Sprintf("%d::bigint", r.I64) },
		"f32": func(r row) string { return fmt.Sprintf("'%v'::float", r.F32) }, "f64": func(r row) string { return fmt.Sprintf("'%v'::double", r.F64) },
		"text": func(r row) string { return fmt.Sprintf("'%s'", r.Text) },
	}
	duckRow := func(i int) row {
		return row{I32: int32(i), I64: int64(i) * 1_000_003, F32: float32(i) / 7, F64: float64(i) / 7, Text: fmt.Sprint("name ", i)}
	}
	probes := map[string]map[string][]string{"ours": {}, "duck": {}}
	for name, literal := range literals {
		for i := range asked {
			probes["ours"][name] = append(probes["ours"][name], literal(rowAt(i*step)))
			probes["duck"][name] = append(probes["duck"][name], literal(duckRow(i*duckStep)))
		}
	}
	raw, err := json.Marshal(probes)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "probes.json"), raw, 0o600))
	command := exec.CommandContext(context.Background(), "node", "duck.mjs", dir)
	command.Env = append(os.Environ(), "NODE_PATH="+modules)
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	t.Logf("%s", said)
	var answers map[string]map[string][][]int
	raw, err = os.ReadFile(filepath.Join(dir, "answers.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &answers))

	for name, at := range map[string]func(i int) row{"ours": func(i int) row { return rowAt(i * step) }, "duck": func(i int) row { return duckRow(i * duckStep) }} {
		data, err := os.ReadFile(filepath.Join(dir, name+".parquet"))
		require.NoError(t, err)
		found, err := parquet.Columns(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		byColumn := map[string]map[int]*bloom.BloomFilter{}
		for _, column := range found {
			f, err := column.Filter(bytes.NewReader(data))
			require.NoError(t, err)
			if byColumn[column.Path] == nil {
				byColumn[column.Path] = map[int]*bloom.BloomFilter{}
			}
			byColumn[column.Path][column.RowGroup] = f
		}
		for _, c := range columns {
			if literals[c.name] == nil {
				continue
			}
			require.Len(t, byColumn[c.name], groups, "%s, %s: DuckDB made no filter", name, c.name)
			skipped := 0
			for i := range asked {
				var got []int
				key := c.key(nil, at(i))
				for g := range groups {
					if byColumn[c.name][g].Contains(key) {
						got = append(got, g)
					}
				}
				if len(got) == 0 {
					got = []int{}
					skipped++
				}
				require.Equal(t, answers[name][c.name][i], got, "%s.parquet, %s: question %d", name, c.name, i)
			}
			require.Positive(t, skipped)
		}
	}
	t.Logf("%d questions a type and file, none answered otherwise", asked)
}
