package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
)

// The format of a mapped file, version 1: a header and the words of the filter, see docs/spec.md. The header never
// changes once the file has its name. The words change in place, so they have no checksum, and have the byte order of
// the machine that made the file.
const (
	magic      = format.Mapped
	version    = 1    // the byte after magic
	checkAt    = 8    // CRC-32C of the header's other bytes
	orderAt    = 12   // byte order of the words: 0 little-endian, 1 big-endian
	schemeAt   = 64   // scheme, as bloom.Scheme.AppendBinary writes it, then zeros
	headerSize = 4096 // so that the words begin at a page and a cache line
)

// nativeBigEndian reports whether this machine is big-endian.
var nativeBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// check returns the checksum of a header page, without the checksum's own bytes.
func check(page []byte) uint32 {
	return crc32.Update(crc32.Checksum(page[:checkAt], castagnoli), castagnoli, page[checkAt+4:])
}

// encodeHeader returns the header page of a new file, or the error of bloom.Scheme.AppendBinary.
func encodeHeader(s *bloom.Scheme) ([]byte, error) {
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

// decodeHeader returns the scheme of a file that begins with page. It takes the options and returns the
// errors of bloom.ReadScheme; the error wraps errors.ErrUnsupported if the words are in the other byte order.
func decodeHeader(page []byte, opts []bloom.Option) (*bloom.Scheme, error) {
	if !bytes.HasPrefix(page, []byte(magic)) {
		return nil, format.Unexpected(page[:min(len(magic), len(page))], magic)
	}
	if len(page) < headerSize {
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d bytes, want a header of %d", len(page), headerSize)
	}
	page = page[:headerSize]
	if got, want := binary.LittleEndian.Uint32(page[checkAt:]), check(page); got != want {
		return nil, failure.Errorf(bloom.ErrCorrupt, "checksum of the header is %08x, want %08x", got, want)
	}
	if got := page[len(magic)]; got != version {
		return nil, failure.Errorf(bloom.ErrIncompatible, "the file has format version %d, want %d", got, version)
	}
	if order := page[orderAt]; order > 1 {
		return nil, failure.Errorf(bloom.ErrCorrupt, "byte order %d, want 0 or 1", order)
	}
	if bigEndian := page[orderAt] == 1; bigEndian != nativeBigEndian {
		return nil, fmt.Errorf("the words are big-endian: %v, this machine is: %v: %w", bigEndian, nativeBigEndian, errors.ErrUnsupported)
	}
	rest := bytes.NewReader(page[schemeAt:])
	s, err := bloom.ReadScheme(rest, opts...)
	if err != nil {
		return nil, err
	}
	for i, b := range page {
		if b != 0 && (orderAt < i && i < schemeAt || i >= headerSize-rest.Len()) {
			return nil, failure.Errorf(bloom.ErrCorrupt, "byte %#x at offset %d of the header, want 0", b, i)
		}
	}
	return s, nil
}
