package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// A Column is a column with a filter in one row group of a file.
type Column struct {
	RowGroup  int // its number, from 0
	RowGroups int // number in the file, with or without a filter of the column

	// Path has the names of the column's groups and of the column, joined by dots, without the schema's root. A name
	// that is empty or contains a dot or a backtick is put in backticks, and its backticks are doubled: `a.b`.c is
	// column c of group "a.b".
	Path string

	Type       string // physical type, such as "INT64" or "BYTE_ARRAY"
	typeLength int    // bytes of each FIXED_LEN_BYTE_ARRAY; 0 for other types

	// logical is the logical type with its parameters, such as "DECIMAL(9,2)", "TIMESTAMP(MILLIS,true)" or
	// "INTEGER(8,false)". It is empty if there is none, and a number if this package does not know the type.
	logical string

	offset  int64 // of the filter in the file
	length  int64 // of the filter with its header; 0 if not in the footer
	refused error // why the filter cannot be read, or nil
}

// types has the names of the physical types by their numbers.
var types = []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

const (
	fileMagic      = "PAR1"
	encryptedMagic = "PARE"
	maxNames       = 1 << 10 // of a path
)

// Columns yields the columns with a filter in a Parquet file of the given size, row group by row group. It reads only
// the footer, and needs memory only for the schema. It also yields columns whose filter cannot be read, for example
// because it would be outside of the file: [Column.Filter] then returns the reason.
//
// After an error, Columns yields nothing more. The error wraps bloom.ErrCorrupt if the file is not a Parquet file or
// its footer is damaged, bloom.ErrIncompatible if the footer is encrypted, bloom.ErrTooLarge if the schema has more
// than 262,144 columns, or any error from r.
func Columns(r io.ReaderAt, size int64) iter.Seq2[Column, error] {
	return func(yield func(Column, error) bool) {
		f := footer{size: size, rowGroup: -1, yield: yield}
		if err := f.read(r); err != nil && err != errStopped {
			yield(Column{}, err)
		}
	}
}

// String returns the column's path, row group and types, such as "price:0 INT32 DECIMAL(9,2)".
func (c Column) String() string {
	text := fmt.Sprintf("%s:%d %s", c.Path, c.RowGroup, c.Type)
	if c.Type == "FIXED_LEN_BYTE_ARRAY" {
		text += fmt.Sprintf("(%d)", c.typeLength)
	}
	return strings.TrimSuffix(text+" "+c.logical, " ")
}

// errStopped ends the reading of a footer, because the caller wants no more columns.
var errStopped = errors.New("stopped")

// A footer has the state of reading a Parquet footer: the schema's leaves, and the column that is being read.
type footer struct {
	size    int64 // of the file
	yield   func(Column, error) bool
	element element // of the schema
	leaves  []leaf

	rowGroups, rowGroup int
	leaf                int // number of the column in its row group
	column              Column
	names               []string // of its path
	elsewhere           string   // why the column's filter cannot be read, or ""
}

func (f *footer) read(r io.ReaderAt) error {
	const tail = 8 // 4 bytes for the footer's length, 4 for the magic
	if f.size < int64(len(fileMagic)+tail) {
		return failure.Errorf(bloom.ErrCorrupt, "a file of %d bytes, want at least %d", f.size, len(fileMagic)+tail)
	}
	var end [tail]byte
	if err := fullAt(r, end[:], f.size-tail, "the end of the file"); err != nil {
		return err
	}
	switch magic := string(end[4:]); magic {
	case fileMagic:
	case encryptedMagic:
		return failure.Errorf(bloom.ErrIncompatible, "the footer is encrypted")
	default:
		return failure.Errorf(bloom.ErrCorrupt, "the file ends with %q, want %q", magic, fileMagic)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > f.size-tail-int64(len(fileMagic)) {
		return failure.Errorf(bloom.ErrCorrupt, "a footer of %d bytes in a file of %d", length, f.size)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, f.size-tail-length, length), int(min(length, 1<<20)))
	w := walker{in: in, visit: f.visit}
	switch err := w.walk(); {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return format.Truncated("the footer")
	case err == errStopped || errors.Is(err, bloom.ErrCorrupt) || errors.Is(err, bloom.ErrTooLarge):
		return err
	case err != nil:
		return failure.Reading("the footer", err)
	}
	return f.endColumn()
}

