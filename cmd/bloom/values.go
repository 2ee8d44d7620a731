package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/parquet"
	"github.com/spf13/cobra"
)

// A valueType is what the lines of keys are for a filter of Parquet: text as it is, or numbers
// in digits, whose plain encoding is the key.
type valueType struct {
	name     string
	physical []parquet.Type
	want     string
	// append appends the encoding of a value; nil for text as it is.
	append func(dst []byte, text string) ([]byte, error)
}

var valueTypes = []valueType{
	{"bytes", []parquet.Type{parquet.ByteArray, parquet.FixedLenByteArray}, "", nil},
	{"int32", []parquet.Type{parquet.Int32}, "a whole number from -2147483648 to 2147483647", func(dst []byte, text string) ([]byte, error) {
		v, err := strconv.ParseInt(text, 10, 32)
		return parquet.AppendInt32(dst, int32(v)), err
	}},
	{"int64", []parquet.Type{parquet.Int64}, "a whole number from -9223372036854775808 to 9223372036854775807", func(dst []byte, text string) ([]byte, error) {
		v, err := strconv.ParseInt(text, 10, 64)
		return parquet.AppendInt64(dst, v), err
	}},
	{"uint32", []parquet.Type{parquet.Int32}, "a whole number from 0 to 4294967295", func(dst []byte, text string) ([]byte, error) {
		v, err := strconv.ParseUint(text, 10, 32)
		return parquet.AppendInt32(dst, int32(v)), err
	}},
	{"uint64", []parquet.Type{parquet.Int64}, "a whole number from 0 to 18446744073709551615", func(dst []byte, text string) ([]byte, error) {
		v, err := strconv.ParseUint(text, 10, 64)
		return parquet.AppendInt64(dst, int64(v)), err
	}},
	{"float", []parquet.Type{parquet.Float}, "a number of 32 bits", func(dst []byte, text string) ([]byte, error) {
		v, err := parseFloat(text, 32)
		return parquet.AppendFloat(dst, float32(v)), err
	}},
	{"double", []parquet.Type{parquet.Double}, "a number of 64 bits", func(dst []byte, text string) ([]byte, error) {
		v, err := parseFloat(text, 64)
		return parquet.AppendDouble(dst, v), err
	}},
}

// parseFloat refuses NaN, which has many encodings.
func parseFloat(text string, bits int) (float64, error) {
	v, err := strconv.ParseFloat(text, bits)
	if math.IsNaN(v) {
		err = errors.New("not a number")
	}
	return v, err
}

func typeNames() (names []string) {
	for _, t := range valueTypes {
		names = append(names, t.name)
	}
	return names
}

const typeHelp = `Of a Parquet column of numbers the keys are the numbers in digits. Their type is the
column's, or that of --type: uint32 and uint64 are the unsigned ones. A filter by itself does not
say it, and --type must. A key that is no such number is an error.`

func typeFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "type", "", "`type` of the values of a Parquet column: "+strings.Join(typeNames(), ", "))
	complete(cmd, "type", typeNames()...)
}

// valueTypeOf returns the type that keys have for a filter, which is that of the column unless
// that is nil: the one that --type names, or the column's, or bytes.
func valueTypeOf(name string, f interface{ Stats() bloom.Stats }, column *parquet.Column) (*valueType, error) {
	if name == "" && column == nil {
		return &valueTypes[0], nil
	}
	for i, t := range valueTypes {
		fits := column == nil || slices.Contains(t.physical, column.Type)
		switch {
		case name == "" && fits:
			return &valueTypes[i], nil
		case name != t.name:
		case !fits:
			return nil, fmt.Errorf("--type %s of column %q, whose values have type %v", name, columnName(*column), column.Type)
		default:
			if hash := f.Stats().Hash; hash != parquet.Hash.Name() {
				return nil, fmt.Errorf("--type %s of a filter with hash %s, want it for Parquet's only, %s", name, hash, parquet.Hash.Name())
			}
			return &valueTypes[i], nil
		}
	}
	if name == "" {
		return nil, fmt.Errorf("column %q has values of type %v, which cannot be given as lines: only Go programs can ask it", columnName(*column), column.Type)
	}
	return nil, fmt.Errorf("--type %q, want one of %s", name, strings.Join(typeNames(), ", "))
}

// An encoder makes keys of lines. What it returns is valid until the next call.
type encoder struct {
	*valueType
	buf  []byte
	keys [][]byte
}

func (e *encoder) encode(lines [][]byte) ([][]byte, error) {
	if e.append == nil {
		return lines, nil
	}
	e.buf, e.keys = e.buf[:0], e.keys[:0]
	for _, line := range lines {
		start := len(e.buf)
		var err error
		if e.buf, err = e.append(e.buf, string(line)); err != nil {
			return nil, fmt.Errorf("key %q for values of type %s, want %s", line, e.name, e.want)
		}
		e.keys = append(e.keys, e.buf[start:])
	}
	return e.keys, nil
}
