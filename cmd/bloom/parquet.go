package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/parquet"
)

// A columnFilter is the filter of a column in a Parquet file.
type columnFilter struct {
	*bloom.BloomFilter
	parquet.Column
}

// A parquetFile is a Parquet file of which no column was chosen.
type parquetFile []parquet.Column

// readColumn reads the filter of the column that --column names, or of the only column with one.
func readColumn(in *inputFile, opts []bloom.Option) (any, error) {
	switch {
	case in.path == "-":
		return nil, errors.New("a Parquet file on standard input, want its name: its end is read first")
	case len(opts) > 0:
		return nil, errors.New("a Parquet file's filters have no secret key, want none")
	}
	file, err := os.Open(in.path)
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
		return nil, err
	}
	var found parquetFile
	for _, c := range columns {
		if in.column == "" || in.column == c.Path || in.column == nameOf(c) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 1:
		f, err := found[0].Filter(file)
		return columnFilter{f, found[0]}, err
	case in.column == "":
		return found, nil
	}
	return nil, fmt.Errorf("--column %q: %d filters, want one that bloom info lists", in.column, len(found))
}

// nameOf returns a column's name for --column.
func nameOf(c parquet.Column) string { return c.Path + ":" + strconv.Itoa(c.RowGroup) }

// typeOf returns the type of a column's values.
func typeOf(c parquet.Column) string {
	if c.Type == "FIXED_LEN_BYTE_ARRAY" {
		return fmt.Sprintf("%s(%d)", c.Type, c.TypeLength)
	}
	return c.Type
}

// encode returns Parquet's plain encoding of a value that is written as text. Unsigned numbers have
// the type of signed ones, so both ranges are valid.
func (f columnFilter) encode(value []byte) ([]byte, error) {
	text, bits, want := string(value), 64, ""
	switch f.Type {
	case "BYTE_ARRAY":
		return value, nil
	case "FIXED_LEN_BYTE_ARRAY":
		if len(value) == f.TypeLength {
			return value, nil
		}
		uuid, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		if err == nil && len(uuid) == f.TypeLength && len(uuid) == 16 && len(text) == 36 {
			return uuid, nil
		}
		want = "text of that length, or for 16 bytes a UUID"
	case "INT32":
		bits = 32
		fallthrough
	case "INT64":
		v, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			var unsigned uint64
			unsigned, err = strconv.ParseUint(text, 10, bits)
			v = int64(unsigned)
		}
		if err == nil && bits == 32 {
			return parquet.Append(nil, int32(v)), nil
		} else if err == nil {
			return parquet.Append(nil, v), nil
		}
		want = "a whole number in its range, in digits"
	case "FLOAT":
		bits = 32
		fallthrough
	case "DOUBLE":
		v, err := strconv.ParseFloat(text, bits)
		if err == nil && bits == 32 && !math.IsNaN(v) { // NaN has many encodings
			return parquet.Append(nil, float32(v)), nil
		} else if err == nil && !math.IsNaN(v) {
			return parquet.Append(nil, v), nil
		}
		want = "a number"
	default:
		want = "a type that has a form in text: only Go programs can query this one"
	}
	return nil, fmt.Errorf("key %q in a column of %s, want %s", value, typeOf(f.Column), want)
}
