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

// appendHeader appends the header of a filter of so many bytes, at most 2^31-1.
func appendHeader(dst []byte, bytes uint64) []byte {
	dst = append(dst, 1<<4|typeI32)
	dst = binary.AppendUvarint(dst, bytes*2) // zigzag
	for range 3 {                            // the next field, a union: its field 1, an empty struct
		dst = append(dst, 1<<4|typeStruct, 1<<4|typeStruct, typeStop, typeStop)
	}
	return append(dst, typeStop)
}

// maxHeader is far more than a header has; one of later versions may have more fields.
const maxHeader = 1 << 10

// readHeader reads a header, and not a byte more, and returns the number of bytes that follow.
func readHeader(r io.Reader) (uint64, error) {
	source := &oneByOne{r: r, left: maxHeader}
	t := &thrift{in: source}
	bytes, choices := int64(-1), map[int16]int16{}
	err := t.fields(func(id int16, typ byte) error {
		switch {
		case id == 1 && typ == typeI32:
			v, err := t.integer()
			bytes = v
			return err
		case id >= 2 && id <= 4 && typ == typeStruct:
			return t.fields(func(choice int16, typ byte) error {
				choices[id] = choice
				return t.skip(typ)
			})
		}
		return t.skip(typ)
	})
	switch {
	case err == io.EOF && !source.began:
		return 0, err
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return 0, fmt.Errorf("%w: it ends within the header: %w", bloom.ErrCorrupt, io.ErrUnexpectedEOF)
	case err != nil:
		return 0, err
	case bytes <= 0 || bytes%32 != 0 || bytes > maxBytes:
		return 0, fmt.Errorf("%w: a filter of %d bytes, want a multiple of 32 below 2^31", bloom.ErrCorrupt, bytes)
	}
	for i, what := range []string{"algorithm", "hash", "compression"} {
		choice, ok := choices[int16(i+2)]
		if !ok {
			return 0, fmt.Errorf("%w: the header has no %s", bloom.ErrCorrupt, what)
		}
		if choice != 1 {
			return 0, fmt.Errorf("%w: the header has %s %d, want 1", bloom.ErrIncompatible, what, choice)
		}
	}
	return uint64(bytes), nil
}

// oneByOne reads single bytes, as nothing beyond the header may be taken.
type oneByOne struct {
	r     io.Reader
	left  int
	began bool
	buf   [1]byte
}

func (o *oneByOne) ReadByte() (byte, error) {
	if o.left--; o.left < 0 {
		return 0, fmt.Errorf("%w: a header of more than %d bytes", bloom.ErrCorrupt, maxHeader)
	}
	_, err := io.ReadFull(o.r, o.buf[:])
	if err == nil {
		o.began = true
	}
	return o.buf[0], err
}
