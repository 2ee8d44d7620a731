package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
)

// The header of a filter is a struct in Thrift's compact protocol:
//
//	1: i32 number of bytes   2: union algorithm {1: BLOCK}   3: union hash {1: XXHASH}   4: union compression {1: UNCOMPRESSED}

// choices are the unions of the header, from field 2 on, and the names of their fields from 1 on.
var choices = []struct {
	what  string
	names []string
}{
	{"algorithm", []string{"BLOCK"}},
	{"hash", []string{"XXHASH"}},
	{"compression", []string{"UNCOMPRESSED", "GZIP"}}, // GZIP is parquet-go's own
}

// appendHeader appends the header of a filter of that many bytes, at most 2^31-1.
func appendHeader(dst []byte, bytes uint64) []byte {
	dst = append(dst, 1<<4|typeI32)
	dst = binary.AppendUvarint(dst, bytes*2) // zigzag
	for range choices {                      // the next field, a union: its field 1, an empty struct
		dst = append(dst, 1<<4|typeStruct, 1<<4|typeStruct, typeStop, typeStop)
	}
	return append(dst, typeStop)
}

// maxHeader is far more than a header has. A later version may have more fields.
const maxHeader = 1 << 10

// readHeader reads a header, and no byte more. It returns the header's length and the number of
// bytes that follow. At the end of the stream it returns io.EOF itself.
func readHeader(in io.ByteReader) (length int, bits uint64, err error) {
	source := &headerBytes{in: in}
	t := &thrift{in: source}
	bytes, chosen := int64(-1), map[int16]int16{}
	err = t.fields(func(id int16, typ byte) error {
		switch {
		case id == 1 && typ == typeI32:
			v, err := t.integer()
			bytes = v
			return err
		case id >= 2 && int(id) < 2+len(choices) && typ == typeStruct:
			return t.fields(func(choice int16, typ byte) error {
				chosen[id] = choice
				return t.skip(typ)
			})
		}
		return t.skip(typ)
	})
	switch {
	case err == io.EOF && source.read == 0:
		return 0, 0, err
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return 0, 0, fmt.Errorf("%w: it ends within the header: %w", bloom.ErrCorrupt, io.ErrUnexpectedEOF)
	case err != nil:
		return 0, 0, err
	}
	for i, of := range choices {
		choice, ok := chosen[int16(i+2)]
		if !ok {
			return 0, 0, fmt.Errorf("%w: the header has no %s", bloom.ErrCorrupt, of.what)
		}
		if choice != 1 {
			name := fmt.Sprint(choice)
			if choice > 0 && int(choice) <= len(of.names) {
				name = of.names[choice-1]
			}
			return 0, 0, fmt.Errorf("%w: the filter has %s %s, want %s", bloom.ErrIncompatible, of.what, name, of.names[0])
		}
	}
	if bytes <= 0 || bytes%32 != 0 || bytes > maxBytes {
		return 0, 0, fmt.Errorf("%w: a filter of %d bytes, want a multiple of 32 below 2^31", bloom.ErrCorrupt, bytes)
	}
	return source.read, uint64(bytes), nil
}

// headerBytes counts the bytes of a header and bounds them.
type headerBytes struct {
	in   io.ByteReader
	read int
}

func (h *headerBytes) ReadByte() (byte, error) {
	if h.read == maxHeader {
		return 0, fmt.Errorf("%w: a header of more than %d bytes", bloom.ErrCorrupt, maxHeader)
	}
	b, err := h.in.ReadByte()
	if err == nil {
		h.read++
	}
	return b, err
}

// oneByOne reads single bytes of a stream, because it must take nothing beyond the header.
type oneByOne struct{ r io.Reader }

func (o oneByOne) ReadByte() (byte, error) {
	var buf [1]byte
	_, err := io.ReadFull(o.r, buf[:])
	return buf[0], err
}
