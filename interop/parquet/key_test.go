package parquet

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed3447c163/bloom"
	"github.com/stretchr/testify/require"
)

// spellings has, for each column of logical.parquet, its types, the spellings of its only value and of another
// value that a column of that type can have, and texts that are no value of it.
var spellings = map[string]struct {
	types       string
	in, not, no []string
}{
	"bool":      {"BOOLEAN", nil, nil, []string{"true", "1"}},
	"i32":       {"INT32 INTEGER(32,true)", []string{"-7", "-07"}, []string{"7"}, []string{"4294967289", "-7.0", "-7 ", ""}},
	"i64":       {"INT64 INTEGER(64,true)", []string{"-7"}, []string{"7"}, []string{"18446744073709551609", "-7e0"}},
	"i96":       {"INT96", nil, nil, []string{"1", "2024-05-17T15:04:05Z"}},
	"float":     {"FLOAT", []string{"0.1", "1e-1", "0.100000001"}, []string{"0.2"}, []string{"NaN", "1e39", "0,1"}},
	"double":    {"DOUBLE", []string{"0.1", "1e-1"}, []string{"0.2"}, []string{"nan", "1e309"}},
	"bytes":     {"BYTE_ARRAY", []string{"text"}, []string{"Text", ""}, nil},
	"fixed3":    {"FIXED_LEN_BYTE_ARRAY(3)", []string{"abc"}, []string{"abd"}, []string{"ab", "abcd", ""}},
	"fixed16":   {"FIXED_LEN_BYTE_ARRAY(16)", []string{"123e4500-0000-0000-0000-0000000000ff"}, []string{"0123456789abcdef"}, []string{"123e45000000000000000000000000ff"}},
	"int8":      {"INT32 INTEGER(8,true)", []string{"-7"}, []string{"-8"}, []string{"249", "-129", "128"}},
	"int16":     {"INT32 INTEGER(16,true)", []string{"-7"}, []string{"-8"}, []string{"65529", "32768"}},
	"int32":     {"INT32 INTEGER(32,true)", []string{"-7"}, []string{"-8"}, []string{"4294967289"}},
	"int64":     {"INT64 INTEGER(64,true)", []string{"-7"}, []string{"-8"}, []string{"18446744073709551609"}},
	"uint8":     {"INT32 INTEGER(8,false)", []string{"249"}, []string{"248"}, []string{"-7", "256"}},
	"uint16":    {"INT32 INTEGER(16,false)", []string{"65529"}, []string{"248"}, []string{"-7", "65536"}},
	"uint32":    {"INT32 INTEGER(32,false)", []string{"4294967289"}, []string{"248"}, []string{"-7", "4294967296"}},
	"uint64":    {"INT64 INTEGER(64,false)", []string{"18446744073709551609"}, []string{"248"}, []string{"-7", "18446744073709551616"}},
	"dec32":     {"INT32 DECIMAL(9,2)", []string{"5.00", "5", "5.0", "+5", "05.000", "5."}, []string{"500", "-5", ".5"}, []string{"5.001", "10000000", "5e0", "5,00", "", ".", "-+5", "1_0"}},
	"dec32-0":   {"INT32 DECIMAL(9,0)", []string{"-5", "-5.0"}, []string{"5", "0", "-0"}, []string{"-5.5", "1000000000"}},
	"dec64":     {"INT64 DECIMAL(18,4)", []string{"-1.2345"}, []string{"-12345"}, []string{"-1.23451", "100000000000000"}},
	"decfixed":  {"FIXED_LEN_BYTE_ARRAY(9) DECIMAL(20,3)", []string{"-1.234"}, []string{"1.234", "0"}, []string{"-1.2345", "100000000000000000"}},
	"decfixed2": {"FIXED_LEN_BYTE_ARRAY(2) DECIMAL(4,2)", []string{"5", "5.00"}, []string{"-5"}, []string{"500"}},
	"decbytes":  {"BYTE_ARRAY DECIMAL(30,2)", []string{"5", "5.00"}, []string{"500", "-5", "0", "-0.00"}, []string{"5.001", "\x01\xf4"}},
	"decbytes3": {"BYTE_ARRAY DECIMAL(30,3)", []string{"-0.128", "-.128"}, []string{"0.128", "-128"}, []string{"-0.1280001"}},
	"date":      {"INT32 DATE", []string{"2024-05-17"}, []string{"1969-12-31"}, []string{"19860", "2024-5-17", "2024-05-17T00:00:00Z", "17.05.2024", "2024-02-30"}},
	"time-ms":   {"INT32 TIME(MILLIS,true)", []string{"15:04:05.25", "15:04:05.250", "15:04:05.250000"}, []string{"15:04:05"}, []string{"15:04:05.2505", "54245250", "24:00:00"}},
	"time-us":   {"INT64 TIME(MICROS,false)", []string{"15:04:05.25"}, []string{"15:04:05.250001"}, []string{"15:04:05.2500001", "15:04:05Z"}},
	"time-ns":   {"INT64 TIME(NANOS,true)", []string{"15:04:05.25"}, []string{"15:04:05.250000001"}, []string{"15:04:05.2500000001", "15:04:05,2500000001"}},
	"ts-ms":     {"INT64 TIMESTAMP(MILLIS,true)", []string{"2024-05-17T15:04:05.25Z", "2024-05-17 17:04:05.250+02:00", "2024-05-17 15:04:05.25+00", "2024-05-17 10:04:05.25-05"}, []string{"2024-05-17T15:04:05Z"}, []string{"2024-05-17T15:04:05.25", "2024-05-17T15:04:05.25+0", "2024-05-17+00", "2024-05-17 15:04:05.25+000", "1715958245250", "2024-05-17", "2024-05-17T15:04:05.2505Z"}},
	"ts-us":     {"INT64 TIMESTAMP(MICROS,true)", []string{"1969-12-31T23:59:59.999999Z"}, []string{"0001-01-01T00:00:00Z"}, []string{"-1", "1969-12-31T23:59:59.9999999Z"}},
	"ts-ns":     {"INT64 TIMESTAMP(NANOS,true)", []string{"2024-05-17T15:04:05.25Z"}, []string{"2024-05-17T15:04:05.250000001Z"}, []string{"2262-04-12T00:00:00Z", "1677-09-21T00:00:00Z", "2024-05-17T15:04:05.2500000001Z"}},
	"local-ms":  {"INT64 TIMESTAMP(MILLIS,false)", []string{"2024-05-17T15:04:05.25", "2024-05-17 15:04:05.250"}, []string{"2024-05-17 15:04:05"}, []string{"2024-05-17T15:04:05.25Z", "1715958245250"}},
	"local-ns":  {"INT64 TIMESTAMP(NANOS,false)", []string{"2024-05-17 15:04:05.25"}, []string{"2024-05-17 15:04:05"}, []string{"2024-05-17T15:04:05.25Z"}},
	"uuid":      {"FIXED_LEN_BYTE_ARRAY(16) UUID", []string{"123e4500-0000-0000-0000-0000000000ff", "123E45000000000000000000000000FF"}, []string{"123e4500-0000-0000-0000-000000000000"}, []string{"0123456789abcdef", "123e4500-0000-0000-0000-0000000000fx", "123e45000-000-0000-0000-0000000000ff"}},
	"float16":   {"FIXED_LEN_BYTE_ARRAY(2) FLOAT16", []string{"0.1", "0.09998"}, []string{"0.2", "-Inf"}, []string{"NaN", "65520", "ab"}},
	"string":    {"BYTE_ARRAY STRING", []string{"text"}, []string{"Text", ""}, nil},
	"enum":      {"BYTE_ARRAY ENUM", []string{"RED"}, []string{"red"}, nil},
	"json":      {"BYTE_ARRAY JSON", []string{`{"a":1}`}, []string{"1"}, []string{"a", ""}},
	"bson":      {"BYTE_ARRAY BSON", nil, nil, []string{"{}", "\x05\x00\x00\x00\x00"}},
	"interval":  {"FIXED_LEN_BYTE_ARRAY(12) INTERVAL", nil, nil, []string{"1 month", "123456789012"}},
}

