package parquet

import (
	"encoding/binary"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// The header of a filter is a Thrift struct:
//
//	1: i32 number of bytes   2: union algorithm {1: BLOCK}   3: union hash {1: XXHASH}   4: union compression {1: UNCOMPRESSED}

// unions has the names of the header's unions, fields 2 to 4, and of member 1 of each. readHeader refuses other
// members.
var unions = []struct{ what, first string }{{"algorithm", "BLOCK"}, {"hash", "XXHASH"}, {"compression", "UNCOMPRESSED"}}

// appendHeader appends the header of a filter of at most 2^31-1 bytes.
func appendHeader(dst []byte, bytes uint64) []byte {
	dst = append(dst, 1<<4|typeI32)
	dst = binary.AppendUvarint(dst, bytes*2) // the zigzag encoding of bytes
	for range unions {                       // a union in the next field; its member 1 is an empty struct
		dst = append(dst, 1<<4|typeStruct, 1<<4|typeStruct, typeStop, typeStop)
	}
	return append(dst, typeStop)
}

// maxHeader limits the bytes of a header. It is large, because later versions may have more fields.
const maxHeader = 1 << 10

// readHeader reads a header and nothing beyond it. It returns the header's length and the size of the
// filter. At the end of the stream it returns io.EOF itself.
func readHeader(r io.Reader) (length int, size uint64, err error) {
	in := &byteReader{r: io.LimitReader(r, maxHeader)}
	bytes, chosen := int64(-1), [256]byte{}
	w := walker{in: in, visit: func(path []byte, number int64, _ []byte) error {
		switch {
		case string(path) == "\x01":
			bytes = number
		case len(path) == 2:
			chosen[path[0]] = path[1]
		}
		return nil
	}}
	err = w.walk()
	switch {
	case err == io.EOF && in.read == 0:
		return 0, 0, err
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return 0, 0, failure.Errorf(bloom.ErrCorrupt, "it ends within the header of at most %d bytes: %w", maxHeader, io.ErrUnexpectedEOF)
	case err != nil:
		return 0, 0, err
	}
	for i, union := range unions {
		switch choice := chosen[i+2]; {
		case choice == 0:
			return 0, 0, failure.Errorf(bloom.ErrCorrupt, "the header has no %s", union.what)
		case choice > 1:
			return 0, 0, failure.Errorf(bloom.ErrIncompatible, "the filter has %s %d, want 1, %s", union.what, choice, union.first)
		}
	}
	if bytes <= 0 || bytes%blockBytes != 0 || bytes > maxBytes {
		return 0, 0, failure.Errorf(bloom.ErrCorrupt, "a filter of %d bytes, want a multiple of %d below 2^31", bytes, blockBytes)
	}
	return in.read, uint64(bytes), nil
}

// A byteReader reads and counts single bytes, so that nothing beyond the header is read.
type byteReader struct {
	r    io.Reader
	read int
	buf  [1]byte
}

func (b *byteReader) ReadByte() (byte, error) {
	n, err := io.ReadFull(b.r, b.buf[:])
	b.read += n
	return b.buf[0], err
}
