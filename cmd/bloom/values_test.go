package main

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/seed3447c163/bloom/interop/parquet"
)

// TestValues: each type's lines become Parquet's plain encoding, and others are refused.
func TestValues(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range []struct {
		typ, line string
		want      []byte // nil: refused
	}{
		{"bytes", "-1", []byte("-1")},
		{"int32", "-2147483648", parquet.AppendInt32(nil, math.MinInt32)},
		{"int32", "2147483647", parquet.AppendInt32(nil, math.MaxInt32)},
		{"int32", "2147483648", nil}, {"int32", "", nil}, {"int32", "1 ", nil}, {"int32", "0x1", nil},
		{"uint32", "4294967295", parquet.AppendInt32(nil, -1)},
		{"uint32", "-1", nil}, {"uint32", "4294967296", nil},
		{"int64", "-9223372036854775808", parquet.AppendInt64(nil, math.MinInt64)},
		{"int64", "9223372036854775808", nil},
		{"uint64", "18446744073709551615", parquet.AppendInt64(nil, -1)},
		{"uint64", "18446744073709551616", nil}, {"uint64", "1e3", nil},
		{"float", "0.1", parquet.AppendFloat(nil, 0.1)},
		{"float", "-Inf", parquet.AppendFloat(nil, float32(math.Inf(-1)))},
		{"float", "1e39", nil}, {"float", "NaN", nil}, {"float", "one", nil},
		{"double", "1e39", parquet.AppendDouble(nil, 1e39)},
		{"double", "-0", parquet.AppendDouble(nil, math.Copysign(0, -1))},
		{"double", "1e309", nil}, {"double", "nan", nil},
	} {
		for i := range valueTypes {
			if valueTypes[i].name != c.typ {
				continue
			}
			tried[c.typ] = true
			e := encoder{valueType: &valueTypes[i]}
			keys, err := e.encode([][]byte{[]byte(c.line), []byte(c.line)})
			if c.want == nil {
				if err == nil || !bytes.Contains([]byte(err.Error()), fmt.Appendf(nil, "%q", c.line)) {
					t.Errorf("%s %q: %v", c.typ, c.line, err)
				}
			} else if err != nil || len(keys) != 2 || !bytes.Equal(keys[0], c.want) || !bytes.Equal(keys[1], c.want) {
				t.Errorf("%s %q: %x, %v, want %x", c.typ, c.line, keys, err, c.want)
			}
		}
	}
	if len(tried) != len(valueTypes) {
		t.Errorf("tried %v, want all of %q", tried, typeNames())
	}
}