// TestKey: a value is found or refused, in each spelling. Only a value that the column could have, but has not,
// is absent.
func TestKey(t *testing.T) {
	data := golden(t, "logical")
	columns := columnsOf(t, data)
	require.Len(t, columns, len(spellings))
	for _, c := range columns {
		require.Equal(t, c.Path+":0 "+spellings[c.Path].types, c.String())
		testKey(t, data, c)
	}
}

func testKey(t *testing.T, data []byte, c Column) {
	want := spellings[c.Path]
	for _, text := range append(want.in, want.not...) {
		key, err := c.Key(text)
		require.NoError(t, err)
		found, err := c.Contains(bytes.NewReader(data), key)
		require.NoError(t, err)
		require.Equal(t, slices.Contains(want.in, text), found, "%v: %q has the key %x", c, text, key)
	}
	for _, text := range want.no {
		key, err := c.Key(text)
		require.ErrorIs(t, err, bloom.ErrInvalid, "%v: %q has the key %x", c, text, key)
		require.ErrorContains(t, err, "key "+strconv.Quote(text)+" in column "+c.String())
	}
}

// TestKeyOfConvertedTypes: a file without logical types has the older converted types, which lack some, and
// say nothing about local times.
func TestKeyOfConvertedTypes(t *testing.T) {
	data := golden(t, "converted")
	for _, c := range columnsOf(t, data) {
		physical, logical, _ := strings.Cut(spellings[c.Path].types, " ")
		switch {
		case strings.Contains(logical, "NANOS") || logical == "UUID" || logical == "FLOAT16":
			require.Empty(t, c.logical)
			require.Equal(t, physical, strings.TrimPrefix(c.String(), c.Path+":0 "))
		case strings.Contains(logical, ",false)") && strings.HasPrefix(logical, "TIME"):
			require.Equal(t, strings.Replace(logical, "false", "true", 1), c.logical)
		default:
			if c.Path != "i32" && c.Path != "i64" { // parquet-go writes no converted type for them
				require.Equal(t, logical, c.logical)
			}
			testKey(t, data, c)
			continue
		}
		for _, text := range spellings[c.Path].in {
			if key, err := c.Key(text); err == nil {
				found, err := c.Contains(bytes.NewReader(data), key)
				require.NoError(t, err)
				require.True(t, found, "%v: %q has the key %x", c, text, key)
			}
		}
	}
}

