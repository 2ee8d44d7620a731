package parquet

import (
	"cmp"
	"io"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// The types of Thrift's compact protocol.
// Source: "Thrift compact protocol encoding", Apache Thrift.
const (
	typeStop   = 0
	typeTrue   = 1
	typeFalse  = 2
	typeI8     = 3
	typeI16    = 4
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeStruct = 12
)

const (
	maxDepth = 64 // of structs and lists; Parquet files need less than ten
	maxText  = 1 << 16
)

// listLength stands for the length of a list in a path. No field has this number.
const listLength = "\x00"

// A walker reads a Thrift struct. It calls visit for each integer, boolean and binary in it, and at the start of each
// inner struct. path has the numbers of the fields that lead to the value. Elements of a list have the path of the
// list. The length of a list is reported as an integer under this path followed by listLength. number is the integer, 0
// or 1 for a boolean, or the length of a binary. text is the binary if it has at most maxText bytes. Doubles and lists
// of booleans are skipped.
type walker struct {
	in    io.ByteReader
	visit func(path []byte, number int64, text []byte) error

	err  error // the first error, of in or visit; after it, byte returns 0
	path []byte
	buf  []byte
}

// walk reads the struct. If the input ends too early, it returns io.EOF itself.
func (w *walker) walk() error {
	w.fields(0)
	return w.err
}

// fields reads the fields of a struct.
func (w *walker) fields(depth int) {
	outer := len(w.path)
	for id := int64(0); ; {
		b := w.byte()
		typ := b & 15
		if typ == typeStop {
			break
		}
		id += int64(b >> 4)
		if b>>4 == 0 {
			id = w.integer()
		}
		if id <= 0 || id > 255 {
			id = 255 // a number that no field of Parquet has
		}
		w.path = append(w.path[:outer], byte(id))
		if typ == typeTrue || typ == typeFalse { // the type is the value
			w.report(int64(typeFalse-typ), nil)
		} else {
			w.value(typ, depth+1)
		}
	}
	w.path = w.path[:outer]
}

// value reads one value, of a field or an element of a list.
func (w *walker) value(typ byte, depth int) {
	if depth > maxDepth {
		w.fail("nested more than %d deep", maxDepth)
		return
	}
	switch typ {
	case typeTrue, typeFalse:
		w.byte()
	case typeI8:
		w.report(int64(int8(w.byte())), nil)
	case typeDouble:
		for range 8 {
			w.byte()
		}
	case typeI16, typeI32, typeI64:
		w.report(w.integer(), nil)
	case typeBinary:
		w.binary()
	case typeStruct:
		w.report(0, nil)
		w.fields(depth)
	case typeList, typeSet:
		b := w.byte()
		n := uint64(b >> 4)
		if n == 15 {
			n = w.unsigned()
		}
		w.path = append(w.path, listLength...)
		w.report(int64(min(n, math.MaxInt32)), nil)
		w.path = w.path[:len(w.path)-len(listLength)]
		for ; n > 0 && w.err == nil; n-- { // each takes at least one byte, so the loop ends with the input even if n is forged
			w.value(b&15, depth+1)
		}
	default:
		w.fail("a field of type %d, want 1 to 10 or 12", typ)
	}
}

func (w *walker) integer() int64 {
	v := w.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

// unsigned is binary.ReadUvarint with an error that wraps bloom.ErrCorrupt for more than 64 bits.
func (w *walker) unsigned() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := w.byte()
		if shift == 63 && b > 1 {
			w.fail("a number of more than 64 bits")
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

func (w *walker) binary() {
	n := w.unsigned()
	w.buf = w.buf[:0]
	for left := n; left > 0 && w.err == nil; left-- {
		b := w.byte()
		if n <= maxText {
			w.buf = append(w.buf, b)
		}
	}
	w.report(int64(min(n, 1<<62)), w.buf)
}

// report calls visit, unless there was an error.
func (w *walker) report(number int64, text []byte) {
	if w.err == nil {
		w.err = w.visit(w.path, number, text)
	}
}

// byte returns the next byte, or 0 after an error: a 0 ends each struct and number.
func (w *walker) byte() byte {
	if w.err != nil {
		return 0
	}
	b, err := w.in.ReadByte()
	if err != nil {
		w.err = err
		return 0
	}
	return b
}

func (w *walker) fail(text string, args ...any) {
	w.err = cmp.Or(w.err, failure.Errorf(bloom.ErrCorrupt, text, args...))
}
