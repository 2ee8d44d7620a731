package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// The format of a mapped file, version 1. Numbers in the header are little-endian on
// every machine.
//
//	offset  bytes      field
//	0       7          magic: 89 62 6c 6d 61 70 0a ("blmap" between a byte that is no text and a newline)
//	7       1          version: 1
//	8       4          CRC-32C of the header's other bytes, [0, 8) and [12, 4096)
//	12      1          byte order of the words: 0 little-endian, 1 big-endian
//	13      51         zeros
//	64      h          the scheme, as bloom.Scheme.AppendBinary writes it: 64 to 576 bytes
//	64+h    4032-h     zeros
//	4096    8·⌈m/64⌉   words: bit i of the filter is bit i%64 of word i/64; bits from m on are 0
//
// Bytes 0 to 11 and the size of the header mean the same in every version, so that a reader
// can tell damage from a later version. The header never changes once the file has its name.
// The words have no checksum, because they change all the time. They are in the byte order of
// the machine that made the file, because processors change them in place; a machine of the
// other byte order refuses the file.
const (
	magic      = "\x89blmap\n"
	version    = 1
	checkAt    = 8    // where the checksum is
	orderAt    = 12   // where the byte order is
	schemeAt   = 64   // where the scheme is
	headerSize = 4096 // so that words begin a page, and a cache line, everywhere
)

// nativeBigEndian is the byte order of this machine.
var nativeBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// check returns the checksum of a header page.
func check(page []byte) uint32 {
	return crc32.Update(crc32.Checksum(page[:checkAt], castagnoli), castagnoli, page[checkAt+4:])
}

// encodeHeader returns the header page of a new file. The error is that of
// bloom.Scheme.AppendBinary.
func encodeHeader(s bloom.Scheme) ([]byte, error) {
	scheme, err := s.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	page := make([]byte, headerSize)
	copy(page, magic)
	page[len(magic)] = version
	if nativeBigEndian {
		page[orderAt] = 1
	}
	copy(page[schemeAt:], scheme)
	binary.LittleEndian.PutUint32(page[checkAt:], check(page))
	return page, nil
}

// decodeHeader returns the scheme of a file that begins with page. opts and errors are
// those of bloom.ReadScheme; the error wraps errors.ErrUnsupported if the words are in the
// other byte order.
func decodeHeader(page []byte, opts []bloom.Option) (bloom.Scheme, error) {
	if len(page) < len(magic) || string(page[:len(magic)]) != magic {
		return bloom.Scheme{}, format.Unexpected(page[:min(len(magic), len(page))], magic)
	}
	if len(page) < headerSize {
		return bloom.Scheme{}, fmt.Errorf("%w: %d bytes, want a header of %d", bloom.ErrCorrupt, len(page), headerSize)
	}
	page = page[:headerSize]
	if got, want := binary.LittleEndian.Uint32(page[checkAt:]), check(page); got != want {
		return bloom.Scheme{}, fmt.Errorf("%w: checksum of the header is %08x, want %08x", bloom.ErrCorrupt, got, want)
	}
	if got := page[len(magic)]; got != version {
		return bloom.Scheme{}, fmt.Errorf("%w: the file has format version %d, want %d", bloom.ErrIncompatible, got, version)
	}
	if order := page[orderAt]; order > 1 {
		return bloom.Scheme{}, fmt.Errorf("%w: byte order %d, want 0 or 1", bloom.ErrCorrupt, order)
	}
	if bigEndian := page[orderAt] == 1; bigEndian != nativeBigEndian {
		return bloom.Scheme{}, fmt.Errorf("its words are %s, this machine is %s: %w", orderName(bigEndian), orderName(nativeBigEndian), errors.ErrUnsupported)
	}
	rest := bytes.NewReader(page[schemeAt:])
	s, err := bloom.ReadScheme(rest, opts...)
	if err != nil {
		return bloom.Scheme{}, err
	}
	for _, zeros := range [][2]int{{orderAt + 1, schemeAt}, {headerSize - rest.Len(), headerSize}} {
		for i := zeros[0]; i < zeros[1]; i++ {
			if page[i] != 0 {
				return bloom.Scheme{}, fmt.Errorf("%w: byte %#x at offset %d of the header, want 0", bloom.ErrCorrupt, page[i], i)
			}
		}
	}
	return s, nil
}

func orderName(bigEndian bool) string {
	if bigEndian {
		return "big-endian"
	}
	return "little-endian"
}
