package parquet

import (
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
)

// Thrift's compact protocol, as much of it as is needed to find some fields and skip the
// others. Source: "Thrift compact protocol encoding", Apache Thrift.

// The types of fields.
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

// maxDepth is how deep structs, lists and maps may nest. Parquet's own do less than ten
// times.
const maxDepth = 64

// A thrift reads values.
type thrift struct {
	in    io.ByteReader
	depth int
}

func (t *thrift) enter() error {
	if t.depth++; t.depth > maxDepth {
		return fmt.Errorf("%w: it nests more than %d deep", bloom.ErrCorrupt, maxDepth)
	}
	return nil
}

// fields calls a function for each field of a struct, which must read or skip it.
func (t *thrift) fields(field func(id int16, typ byte) error) error {
	if err := t.enter(); err != nil {
		return err
	}
	defer func() { t.depth-- }()
	for id := int16(0); ; {
		b, err := t.in.ReadByte()
		if err != nil {
			return err
		}
		typ := b & 15
		if typ == typeStop {
			return nil
		}
		if delta := int16(b >> 4); delta > 0 {
			id += delta
		} else {
			v, err := t.integer()
			if err != nil {
				return unexpected(err)
			}
			id = int16(v)
		}
		if err := field(id, typ); err != nil {
			return unexpected(err)
		}
	}
}

// integer reads one of 16 to 64 bits.
func (t *thrift) integer() (int64, error) {
	v, err := t.unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}

// unsigned is what binary.ReadUvarint does, whose error for too many bits nobody could tell from r's.
func (t *thrift) unsigned() (v uint64, err error) {
	for shift := 0; ; shift += 7 {
		b, err := t.in.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		if shift == 63 && b > 1 {
			return 0, fmt.Errorf("%w: a number of more than 64 bits", bloom.ErrCorrupt)
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
}

// binary reads a string of at most limit bytes.
func (t *thrift) binary(limit uint64) ([]byte, error) {
	n, err := t.unsigned()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("%w: a string of %d bytes, want at most %d", bloom.ErrCorrupt, n, limit)
	}
	s := make([]byte, n)
	for i := range s {
		if s[i], err = t.in.ReadByte(); err != nil {
			return nil, unexpected(err)
		}
	}
	return s, nil
}

// list calls a function for each element of a list, which must read or skip it.
func (t *thrift) list(element func(typ byte) error) error {
	if err := t.enter(); err != nil {
		return err
	}
	defer func() { t.depth-- }()
	b, err := t.in.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	n, typ := uint64(b>>4), b&15
	if n == 15 {
		if n, err = t.unsigned(); err != nil {
			return err
		}
	}
	for range n { // each takes a byte at least, so a number that is too large ends with the bytes
		if err := element(typ); err != nil {
			return unexpected(err)
		}
	}
	return nil
}

// structs calls a function for each element of a list of structs, which must read it.
func (t *thrift) structs(read func() error) error {
	return t.list(func(typ byte) error {
		if typ != typeStruct {
			return t.skipElement(typ)
		}
		return read()
	})
}

// skip reads a field of any type.
func (t *thrift) skip(typ byte) error {
	switch typ {
	case typeTrue, typeFalse: // the value is in the type
		return nil
	case typeI8:
		return t.discard(1)
	case typeI16, typeI32, typeI64:
		_, err := t.unsigned()
		return err
	case typeDouble:
		return t.discard(8)
	case typeBinary:
		n, err := t.unsigned()
		if err != nil {
			return err
		}
		return t.discard(n)
	case typeList, typeSet:
		return t.list(t.skipElement)
	case typeStruct:
		return t.fields(func(_ int16, typ byte) error { return t.skip(typ) })
	}
	return fmt.Errorf("%w: a field of type %d, which there is not", bloom.ErrCorrupt, typ)
}

// skipElement is skip within a list or map, where a boolean takes a byte.
func (t *thrift) skipElement(typ byte) error {
	if typ == typeTrue || typ == typeFalse {
		return t.discard(1)
	}
	return t.skip(typ)
}

func (t *thrift) discard(n uint64) error {
	for range n {
		if _, err := t.in.ReadByte(); err != nil {
			return unexpected(err)
		}
	}
	return nil
}

// unexpected is for an end within a value.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
