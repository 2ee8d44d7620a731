package parquet

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// Key returns the key of a value given as text, by the column's type:
//
//	number, FLOAT16                 -7, 0.1, -Inf
//	DECIMAL                         12.50, 12.5
//	DATE                            2024-05-17
//	TIME                            15:04:05.25
//	TIMESTAMP(…,true), with a zone  2024-05-17T15:04:05Z, 2024-05-17 17:04:05.25+02:00, …+02
//	TIMESTAMP(…,false)              2024-05-17T15:04:05, 2024-05-17 15:04:05.25
//	UUID                            123e4567-e89b-12d3-a456-426614174000, with or without hyphens
//	STRING, ENUM, JSON, bytes       the same bytes
//
// For [Column.Contains] and the result of [Column.Filter], 0 and -0 are the same number. For a FIXED_LEN_BYTE_ARRAY(16)
// without a logical type, text is 16 bytes or a UUID with hyphens. The key of a DECIMAL in a BYTE_ARRAY has the fewest
// bytes that hold the number.
//
// The error wraps bloom.ErrInvalid if text is not a value of the column, for example because it has more digits than
// the column's scale or unit, or if the column's type is not in the table.
func (c Column) Key(text string) ([]byte, error) {
	kind, parameters, _ := strings.Cut(strings.TrimSuffix(c.logical, ")"), "(")
	first, second, _ := strings.Cut(parameters, ",")
	var key []byte
	var want string
	switch c.Type + " " + kind {
	case "INT32 ", "INT64 ":
		want, key = "a whole number in its range, in digits", c.whole(text, c.Type[3:], true)
	case "INT32 INTEGER", "INT64 INTEGER":
		want, key = "a whole number in its range, in digits", c.whole(text, first, second == "true")
	case "FLOAT ":
		want, key = "a number", float(text, 32, func(v float64) []byte { return Append(nil, float32(v)) })
	case "DOUBLE ":
		want, key = "a number", float(text, 64, func(v float64) []byte { return Append(nil, v) })
	case "FIXED_LEN_BYTE_ARRAY FLOAT16":
		want, key = "a number", float(text, 64, half)
	case "INT32 DECIMAL", "INT64 DECIMAL", "BYTE_ARRAY DECIMAL", "FIXED_LEN_BYTE_ARRAY DECIMAL":
		want, key = "a number of that precision and scale, such as 12.50", c.decimal(text, first, second)
	case "INT32 DATE":
		want = "a date such as 2024-05-17"
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			key = c.integer(t.Unix() / (24 * 60 * 60))
		}
	case "INT32 TIME", "INT64 TIME":
		want, key = "a time such as 15:04:05.25, in its unit", c.ticks("1970-01-01T"+text, false, first)
	case "INT64 TIMESTAMP":
		zoned := second == "true"
		if want = "a time such as 2024-05-17T15:04:05.25, in its unit, without a zone"; zoned {
			want = "a time with its zone such as 2024-05-17T15:04:05.25Z, in its unit"
		}
		key = c.ticks(strings.Replace(text, " ", "T", 1), zoned, first)
	case "FIXED_LEN_BYTE_ARRAY UUID":
		want, key = "a UUID", uuid(text)
	case "FIXED_LEN_BYTE_ARRAY ":
		want = "text of that length, or for 16 bytes a UUID"
		if len(text) == c.typeLength {
			key = []byte(text)
		} else if c.typeLength == 16 && len(text) == 36 {
			key = uuid(text)
		}
	case "BYTE_ARRAY JSON":
		want = "JSON"
		if json.Valid([]byte(text)) {
			key = []byte(text)
		}
	case "BYTE_ARRAY ", "BYTE_ARRAY STRING", "BYTE_ARRAY ENUM":
		key = []byte(text)
	default:
		want = "a type that has a form in text: only Column.Contains looks it up"
	}
	if key == nil || c.Type == "FIXED_LEN_BYTE_ARRAY" && len(key) != c.typeLength {
		return nil, failure.Errorf(bloom.ErrInvalid, "key %q in column %v, want %s", text, c, want)
	}
	return key, nil
}

// The functions below return the key of a value, or nil if the column cannot have the value.

// integer returns the key of the integer v: 8 bytes in an INT64 column, otherwise 4.
func (c Column) integer(v int64) []byte {
	if c.Type == "INT64" {
		return Append(nil, v)
	}
	if v != int64(int32(v)) {
		return nil
	}
	return Append(nil, int32(v))
}

