package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/seed3447c163/bloom"
)

// A Column is one of a row group in a file that has a filter.
type Column struct {
	RowGroup int
	Path     string // names from the root of the schema on, with points between
	Type     Type
	Offset   int64 // of the filter in the file
	Length   int64 // of the filter with its header; 0 if the writer did not say
}

// A Type is a physical type. The numbers are Parquet's.
type Type int32

// The physical types.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

// String returns the type's name in Parquet.
func (t Type) String() string {
	names := []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if t < 0 || int(t) >= len(names) {
		return fmt.Sprintf("Type(%d)", int32(t))
	}
	return names[t]
}

const (
	fileMagic      = "PAR1"
	encryptedMagic = "PARE"
	maxName        = 1 << 16
)

// Columns returns the columns of a Parquet file of the given size that have a filter, row group
// by row group. It reads the footer only.
//
// The error wraps bloom.ErrCorrupt if the file is not Parquet's or damaged where it was looked
// at, bloom.ErrIncompatible if the footer is encrypted, or is that of r.
func Columns(r io.ReaderAt, size int64) ([]Column, error) {
	const tail = 8 // length of the footer, magic
	if size < int64(len(fileMagic)+tail) {
		return nil, fmt.Errorf("%w: a file of %d bytes, want at least %d", bloom.ErrCorrupt, size, len(fileMagic)+tail)
	}
	var end [tail]byte
	if _, err := r.ReadAt(end[:], size-tail); err != nil {
		return nil, fmt.Errorf("bloom: reading the end of the file: %w", err)
	}
	switch magic := string(end[4:]); magic {
	case fileMagic:
	case encryptedMagic:
		return nil, fmt.Errorf("%w: the footer is encrypted", bloom.ErrIncompatible)
	default:
		return nil, fmt.Errorf("%w: the file ends with %q, want %q", bloom.ErrCorrupt, magic, fileMagic)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-tail-int64(len(fileMagic)) {
		return nil, fmt.Errorf("%w: a footer of %d bytes in a file of %d", bloom.ErrCorrupt, length, size)
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-tail-length); err != nil {
		return nil, fmt.Errorf("bloom: reading the footer: %w", err)
	}
	t := &thrift{in: bytes.NewReader(footer)}
	columns, err := t.fileMetaData()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%w: the footer ends too early: %w", bloom.ErrCorrupt, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if c.Offset < int64(len(fileMagic)) || c.Offset >= size || c.Length < 0 || c.Length > size-c.Offset {
			return nil, fmt.Errorf("%w: column %q has a filter of %d bytes at %d in a file of %d", bloom.ErrCorrupt, c.Path, c.Length, c.Offset, size)
		}
	}
	return columns, nil
}

// Filter reads the column's filter, as [Read] does.
func (c Column) Filter(r io.ReaderAt, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	length := c.Length
	if length == 0 {
		length = maxHeader + maxBytes
	}
	f, err := Read(io.NewSectionReader(r, c.Offset, length), opts...)
	if err == io.EOF {
		err = fmt.Errorf("%w: column %q has no filter at %d: %w", bloom.ErrCorrupt, c.Path, c.Offset, io.ErrUnexpectedEOF)
	}
	return f, err
}

// The fields of the footer that matter, by their numbers in parquet.thrift: the row groups of
// the file, their columns, and a column's meta data.

func (t *thrift) fileMetaData() (columns []Column, err error) {
	group := 0
	err = t.fields(func(id int16, typ byte) error {
		if id != 4 || typ != typeList {
			return t.skip(typ)
		}
		return t.list(func(typ byte) error {
			if typ != typeStruct {
				return t.skipElement(typ)
			}
			found, err := t.rowGroup(group)
			columns = append(columns, found...)
			group++
			return err
		})
	})
	return columns, err
}

func (t *thrift) rowGroup(group int) (columns []Column, err error) {
	err = t.fields(func(id int16, typ byte) error {
		if id != 1 || typ != typeList {
			return t.skip(typ)
		}
		return t.list(func(typ byte) error {
			if typ != typeStruct {
				return t.skipElement(typ)
			}
			return t.fields(func(id int16, typ byte) error {
				if id != 3 || typ != typeStruct {
					return t.skip(typ)
				}
				c, err := t.columnMetaData()
				if c.RowGroup = group; err == nil && c.Offset != 0 {
					columns = append(columns, c)
				}
				return err
			})
		})
	})
	return columns, err
}

func (t *thrift) columnMetaData() (c Column, err error) {
	err = t.fields(func(id int16, typ byte) error {
		switch {
		case id == 1 && typ == typeI32:
			v, err := t.integer()
			c.Type = Type(v)
			return err
		case id == 3 && typ == typeList:
			var names []string
			err := t.list(func(typ byte) error {
				if typ != typeBinary {
					return t.skipElement(typ)
				}
				name, err := t.binary(maxName)
				names = append(names, string(name))
				return err
			})
			c.Path = strings.Join(names, ".")
			return err
		case id == 14 && typ == typeI64:
			c.Offset, err = t.integer()
			return err
		case id == 15 && typ == typeI32:
			c.Length, err = t.integer()
			return err
		}
		return t.skip(typ)
	})
	return c, err
}
