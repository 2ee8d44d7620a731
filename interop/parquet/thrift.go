package parquet

import (
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
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
	maxDepth = 64 // of structs and lists; Parquet's own need less than ten
	maxText  = 1 << 16
)

// A walker reads a struct and calls visit for each integer, boolean and binary in it, and at the start of
// each struct, with the value's path: the numbers of the fields that lead to it. All elements of a list have
// the list's path. number is the integer, 0 or 1 for a boolean field, or the length of a binary, and text a
// binary of at most maxText bytes. Doubles and lists of booleans are skipped.
type walker struct {
	in    io.ByteReader
	visit func(path []byte, number int64, text []byte) error

	path []byte
	buf  []byte
}

// fields reads the fields of a struct.
func (w *walker) fields(depth int) error {
	outer := len(w.path)
	defer func() { w.path = w.path[:outer] }()
	for id := int64(0); ; {
		b, err := w.in.ReadByte()
		if err != nil {
			return err
		}
		typ := b & 15
		if typ == typeStop {
			return nil
		}
		id += int64(b >> 4)
		if b>>4 == 0 {
			if id, err = w.integer(); err != nil {
				return err
			}
		}
		if id < 0 || id > 255 {
			id = 255 // Parquet has no such field
		}
		w.path = append(w.path[:outer], byte(id))
		if typ == typeTrue || typ == typeFalse {
			if err := w.visit(w.path, int64(typeFalse-typ), nil); err != nil { // the type is the value
				return err
			}
			continue
		}
		if err := w.value(typ, depth); err != nil {
			return unexpected(err)
		}
	}
}

// value reads a value, a field or an element of a list.
func (w *walker) value(typ byte, depth int) error {
	if depth++; depth > maxDepth {
		return format.Errorf(bloom.ErrCorrupt, "nested more than %d deep", maxDepth)
	}
	switch typ {
	case typeTrue, typeFalse:
		return w.discard(1)
	case typeI8:
		b, err := w.in.ReadByte()
		if err != nil {
			return err
		}
		return w.visit(w.path, int64(int8(b)), nil)
	case typeDouble:
		return w.discard(8)
	case typeI16, typeI32, typeI64:
		v, err := w.integer()
		if err != nil {
			return err
		}
		return w.visit(w.path, v, nil)
	case typeBinary:
		return w.binary()
	case typeStruct:
		if err := w.visit(w.path, 0, nil); err != nil {
			return err
		}
		return w.fields(depth)
	case typeList, typeSet:
		b, err := w.in.ReadByte()
		if err != nil {
			return err
		}
		n, typ := uint64(b>>4), b&15
		if n == 15 {
			if n, err = w.unsigned(); err != nil {
				return err
			}
		}
		for range n { // each takes at least a byte, so the bytes bound n
			if err := w.value(typ, depth); err != nil {
				return err
			}
		}
		return nil
	}
	return format.Errorf(bloom.ErrCorrupt, "a field of type %d, want 1 to 10 or 12", typ)
}

func (w *walker) integer() (int64, error) {
	v, err := w.unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}

// unsigned is binary.ReadUvarint with an error that wraps bloom.ErrCorrupt for more than 64 bits.
func (w *walker) unsigned() (v uint64, err error) {
	for shift := 0; ; shift += 7 {
		b, err := w.in.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		if shift == 63 && b > 1 {
			return 0, format.Errorf(bloom.ErrCorrupt, "a number of more than 64 bits")
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
}

func (w *walker) binary() error {
	n, err := w.unsigned()
	if err != nil {
		return err
	}
	w.buf = w.buf[:0]
	for range n {
		b, err := w.in.ReadByte()
		if err != nil {
			return err
		}
		if n <= maxText {
			w.buf = append(w.buf, b)
		}
	}
	return w.visit(w.path, int64(min(n, 1<<62)), w.buf)
}

func (w *walker) discard(n int) error {
	for range n {
		if _, err := w.in.ReadByte(); err != nil {
			return err
		}
	}
	return nil
}

// unexpected is the error of an end within a value.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
