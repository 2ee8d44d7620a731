package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// A Column is one of a row group in a file that has a filter.
type Column struct {
	RowGroup int

	// Path has the names from below the root of the schema on, with points between them. A
	// name that is empty or has a point or a backtick stands in backticks, and its own
	// backticks are doubled: `a.b`.c is column c of group "a.b".
	Path string

	Type       Type
	TypeLength int // bytes of each value of a FixedLenByteArray; 0 for other types

	Offset int64 // of the filter in the file
	Length int64 // of the filter with its header; 0 if the writer did not say

	refused string // why the filter cannot be read, or ""
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
// by row group. It reads the footer only. It also returns columns whose filter cannot be read:
// [Column.Filter] says why.
//
// The error wraps bloom.ErrCorrupt if the file is not Parquet's or the footer is damaged,
// bloom.ErrIncompatible if the footer is encrypted, or is that of r.
func Columns(r io.ReaderAt, size int64) ([]Column, error) {
	const tail = 8 // length of the footer, magic
	if size < int64(len(fileMagic)+tail) {
		return nil, fmt.Errorf("%w: a file of %d bytes, want at least %d", bloom.ErrCorrupt, size, len(fileMagic)+tail)
	}
	var end [tail]byte
	if err := wire.FullAt(r, end[:], size-tail, "the end of the file"); err != nil {
		return nil, err
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
	footer := io.NewSectionReader(r, size-tail-length, length)
	f := &footerReader{thrift: thrift{in: bufio.NewReaderSize(footer, int(min(length, 1<<20)))}}
	switch err := f.fileMetaData(); {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("%w: it ends within the footer: %w", bloom.ErrCorrupt, io.ErrUnexpectedEOF)
	case errors.Is(err, bloom.ErrCorrupt):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("bloom: reading the footer: %w", err)
	}
	for _, c := range f.columns {
		if c.refused == "" && (c.Offset < int64(len(fileMagic)) || c.Offset >= size || c.Length < 0 || c.Length > size-c.Offset) {
			return nil, fmt.Errorf("%w: column %q has a filter of %d bytes at %d in a file of %d", bloom.ErrCorrupt, c.Path, c.Length, c.Offset, size)
		}
	}
	return f.columns, nil
}

// A footerReader collects the columns that have a filter.
type footerReader struct {
	thrift
	typeLengths []int32 // of the leaves of the schema
	columns     []Column
}

// The fields of the footer that matter, by their numbers in parquet.thrift: the schema and the
// row groups of the file, their column chunks, and a chunk's meta data.

func (f *footerReader) fileMetaData() error {
	group := 0
	return f.fields(func(id int16, typ byte) error {
		switch {
		case id == 2 && typ == typeList:
			return f.structs(f.schemaElement)
		case id == 4 && typ == typeList:
			return f.structs(func() error {
				leaf := 0
				err := f.fields(func(id int16, typ byte) error {
					if id != 1 || typ != typeList {
						return f.skip(typ)
					}
					return f.structs(func() error {
						err := f.columnChunk(group, leaf)
						leaf++
						return err
					})
				})
				group++
				return err
			})
		}
		return f.skip(typ)
	})
}

func (f *footerReader) schemaElement() error {
	leaf, length := false, int64(0)
	err := f.fields(func(id int16, typ byte) (err error) {
		switch {
		case id == 1 && typ == typeI32:
			leaf = true // only leaves have a type
		case id == 2 && typ == typeI32:
			length, err = f.integer()
			return err
		}
		return f.skip(typ)
	})
	if leaf {
		f.typeLengths = append(f.typeLengths, int32(length))
	}
	return err
}

func (f *footerReader) columnChunk(group, leaf int) error {
	c := Column{RowGroup: group}
	encrypted, file := false, ""
	err := f.fields(func(id int16, typ byte) error {
		switch {
		case id == 1 && typ == typeBinary:
			name, err := f.binary(maxName)
			file = string(name)
			return err
		case id == 3 && typ == typeStruct:
			return f.columnMetaData(&c)
		case id == 8:
			encrypted = true
		}
		return f.skip(typ)
	})
	if err != nil || c.Offset == 0 {
		return err
	}
	if c.Type == FixedLenByteArray && leaf < len(f.typeLengths) {
		c.TypeLength = int(f.typeLengths[leaf])
	}
	switch {
	case file != "":
		c.refused = fmt.Sprintf("is in the file %q", file)
	case encrypted:
		c.refused = "is encrypted"
	}
	f.columns = append(f.columns, c)
	return nil
}

func (f *footerReader) columnMetaData(c *Column) error {
	return f.fields(func(id int16, typ byte) (err error) {
		switch {
		case id == 1 && typ == typeI32:
			v, err := f.integer()
			c.Type = Type(v)
			return err
		case id == 3 && typ == typeList:
			var names []string
			err := f.list(func(typ byte) error {
				if typ != typeBinary {
					return f.skipElement(typ)
				}
				name, err := f.binary(maxName)
				names = append(names, string(name))
				return err
			})
			c.Path = pathOf(names)
			return err
		case id == 14 && typ == typeI64:
			c.Offset, err = f.integer()
			return err
		case id == 15 && typ == typeI32:
			c.Length, err = f.integer()
			return err
		}
		return f.skip(typ)
	})
}

// pathOf returns different paths for different names.
func pathOf(names []string) string {
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, ".`") {
			names[i] = "`" + strings.ReplaceAll(name, "`", "``") + "`"
		}
	}
	return strings.Join(names, ".")
}

