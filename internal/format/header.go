package format

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// Version is the version of the format. It rises when the bytes change, or the positions of a strategy, the digests of
// a hash, or the meaning of a seed. Read refuses files of another version: it would look up keys at wrong positions.
// After the first tag, a new version must come with a way to read older files.
const Version = 2

const (
	magic   = Filter
	checkAt = 8  // offset of the header's checksum
	fixed   = 48 // size of the header before the names
	unit    = 64 // the header's size is a multiple of it, so that mapped words begin at a cache line

	MaxName   = math.MaxUint8 // bytes
	MaxHeader = (fixed + 2*MaxName + unit - 1) / unit * unit
)

// A Header describes the words that follow it.
type Header struct {
	M, N           uint64
	K              int // up to 255
	P              float64
	Check          uint64 // the seed, a check value of the secret, or the size of a custom hash's digest in bits
	Strategy, Hash string // names
}

// Bytes returns the size of the header.
func (h *Header) Bytes() int { return headerBytes(len(h.Strategy) + len(h.Hash)) }

func headerBytes(names int) int { return (fixed + names + unit - 1) / unit * unit }

// Append appends the bytes of the header to dst.
func (h *Header) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, Version)
	dst = append(dst, 0, 0, 0, 0) // the checksum
	dst = append(dst, byte(h.K), byte(len(h.Strategy)), byte(len(h.Hash)), 0)
	dst = binary.LittleEndian.AppendUint64(dst, h.M)
	dst = binary.LittleEndian.AppendUint64(dst, h.N)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(h.P))
	dst = binary.LittleEndian.AppendUint64(dst, h.Check)
	dst = append(dst, h.Strategy...)
	dst = append(dst, h.Hash...)
	dst = append(dst, make([]byte, h.Bytes()-(len(dst)-start))...)
	SetSum(dst[start:])
	return dst
}

// sum returns the checksum of a header without its checksum field. The field is not at the end of the header. If it
// were, the file's checksum would not depend on the header: the CRC of bytes followed by their own CRC is a constant.
func sum(header []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(header[:checkAt]), crc32.IEEETable, header[checkAt+4:])
}

// SetSum sets the checksum of a whole header.
func SetSum(header []byte) { binary.LittleEndian.PutUint32(header[checkAt:], sum(header)) }