// visit stores the needed fields of the footer, by their numbers in parquet.thrift.
func (f *footer) visit(path []byte, number int64, text []byte) error {
	const rowGroups, chunk, meta = "\x04", "\x04\x01", "\x04\x01\x03" // chunk: one column's part of a row group
	c := &f.column
	switch string(path) {
	case rowGroups + listLength:
		f.rowGroups = int(number)
	case inSchema, rowGroups: // begins an element or a row group
		if f.element.isLeaf {
			f.leaves = append(f.leaves, f.element.leaf())
		}
		if len(f.leaves) > maxLeaves {
			return failure.Errorf(bloom.ErrTooLarge, "a schema of more than %d columns", maxLeaves)
		}
		f.element = element{}
		if string(path) == inSchema {
			return nil
		}
		if err := f.endColumn(); err != nil {
			return err
		}
		f.rowGroup++
		f.leaf = -1
	case chunk: // begins a column
		if err := f.endColumn(); err != nil {
			return err
		}
		f.leaf++
		c.RowGroup, c.RowGroups = f.rowGroup, f.rowGroups
	case chunk + "\x01": // file path
		if len(text) > 0 {
			f.elsewhere = fmt.Sprintf("is in the file %q", text)
		}
	case chunk + "\x08": // encryption
		f.elsewhere = "is encrypted"
	case meta + "\x01":
		c.Type = nameOf(types, number)
	case meta + "\x03": // a name of the path
		if number > maxText || len(f.names) == maxNames {
			return failure.Errorf(bloom.ErrCorrupt, "a path of %d names, the last of %d bytes, want at most %d and %d",
				len(f.names)+1, number, maxNames, maxText)
		}
		f.names = append(f.names, quoted(string(text)))
	case meta + "\x0e":
		c.offset = number
	case meta + "\x0f":
		c.length = number
	default:
		if f.rowGroup < 0 {
			f.element.visit(path, number)
		}
	}
	return nil
}

// endColumn yields the column if it has a filter.
func (f *footer) endColumn() error {
	c, names, elsewhere := f.column, f.names, f.elsewhere
	f.column, f.names, f.elsewhere = Column{}, f.names[:0], ""
	if c.offset == 0 {
		return nil
	}
	c.Path = strings.Join(names, ".")
	switch {
	case f.leaf >= len(f.leaves):
		return failure.Errorf(bloom.ErrCorrupt, "column %q is number %d of its row group, want at most the schema's %d",
			c.Path, f.leaf+1, len(f.leaves))
	case elsewhere != "":
		c.refused = failure.Errorf(bloom.ErrIncompatible, "the filter %s", elsewhere)
	case c.offset < int64(len(fileMagic)) || c.length < 0 || c.length > f.size-c.offset:
		c.refused = failure.Errorf(bloom.ErrCorrupt, "a filter of %d bytes at %d in a file of %d", c.length, c.offset, f.size)
	}
	leaf := f.leaves[f.leaf]
	if c.logical = leaf.logical; c.Type == "FIXED_LEN_BYTE_ARRAY" {
		c.typeLength = leaf.length
	}
	if !f.yield(c, nil) {
		return errStopped
	}
	return nil
}

