package persist

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/seed3447c163/bloom"
)

// The format of a mapped file, version 1, frozen. Numbers in the header are
// little-endian on every machine.
//
//	offset  bytes      field
//	0       7          magic: 89 62 6c 6d 61 70 0a ("blmap" between a byte that is no text and a newline)
//	7       1          version: 1
//	8       4          CRC-32C of the header's other bytes, [0, 8) and [12, 4096)
//	12      1          k, bits that belong to a key: 1 to 64
//	13      1          byte order of the words: 0 little-endian, 1 big-endian
//	14      2          L, the length of the identity
//	16      8          m, bits of the filter: at least 1
//	24      8          n, keys it is planned for
//	32      8          p, false-positive rate at n keys: IEEE 754
//	40      L          the scheme's identity, as bloom.Scheme.Identity gives it
//	40+L    4056-L     zeros
//	4096    8·⌈m/64⌉   words: bit i of the filter is bit i%64 of word i/64; bits from m on are 0
//
// The header never changes once the file has its name. The words have no checksum,
// as they change all the time. They are in the byte order of the machine that made
// the file, because processors add to them where they lie; nearly all machines are
// little-endian, and one of the other kind refuses the file.
const (
	magic      = "\x89blmap\n"
	version    = 1
	checkAt    = 8    // where the checksum is
	identityAt = 40   // where the identity is
	headerSize = 4096 // so that words begin a page, and a cache line, everywhere
)

// A header is what a file says about its filter.
type header struct {
	params    bloom.Params
	bigEndian bool
	identity  string
}

// nativeBigEndian is the byte order of this machine.
var nativeBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// check returns the checksum of a header page.
func check(page []byte) uint32 {
	return crc32.Update(crc32.Checksum(page[:checkAt], castagnoli), castagnoli, page[checkAt+4:])
}

// encode returns the header page.
func (h header) encode() []byte {
	page := make([]byte, headerSize)
	copy(page, magic)
	page[7] = version
	page[12] = byte(h.params.K)
	if h.bigEndian {
		page[13] = 1
	}
	binary.LittleEndian.PutUint16(page[14:], uint16(len(h.identity)))
	binary.LittleEndian.PutUint64(page[16:], h.params.M)
	binary.LittleEndian.PutUint64(page[24:], h.params.N)
	binary.LittleEndian.PutUint64(page[32:], math.Float64bits(h.params.P))
	copy(page[identityAt:], h.identity)
	binary.LittleEndian.PutUint32(page[checkAt:], check(page))
	return page
}

// decodeHeader reads a header page. The error wraps bloom.ErrCorrupt.
func decodeHeader(page []byte) (header, error) {
	if len(page) < len(magic) || string(page[:len(magic)]) != magic {
		return header{}, fmt.Errorf("%w: no mapped filter: it begins with %q, want %q", bloom.ErrCorrupt, page[:min(len(magic), len(page))], magic)
	}
	if len(page) < headerSize {
		return header{}, fmt.Errorf("%w: %d bytes, want a header of %d", bloom.ErrCorrupt, len(page), headerSize)
	}
	page = page[:headerSize]
	if page[7] != version {
		return header{}, fmt.Errorf("%w: version %d, want %d", bloom.ErrCorrupt, page[7], version)
	}
	if got, want := binary.LittleEndian.Uint32(page[checkAt:]), check(page); got != want {
		return header{}, fmt.Errorf("%w: checksum of the header is %08x, want %08x", bloom.ErrCorrupt, got, want)
	}
	h := header{
		params: bloom.Params{
			N: binary.LittleEndian.Uint64(page[24:]),
			P: math.Float64frombits(binary.LittleEndian.Uint64(page[32:])),
			M: binary.LittleEndian.Uint64(page[16:]),
			K: int(page[12]),
		},
		bigEndian: page[13] == 1,
	}
	length := binary.LittleEndian.Uint16(page[14:])
	if page[13] > 1 {
		return header{}, fmt.Errorf("%w: byte order %d, want 0 or 1", bloom.ErrCorrupt, page[13])
	}
	if length > headerSize-identityAt {
		return header{}, fmt.Errorf("%w: identity of %d bytes, want at most %d", bloom.ErrCorrupt, length, headerSize-identityAt)
	}
	h.identity = string(page[identityAt : identityAt+length])
	for i, b := range page[identityAt+length:] {
		if b != 0 {
			return header{}, fmt.Errorf("%w: byte %#x at offset %d of the header, want 0", bloom.ErrCorrupt, b, identityAt+int(length)+i)
		}
	}
	return h, nil
}
