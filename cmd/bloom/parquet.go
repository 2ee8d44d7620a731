package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/spf13/cobra"
)

// isParquetFilter looks for Thrift's byte count and a union, the beginning of a filter's header.
func isParquetFilter(head []byte, _ int64) bool {
	if len(head) < 2 || head[0] != 0x15 {
		return false
	}
	_, n := binary.Uvarint(head[1:])
	return n > 0 && bytes.HasPrefix(head[1+n:], []byte{0x1c, 0x1c})
}

func isParquetFile(head []byte, _ int64) bool {
	return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
}

// A parquetFile has filters of columns.
type parquetFile struct {
	path    string
	columns []parquet.Column
}

func openParquet(path string) (*parquetFile, error) {
	if path == "-" {
		return nil, errors.New("a Parquet file on standard input, want its name: its end is read first")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	columns, err := parquet.Columns(file, info.Size())
	if err != nil {
		return nil, errorIn{shown(path), err}
	}
	return &parquetFile{path, columns}, nil
}

func columnFlag(cmd *cobra.Command, column *string) {
	cmd.Flags().StringVar(column, "column", "", "`NAME[:ROWGROUP]` of a filter in a Parquet file")
}

// columnName is a column's name for --column.
func columnName(c parquet.Column) string { return c.Path + ":" + strconv.Itoa(c.RowGroup) }

// pickColumn returns the filter of a column, and the column, if f is a Parquet file, or else f.
func pickColumn(f any, from *format, path, column string) (any, *parquet.Column, error) {
	p, ok := f.(*parquetFile)
	if !ok {
		if column != "" {
			return nil, nil, fmt.Errorf("%s: --column %q for a %s filter, want it only for a Parquet file", shown(path), column, from.name)
		}
		return f, nil, nil
	}
	var found []parquet.Column
	for _, c := range p.columns {
		if column == "" || column == c.Path || column == columnName(c) {
			found = append(found, c)
		}
	}
	switch {
	case len(p.columns) == 0:
		return nil, nil, fmt.Errorf("%s: no column of this Parquet file has a filter", shown(path))
	case len(found) == 0:
		return nil, nil, fmt.Errorf("%s: no filter of a column %q, want one that bloom info lists", shown(path), column)
	case len(found) > 1:
		return nil, nil, fmt.Errorf("%s: %d filters, want one of them by --column, such as %q (bloom info lists them)", shown(path), len(found), columnName(found[0]))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() // it was only read
	filter, err := found[0].Filter(file)
	if err != nil {
		return nil, nil, errorIn{fmt.Sprintf("%s, column %q", shown(path), columnName(found[0])), err}
	}
	return filter, &found[0], nil
}

// A column is a column for bloom info.
type column struct {
	Name     string `json:"name"`
	RowGroup int    `json:"row_group"`
	Type     string `json:"type"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
}

func (p *parquetFile) list() []column {
	list := []column{}
	for _, c := range p.columns {
		list = append(list, column{c.Path, c.RowGroup, typeName(c), c.Offset, c.Length})
	}
	return list
}

func typeName(c parquet.Column) string {
	if c.Type == parquet.FixedLenByteArray {
		return fmt.Sprintf("%v(%d)", c.Type, c.TypeLength)
	}
	return c.Type.String()
}

func (c column) String() string {
	text := fmt.Sprintf("%s:%d, %s", c.Name, c.RowGroup, c.Type)
	if c.Length > 0 {
		text += ", " + size(uint64(c.Length))
	}
	return harmless(text)
}

// An encoding returns the key of a value in a column.
type encoding func(text []byte) ([]byte, error)

// encodingOf returns the encoding of a column's values, nil for text as it is. Parquet's unsigned
// numbers have the type of the signed ones, so both ranges are valid.
func encodingOf(c parquet.Column) (encoding, error) {
	number := func(bits int, appendTo func(v int64) []byte) encoding {
		return func(text []byte) ([]byte, error) {
			v, err := strconv.ParseInt(string(text), 10, bits)
			if err != nil {
				unsigned, failed := strconv.ParseUint(string(text), 10, bits)
				v, err = int64(unsigned), failed
			}
			if err != nil {
				return nil, fmt.Errorf("key %q in a column of %s, want a whole number of %d bits in digits", text, typeName(c), bits)
			}
			return appendTo(v), nil
		}
	}
	float := func(bits int, appendTo func(v float64) []byte) encoding {
		return func(text []byte) ([]byte, error) {
			v, err := strconv.ParseFloat(string(text), bits)
			if err != nil || math.IsNaN(v) { // NaN has many encodings
				return nil, fmt.Errorf("key %q in a column of %s, want a number", text, typeName(c))
			}
			return appendTo(v), nil
		}
	}
	switch c.Type {
	case parquet.ByteArray:
		return nil, nil
	case parquet.FixedLenByteArray:
		return fixedLength(c.TypeLength), nil
	case parquet.Int32:
		return number(32, func(v int64) []byte { return parquet.AppendInt32(nil, int32(v)) }), nil
	case parquet.Int64:
		return number(64, func(v int64) []byte { return parquet.AppendInt64(nil, v) }), nil
	case parquet.Float:
		return float(32, func(v float64) []byte { return parquet.AppendFloat(nil, float32(v)) }), nil
	case parquet.Double:
		return float(64, func(v float64) []byte { return parquet.AppendDouble(nil, v) }), nil
	}
	return nil, fmt.Errorf("column %q has values of type %v, which cannot be written as lines: only Go programs can query it", columnName(c), c.Type)
}

// fixedLength is the encoding of a column of n bytes per value: text of that length, or with 16
// bytes a UUID as it is printed.
func fixedLength(n int) encoding {
	want := fmt.Sprintf("want %d", n)
	if n == 16 {
		want += ", or a UUID such as 123e4567-e89b-12d3-a456-426614174000"
	}
	return func(text []byte) ([]byte, error) {
		if len(text) == n {
			return text, nil
		}
		if n == 16 && len(text) == 36 && strings.Count(string(text), "-") == 4 &&
			text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
			if uuid, err := hex.DecodeString(strings.ReplaceAll(string(text), "-", "")); err == nil {
				return uuid, nil
			}
		}
		return nil, fmt.Errorf("key %q of %d bytes in a column of fixed-length bytes, %s", text, len(text), want)
	}
}
