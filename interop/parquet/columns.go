package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/remaining"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// A Column is a column with a filter in one row group of a file.
type Column struct {
	RowGroup int

	// Path has the names from below the root of the schema on, with points between them. A
	// name that is empty or has a point or a backtick stands in backticks, and its own
	// backticks are doubled: `a.b`.c is column c of group "a.b".
	Path string

	Type       string // physical type, such as "INT64" or "BYTE_ARRAY"
	TypeLength int    // bytes of each FIXED_LEN_BYTE_ARRAY; 0 for other types

	Offset int64 // of the filter in the file
	Length int64 // of the filter with its header; 0 if the writer did not say

	refused string // why the filter cannot be read, or ""
}

// types are the names of the physical types by their numbers.
var types = []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

const (
	fileMagic      = "PAR1"
	encryptedMagic = "PARE"
)

// Columns returns the columns of a Parquet file of the given size that have a filter, row group
// by row group. It reads the footer only. It also returns columns whose filter cannot be read:
// [Column.Filter] says why.
//
// The error wraps bloom.ErrCorrupt if the file is no Parquet file or its footer is damaged,
// bloom.ErrIncompatible if the footer is encrypted, or is that of r.
func Columns(r io.ReaderAt, size int64) ([]Column, error) {
	const tail = 8 // length of the footer, magic
	if size < int64(len(fileMagic)+tail) {
		return nil, fmt.Errorf("%w: a file of %d bytes, want at least %d", bloom.ErrCorrupt, size, len(fileMagic)+tail)
	}
	var end [tail]byte
	if err := fullAt(r, end[:], size-tail, "the end of the file"); err != nil {
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
	in := bufio.NewReaderSize(io.NewSectionReader(r, size-tail-length, length), int(min(length, 1<<20)))
	f := footer{rowGroup: -1}
	w := walker{in: in, visit: f.visit}
	switch err := w.fields(0); {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, format.Truncated("the footer")
	case errors.Is(err, bloom.ErrCorrupt):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("bloom: reading the footer: %w", err)
	}
	f.endColumn()
	for _, c := range f.columns {
		if c.refused == "" && (c.Offset < int64(len(fileMagic)) || c.Length < 0 || c.Length > size-c.Offset) {
			return nil, fmt.Errorf("%w: column %q has a filter of %d bytes at %d in a file of %d", bloom.ErrCorrupt, c.Path, c.Length, c.Offset, size)
		}
	}
	return f.columns, nil
}

// A footer collects the columns that have a filter.
type footer struct {
	typeLengths []int // of the leaves of the schema
	rowGroup    int
	leaf        int // number of the column in its row group
	column      Column
	names       []string // of its path
	columns     []Column
}

// visit takes the fields of the footer that matter, by their numbers in parquet.thrift.
func (f *footer) visit(path string, number int64, text []byte) error {
	const chunk, meta = "\x04\x01", "\x04\x01\x03" // of a column in a row group
	c := &f.column
	switch path {
	case "\x02\x01": // type, only of leaves
		f.typeLengths = append(f.typeLengths, 0)
	case "\x02\x02": // type length
		if n := len(f.typeLengths); n > 0 {
			f.typeLengths[n-1] = int(int32(number))
		}
	case "\x04": // a row group begins
		f.rowGroup++
		f.leaf = -1
	case chunk: // a column begins
		f.endColumn()
		f.leaf++
		c.RowGroup = f.rowGroup
	case chunk + "\x01": // file path
		if len(text) > 0 {
			c.refused = fmt.Sprintf("is in the file %q", text)
		}
	case chunk + "\x08": // encryption
		c.refused = "is encrypted"
	case meta + "\x01":
		if c.Type = fmt.Sprint(number); number >= 0 && number < int64(len(types)) {
			c.Type = types[number]
		}
		if c.Type == "FIXED_LEN_BYTE_ARRAY" && f.leaf < len(f.typeLengths) {
			c.TypeLength = f.typeLengths[f.leaf]
		}
	case meta + "\x03": // a name of the path
		if number > maxText {
			return fmt.Errorf("%w: a name of %d bytes, want at most %d", bloom.ErrCorrupt, number, maxText)
		}
		f.names = append(f.names, quoted(string(text)))
	case meta + "\x0e":
		c.Offset = number
	case meta + "\x0f":
		c.Length = number
	}
	return nil
}

// endColumn keeps the column if it has a filter.
func (f *footer) endColumn() {
	if f.column.Offset != 0 {
		f.column.Path = strings.Join(f.names, ".")
		f.columns = append(f.columns, f.column)
	}
	f.column, f.names = Column{}, f.names[:0]
}

// quoted makes the paths of different names differ.
func quoted(name string) string {
	if name == "" || strings.ContainsAny(name, ".`") {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return name
}

// Filter reads the column's filter, in two calls of r.ReadAt, or three if Length is 0.
//
// Options and errors are those of [Read]. The error also wraps bloom.ErrIncompatible if the
// filter is encrypted, or in another file, as the filters of _metadata files are.
func (c Column) Filter(r io.ReaderAt, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	s, offset, err := c.scheme(r, opts)
	if err != nil {
		return nil, err
	}
	size := int64(s.SizeBytes())
	if c.Length == 0 { // the last byte proves that the others are there, before they get memory
		if err := fullAt(r, make([]byte, 1), offset+size-1, "the bits"); err != nil {
			return nil, err
		}
	}
	return wire.Read(section{io.NewSectionReader(r, offset, size)}, binary.LittleEndian, s)
}

// A section is a part of a file that is known to be there.
type section struct{ *io.SectionReader }

func (s section) Remaining(remaining.Own) uint64 { return uint64(s.Size()) }

// Contains reports whether the column's filter contains a key, like [Column.Filter] followed by
// a lookup, but reads only the header and 32 bytes.
func (c Column) Contains(r io.ReaderAt, key []byte) (bool, error) {
	s, offset, err := c.scheme(r, nil)
	if err != nil {
		return false, err
	}
	var positions [k]uint64
	s.AppendPositions(positions[:0], key)
	var block [blockBytes]byte
	if err := fullAt(r, block[:], offset+int64(positions[0]/(8*blockBytes)*blockBytes), "the bits"); err != nil {
		return false, err
	}
	for _, at := range positions {
		if at %= 8 * blockBytes; block[at/8]>>(at%8)&1 == 0 {
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
	header, size, err := readHeader(in)
	if err == io.EOF || err == nil && int64(header)+int64(size) > length {
		err = fmt.Errorf("%w: column %q has no whole filter at %d: %w", bloom.ErrCorrupt, c.Path, c.Offset, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return s, 0, err
	}
	s, err = schemeOf(size, opts)
	return s, c.Offset + int64(header), err
}

// fullAt fills p, a part of what, from offset on. An early end wraps bloom.ErrCorrupt.
func fullAt(r io.ReaderAt, p []byte, offset int64, what string) error {
	_, err := format.Full(io.NewSectionReader(r, offset, int64(len(p))), p, what, false)
	return err
}
