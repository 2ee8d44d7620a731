package format

import (
	"encoding/binary"
	"hash/crc32"
)

// TrailerBytes is the size of the checksums after the words.
const TrailerBytes = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Checksum is a CRC-32 and a CRC-32C, together 64 bits. Hardware computes both in a seventh of the time of
// hash/crc64.
type Checksum struct{ IEEE, Castagnoli uint32 }

// Add updates both CRCs with p.
func (c *Checksum) Add(p []byte) {
	c.IEEE = crc32.Update(c.IEEE, crc32.IEEETable, p)
	c.Castagnoli = crc32.Update(c.Castagnoli, castagnoli, p)
}

// appendHalves appends both CRCs. Neither covers the other.
func (c Checksum) appendHalves(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.IEEE)
	return binary.LittleEndian.AppendUint32(dst, c.Castagnoli)
}

// AppendTrailer appends both CRCs. The second also covers the first: otherwise three changed bits, one of them in the
// first CRC, could go undetected.
func (c Checksum) AppendTrailer(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.IEEE)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(c.Castagnoli, castagnoli, dst[len(dst)-4:]))
}