// quoted returns a name for use in a dotted path. A name with a dot or backquote is quoted, so that two columns never
// have the same path.
func quoted(name string) string {
	if name == "" || strings.ContainsAny(name, ".`") {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return name
}

// Filter reads the column's filter, in two calls of r.ReadAt, or three if the footer does not have the filter's length.
// In columns of floating-point numbers, 0 and -0 are equal: if the filter contains one of them, the result contains
// both.
//
// It takes the option and returns the errors of [Read]. The error also wraps bloom.ErrCorrupt if the length in the
// filter's header differs from that in the footer, and bloom.ErrIncompatible if the filter is encrypted or in another
// file, as with _metadata files.
func (c Column) Filter(r io.ReaderAt, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	f, err := c.read(r, opts)
	if err != nil {
		return nil, fmt.Errorf("%w, in column %v", err, c)
	}
	if plus, minus := c.zeros(); plus != nil && (f.Contains(plus) || f.Contains(minus)) {
		f.Add(plus)
		f.Add(minus)
	}
	return f, nil
}

func (c Column) read(r io.ReaderAt, opts []bloom.Option) (*bloom.BloomFilter, error) {
	s, offset, err := c.scheme(r, opts)
	if err != nil {
		return nil, err
	}
	return foreign.Read(section{io.NewSectionReader(r, offset, int64(s.SizeBytes()))}, binary.LittleEndian, s)
}

// A section is a part of a file that is known to be complete. Len lets foreign.Read allocate all memory at once.
type section struct{ *io.SectionReader }

func (s section) Len() int { return format.AsLen(uint64(s.Size())) }

// Contains reports whether the column's filter contains a key. It reads only the header and 32 bytes, or twice 32 for
// the number 0. Its errors are those of [Column.Filter].
func (c Column) Contains(r io.ReaderAt, key []byte) (bool, error) {
	found, err := c.contains(r, key)
	if err != nil {
		return false, fmt.Errorf("%w, in column %v", err, c)
	}
	return found, nil
}

func (c Column) contains(r io.ReaderAt, key []byte) (bool, error) {
	s, offset, err := c.scheme(r, nil)
	if err != nil {
		return false, err
	}
	keys := [][]byte{key}
	if plus, minus := c.zeros(); plus != nil && (bytes.Equal(key, plus) || bytes.Equal(key, minus)) {
		keys = [][]byte{plus, minus}
	}
	for _, key := range keys {
		if found, err := containsAt(r, offset, s, key); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// containsAt looks up a key in a filter whose bits begin at offset. It reads only the key's block of 32 bytes.
func containsAt(r io.ReaderAt, offset int64, s *bloom.Scheme, key []byte) (bool, error) {
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

// zeros returns the keys of 0 and -0 for a column of floating-point numbers, and nil for other columns.
func (c Column) zeros() (plus, minus []byte) {
	width := 0
	switch {
	case c.Type == "FLOAT":
		width = 4
	case c.Type == "DOUBLE":
		width = 8
	case c.logical == "FLOAT16":
		width = 2
	default:
		return nil, nil
	}
	plus, minus = make([]byte, width), make([]byte, width)
	minus[width-1] = 0x80 // little-endian
	return plus, minus
}

// scheme reads the header of the filter. It returns the scheme and the offset of the bits, after a check that the bits
// are within the file.
func (c Column) scheme(r io.ReaderAt, opts []bloom.Option) (s *bloom.Scheme, offset int64, err error) {
	if c.refused != nil {
		return s, 0, c.refused
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, c.offset, maxHeader), maxHeader)
	header, size, err := readHeader(in)
	if err == io.EOF {
		err = format.Truncated("the header")
	}
	if err != nil {
		return s, 0, err
	}
	offset = c.offset + int64(header)
	switch whole := int64(header) + int64(size); {
	case c.length == 0: // if the last byte exists, all do; checked before memory is allocated
		err = fullAt(r, make([]byte, 1), c.offset+whole-1, "the bits")
	case c.length != whole:
		err = failure.Errorf(bloom.ErrCorrupt, "the filter has %d bytes, the footer says %d", whole, c.length)
	}
	if err != nil {
		return s, 0, err
	}
	s, err = schemeOf(size, opts)
	return s, offset, err
}

// fullAt fills p from offset on. If r ends too early, the error wraps bloom.ErrCorrupt and names what.
func fullAt(r io.ReaderAt, p []byte, offset int64, what string) error {
	_, err := format.Full(io.NewSectionReader(r, offset, int64(len(p))), p, what, false)
	return err
}
