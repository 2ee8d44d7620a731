package parquet

import (
	"fmt"
	"strconv"
)

// The names of the members of the union LogicalType, the older enum ConvertedType, and the union TimeUnit, by their
// numbers in parquet.thrift. Source: "Parquet Logical Type Definitions", Apache Parquet.
var (
	logicalNames = []string{
		1: "STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "INTEGER", "UNKNOWN",
		"JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY",
	}
	convertedNames = []string{
		"STRING", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE",
		"TIME(MILLIS,true)", "TIME(MICROS,true)", "TIMESTAMP(MILLIS,true)", "TIMESTAMP(MICROS,true)",
		"INTEGER(8,false)", "INTEGER(16,false)", "INTEGER(32,false)", "INTEGER(64,false)",
		"INTEGER(8,true)", "INTEGER(16,true)", "INTEGER(32,true)", "INTEGER(64,true)", "JSON", "BSON", "INTERVAL",
	}
	unitNames = []string{1: "MILLIS", "MICROS", "NANOS"}
)

// nameOf returns names[number], or the digits of number if there is no such name.
func nameOf(names []string, number int64) string {
	if number >= 0 && number < int64(len(names)) && names[number] != "" {
		return names[number]
	}
	return strconv.FormatInt(number, 10)
}

// maxLeaves limits the memory for the schema of an untrusted file.
const maxLeaves = 1 << 18

// A leaf describes a column in the schema: its length and logical type, as in Column.
type leaf struct {
	length  int
	logical string
}

// An element collects the fields of a leaf or a group of the schema.
type element struct {
	isLeaf           bool
	length           int64
	converted        string
	logical, unit    byte // numbers of the members of their unions; 0 if missing
	scale, precision int64
	bits, flag       int64 // flag: 1 for a signed integer, or a time adjusted to UTC
}

// The paths of an element's fields, by their numbers in parquet.thrift.
const (
	inSchema    = "\x02"
	inLogical   = inSchema + "\x0a"
	inDecimal   = inLogical + "\x05"
	inTime      = inLogical + "\x07"
	inTimestamp = inLogical + "\x08"
	inInteger   = inLogical + "\x0a"
)

func (e *element) visit(path []byte, number int64) {
	switch string(path) {
	case inSchema + "\x01":
		e.isLeaf = true
	case inSchema + "\x02":
		e.length = number
	case inSchema + "\x06":
		e.converted = nameOf(convertedNames, number)
	case inSchema + "\x07", inDecimal + "\x01":
		e.scale = number
	case inSchema + "\x08", inDecimal + "\x02":
		e.precision = number
	case inInteger + "\x01":
		e.bits = number
	case inInteger + "\x02", inTime + "\x01", inTimestamp + "\x01":
		e.flag = number
	default:
		switch n := len(path); {
		case n == 3 && string(path[:2]) == inLogical:
			e.logical = path[2]
		case n == 5 && (string(path[:4]) == inTime+"\x02" || string(path[:4]) == inTimestamp+"\x02"):
			e.unit = path[4]
		}
	}
}

// leaf returns the leaf that the element describes. If the element has both types, the logical type replaces the
// converted one.
func (e *element) leaf() leaf {
	name := e.converted
	if e.logical != 0 {
		name = nameOf(logicalNames, int64(e.logical))
	}
	switch name {
	case "DECIMAL":
		name = fmt.Sprintf("DECIMAL(%d,%d)", e.precision, e.scale)
	case "TIME", "TIMESTAMP":
		name = fmt.Sprintf("%s(%s,%v)", name, nameOf(unitNames, int64(e.unit)), e.flag != 0)
	case "INTEGER":
		name = fmt.Sprintf("INTEGER(%d,%v)", e.bits, e.flag != 0)
	}
	return leaf{int(int32(e.length)), name}
}