// TestHalf walks all numbers of 16 bits: they, and numbers near them, have their key.
func TestHalf(t *testing.T) {
	value := func(bits int) float64 { // of IEEE 754
		if exponent := bits >> 10; exponent > 0 {
			return math.Ldexp(float64(bits&1023|1024), exponent-25)
		}
		return math.Ldexp(float64(bits), -24)
	}
	for bits := range 0x7c00 {
		near := []float64{value(bits), value(bits)*0.75 + value(bits+1)*0.25}
		if bits > 0 {
			near = append(near, value(bits)*0.75+value(bits-1)*0.25)
		}
		if bits%2 == 0 && bits < 0x7bff { // the middle between two belongs to the even one
			near = append(near, value(bits)/2+value(bits+1)/2)
		}
		for _, v := range near {
			require.Equal(t, []byte{byte(bits), byte(bits >> 8)}, half(v), "%v", v)
			require.Equal(t, []byte{byte(bits), byte(bits>>8) | 0x80}, half(-v), "%v", v)
		}
	}
	require.Equal(t, []byte{0, 0x7c}, half(math.Inf(1)))
	require.Nil(t, half(65520))
}

// TestKeyOfHostileColumns: whatever a footer says about a column, no key takes much memory.
func TestKeyOfHostileColumns(t *testing.T) {
	for _, typ := range append(types, "9") {
		for _, logical := range []string{
			"DECIMAL(2147483647,2147483647)", "DECIMAL(9223372036854775807,0)", "DECIMAL(-1,-1)", "DECIMAL(0,2147483647)", "DECIMAL(18,0)",
			"DECIMAL(-9223372036854775808,2147483647)", "DECIMAL(-9223372036854775808,9223372036854775807)",
			"INTEGER(127,true)", "INTEGER(-1,false)", "INTEGER(0,true)", "TIME(9,true)", "TIMESTAMP(9,false)", "DATE", "UUID", "FLOAT16", "19", "",
		} {
			for _, length := range []int{math.MinInt32, 0, 16, math.MaxInt32} {
				c := Column{Type: typ, typeLength: length, logical: logical}
				for _, text := range []string{"1", "-0.5", "3000000000", "999999999999999999999", "15:04:05", "9999-12-31T15:04:05Z", "9999-12-31"} {
					if key, err := c.Key(text); err == nil {
						require.Less(t, len(key), 100, "%v: %q", c, text)
					}
				}
			}
		}
	}
	_, err := Column{Type: "INT32", logical: "DECIMAL(18,0)"}.Key("3000000000")
	require.ErrorIs(t, err, bloom.ErrInvalid)
}
