package format

import (
	"encoding/binary"
	"hash/crc32"
)

// TrailerBytes is the size of the checksums behind the words.
const TrailerBytes = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Checksum is CRC-32 and CRC-32C of the bytes so far. Together they are a CRC of 64 bits,
// for a seventh of the time of hash/crc64, which has no hardware behind it.
type Checksum struct{ IEEE, Castagnoli uint32 }

// Add takes more bytes in.
func (c *Checksum) Add(p []byte) {
	c.IEEE = crc32.Update(c.IEEE, crc32.IEEETable, p)
	c.Castagnoli = crc32.Update(c.Castagnoli, castagnoli, p)
}

// AppendTrailer appends both, the second over the first too: a change of three bits, one of
// them in the first, is then odd for the second.
func (c Checksum) AppendTrailer(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.IEEE)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(c.Castagnoli, castagnoli, dst[len(dst)-4:]))
}