// whole reads an integer of the given width in bits. Unsigned integers are stored as signed ones with the same bits.
func (c Column) whole(text, width string, signed bool) []byte {
	bits, _ := strconv.Atoi(width)
	switch {
	case bits < 8 || bits > 64:
	case signed:
		if v, err := strconv.ParseInt(text, 10, bits); err == nil {
			return c.integer(v)
		}
	default:
		if v, err := strconv.ParseUint(text, 10, bits); err == nil {
			if bits == 32 {
				return c.integer(int64(int32(v)))
			}
			return c.integer(int64(v))
		}
	}
	return nil
}

// float reads a number. It refuses NaN, because NaN has many encodings.
func float(text string, bits int, key func(v float64) []byte) []byte {
	if v, err := strconv.ParseFloat(text, bits); err == nil && v == v {
		return key(v)
	}
	return nil
}

// half returns the key of the 16-bit IEEE 754 number nearest to v: 5 bits of exponent, 10 of fraction.
func half(v float64) []byte {
	_, exponent := math.Frexp(v)
	if v == 0 || exponent < -13 {
		exponent = -13 // of a subnormal number
	}
	// In units of the last bit, a normal number is from 1024 to 2048. Rounding up to 2048 carries into the exponent.
	bits := math.RoundToEven(math.Ldexp(math.Abs(v), 11-exponent)) + float64(exponent+13)*1024
	switch {
	case math.IsInf(v, 0):
		bits = 0x7c00
	case bits >= 0x7c00:
		return nil
	}
	if math.Signbit(v) {
		bits += 0x8000
	}
	return []byte{byte(uint16(bits)), byte(uint16(bits) >> 8)}
}

// decimal reads a number with at most precision digits, scale of them after the point. The key is the number times
// 10^scale: an integer, or the shortest big-endian two's complement, extended to the column's length if it has one.
func (c Column) decimal(text, precision, scale string) []byte {
	digits, _ := strconv.Atoi(precision)
	after, _ := strconv.Atoi(scale)
	unsigned, negative := strings.CutPrefix(text, "-")
	if !negative {
		unsigned = strings.TrimPrefix(text, "+")
	}
	whole, part, _ := strings.Cut(unsigned, ".")
	if whole+part == "" || after < 0 || after > digits || digits > maxText || c.typeLength > maxText {
		return nil
	}
	whole, part = strings.TrimLeft(whole, "0"), strings.TrimRight(part, "0")
	if len(part) > after || len(whole) > digits-after {
		return nil
	}
	v, ok := new(big.Int).SetString("0"+whole+part+strings.Repeat("0", after-len(part)), 10)
	if !ok {
		return nil
	}
	fill, size := byte(0), v.BitLen()/8+1
	if negative && v.Sign() > 0 {
		v.Neg(v)
		fill, size = 0xff, new(big.Int).Not(v).BitLen()/8+1
	}
	switch {
	case c.Type == "INT32" || c.Type == "INT64":
		if !v.IsInt64() {
			return nil
		}
		return c.integer(v.Int64())
	case fill != 0:
		v.Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return append(bytes.Repeat([]byte{fill}, max(size, c.typeLength)-size), v.FillBytes(make([]byte, size))...)
}

var units = map[string]time.Duration{"MILLIS": time.Millisecond, "MICROS": time.Microsecond, "NANOS": time.Nanosecond}

// ticks reads a time. The key is the number of units since 1970.
func (c Column) ticks(text string, zoned bool, unit string) []byte {
	layout := "2006-01-02T15:04:05"
	if zoned {
		layout = time.RFC3339
		if at := len(text) - 3; at > 0 && (text[at] == '+' || text[at] == '-') {
			text += ":00" // a zone of hours, as PostgreSQL and DuckDB write it
		}
	}
	t, err := time.Parse(layout, text)
	_, fraction, _ := strings.Cut(strings.ReplaceAll(text, ",", "."), ".")
	if len(fraction)-len(strings.TrimLeft(fraction, "0123456789")) > 9 { // time.Parse drops digits after the ninth
		return nil
	}
	u := units[unit]
	if err != nil || u == 0 || t.Nanosecond()%int(u) != 0 {
		return nil
	}
	perSecond := int64(time.Second / u)
	if t.Unix() >= math.MaxInt64/perSecond || t.Unix() <= math.MinInt64/perSecond {
		return nil
	}
	return c.integer(t.Unix()*perSecond + int64(t.Nanosecond())/int64(u))
}

// uuid reads 32 hexadecimal digits, with hyphens as in RFC 9562 or without.
func uuid(text string) []byte {
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	}
	id, err := hex.DecodeString(text)
	if err != nil || len(id) != 16 {
		return nil
	}
	return id
}
