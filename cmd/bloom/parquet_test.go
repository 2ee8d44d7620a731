package main

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/interop/parquet"
)

// TestEncodings: lines become Parquet's plain encoding of the column's type, or are refused.
func TestEncodings(t *testing.T) {
	uuid := []byte("\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00")
	for _, c := range []struct {
		typ    string
		length int
		line   string
		want   []byte // nil: refused
	}{
		{"INT32", 0, "-2147483648", parquet.Append(nil, int32(math.MinInt32))},
		{"INT32", 0, "4294967295", parquet.Append(nil, int32(-1))},
		{"INT32", 0, "4294967296", nil}, {"INT32", 0, "-2147483649", nil}, {"INT32", 0, "", nil}, {"INT32", 0, "1 ", nil}, {"INT32", 0, "0x1", nil},
		{"INT64", 0, "-9223372036854775808", parquet.Append(nil, int64(math.MinInt64))},
		{"INT64", 0, "18446744073709551615", parquet.Append(nil, int64(-1))},
		{"INT64", 0, "18446744073709551616", nil}, {"INT64", 0, "1e3", nil},
		{"FLOAT", 0, "0.1", parquet.Append(nil, float32(0.1))},
		{"FLOAT", 0, "-Inf", parquet.Append(nil, float32(math.Inf(-1)))},
		{"FLOAT", 0, "1e39", nil}, {"FLOAT", 0, "NaN", nil}, {"FLOAT", 0, "one", nil},
		{"DOUBLE", 0, "1e39", parquet.Append(nil, float64(1e39))},
		{"DOUBLE", 0, "-0", parquet.Append(nil, float64(math.Copysign(0, -1)))},
		{"DOUBLE", 0, "1e309", nil}, {"DOUBLE", 0, "nan", nil},
		{"FIXED_LEN_BYTE_ARRAY", 3, "abc", []byte("abc")},
		{"FIXED_LEN_BYTE_ARRAY", 3, "ab", nil}, {"FIXED_LEN_BYTE_ARRAY", 3, "abcd", nil}, {"FIXED_LEN_BYTE_ARRAY", 3, "", nil},
		{"FIXED_LEN_BYTE_ARRAY", 16, "123e4567-e89b-12d3-a456-426614174000", uuid},
		{"FIXED_LEN_BYTE_ARRAY", 16, "123E4567-E89B-12D3-A456-426614174000", uuid},
		{"FIXED_LEN_BYTE_ARRAY", 16, "0123456789abcdef", []byte("0123456789abcdef")},
		{"FIXED_LEN_BYTE_ARRAY", 16, "123e4567e89b12d3a456426614174000", nil},
		{"FIXED_LEN_BYTE_ARRAY", 16, "123e4567-e89b-12d3-a456-42661417400x", nil},
		{"BYTE_ARRAY", 0, "text", []byte("text")}, {"INT96", 0, "1", nil},
		{"FIXED_LEN_BYTE_ARRAY", 36, "123e4567-e89b-12d3-a456-426614174000", []byte("123e4567-e89b-12d3-a456-426614174000")},
		{"FIXED_LEN_BYTE_ARRAY", 5, "12.50", []byte("12.50")}, {"FIXED_LEN_BYTE_ARRAY", 8, "12.50", nil},
	} {
		got, err := columnFilter{Column: parquet.Column{Type: c.typ, TypeLength: c.length}}.encode([]byte(c.line))
		if c.want == nil {
			if err == nil || !bytes.Contains([]byte(err.Error()), fmt.Appendf(nil, "%q", c.line)) {
				t.Errorf("%v(%d) %q: %x, %v", c.typ, c.length, c.line, got, err)
			}
		} else if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%v(%d) %q: %x, %v, want %x", c.typ, c.length, c.line, got, err, c.want)
		}
	}
}