// Filter reads the column's filter, in two calls of r.ReadAt, or three if Length is 0.
//
// Options and errors are those of [Read]. The error also wraps bloom.ErrIncompatible if the
// filter is encrypted, or in another file, as those of _metadata files are.
func (c Column) Filter(r io.ReaderAt, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	s, offset, err := c.scheme(r, opts)
	if err != nil {
		return nil, err
	}
	if c.Length == 0 { // the last byte proves that the others are there, before they get memory
		if err := wire.FullAt(r, make([]byte, 1), offset+int64(s.SizeBytes())-1, "the bits"); err != nil {
			return nil, err
		}
	}
	return wire.ReadAt(r, offset, s)
}

// Contains reports whether the column's filter contains a key, like [Column.Filter] followed by
// a lookup, but reads only the header and 32 bytes.
func (c Column) Contains(r io.ReaderAt, key []byte) (bool, error) {
	s, offset, err := c.scheme(r, nil)
	if err != nil {
		return false, err
	}
	const blockBits = 256
	var positions [k]uint64
	s.AppendPositions(positions[:0], key)
	var block [blockBits / 8]byte
	if err := wire.FullAt(r, block[:], offset+int64(positions[0]/blockBits*uint64(len(block))), "the bits"); err != nil {
		return false, err
	}
	for _, at := range positions {
		if at %= blockBits; block[at/8]>>(at%8)&1 == 0 {
			return false, nil
		}
	}
	return true, nil
}

// scheme reads the header of the filter, and returns the offset of the bits.
func (c Column) scheme(r io.ReaderAt, opts []bloom.Option) (s bloom.Scheme, offset int64, err error) {
	if c.refused != "" {
		return s, 0, fmt.Errorf("%w: the filter of column %q %s", bloom.ErrIncompatible, c.Path, c.refused)
	}
	length := c.Length
	if length == 0 {
		length = maxHeader + maxBytes
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, c.Offset, min(length, maxHeader)), maxHeader)
	header, bits, err := readHeader(in)
	if err == io.EOF || err == nil && int64(header)+int64(bits) > length {
		err = fmt.Errorf("%w: column %q has no whole filter at %d: %w", bloom.ErrCorrupt, c.Path, c.Offset, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return s, 0, err
	}
	s, err = schemeOf(bits, opts)
	return s, c.Offset + int64(header), err
}
