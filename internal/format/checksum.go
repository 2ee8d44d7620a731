package format

import (
	"encoding/binary"
	"hash/crc32"
)

// TrailerBytes is the size of the checksums after the words.
const TrailerBytes = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Checksum is CRC-32 and CRC-32C, together a CRC of 64 bits. Both are computed by hardware, in a seventh of
// the time of hash/crc64.
type Checksum struct{ IEEE, Castagnoli uint32 }

// Add adds bytes.
func (c *Checksum) Add(p []byte) {
	c.IEEE = crc32.Update(c.IEEE, crc32.IEEETable, p)
	c.Castagnoli = crc32.Update(c.Castagnoli, castagnoli, p)
}

// AppendTrailer appends both. The second also covers the first, so that it detects a change of three bits of
// which one is in the first.
func (c Checksum) AppendTrailer(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.IEEE)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(c.Castagnoli, castagnoli, dst[len(dst)-4:]))
}
