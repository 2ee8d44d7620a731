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
		typ    parquet.Type
		length int
		line   string
		want   []byte // nil: refused
	}{
		{parquet.Int32, 0, "-2147483648", parquet.AppendInt32(nil, math.MinInt32)},
		{parquet.Int32, 0, "4294967295", parquet.AppendInt32(nil, -1)},
		{parquet.Int32, 0, "4294967296", nil}, {parquet.Int32, 0, "-2147483649", nil}, {parquet.Int32, 0, "", nil}, {parquet.Int32, 0, "1 ", nil}, {parquet.Int32, 0, "0x1", nil},
		{parquet.Int64, 0, "-9223372036854775808", parquet.AppendInt64(nil, math.MinInt64)},
		{parquet.Int64, 0, "18446744073709551615", parquet.AppendInt64(nil, -1)},
		{parquet.Int64, 0, "18446744073709551616", nil}, {parquet.Int64, 0, "1e3", nil},
		{parquet.Float, 0, "0.1", parquet.AppendFloat(nil, 0.1)},
		{parquet.Float, 0, "-Inf", parquet.AppendFloat(nil, float32(math.Inf(-1)))},
		{parquet.Float, 0, "1e39", nil}, {parquet.Float, 0, "NaN", nil}, {parquet.Float, 0, "one", nil},
		{parquet.Double, 0, "1e39", parquet.AppendDouble(nil, 1e39)},
		{parquet.Double, 0, "-0", parquet.AppendDouble(nil, math.Copysign(0, -1))},
		{parquet.Double, 0, "1e309", nil}, {parquet.Double, 0, "nan", nil},
		{parquet.FixedLenByteArray, 3, "abc", []byte("abc")},
		{parquet.FixedLenByteArray, 3, "ab", nil}, {parquet.FixedLenByteArray, 3, "abcd", nil}, {parquet.FixedLenByteArray, 3, "", nil},
		{parquet.FixedLenByteArray, 16, "123e4567-e89b-12d3-a456-426614174000", uuid},
		{parquet.FixedLenByteArray, 16, "123E4567-E89B-12D3-A456-426614174000", uuid},
		{parquet.FixedLenByteArray, 16, "0123456789abcdef", []byte("0123456789abcdef")},
		{parquet.FixedLenByteArray, 16, "123e4567e89b12d3a456426614174000", nil},
		{parquet.FixedLenByteArray, 16, "123e4567-e89b-12d3-a456-42661417400x", nil},
		{parquet.ByteArray, 0, "text", []byte("text")}, {parquet.Int96, 0, "1", nil},
		{parquet.FixedLenByteArray, 36, "123e4567-e89b-12d3-a456-426614174000", []byte("123e4567-e89b-12d3-a456-426614174000")},
		{parquet.FixedLenByteArray, 5, "12.50", []byte("12.50")}, {parquet.FixedLenByteArray, 8, "12.50", nil},
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
