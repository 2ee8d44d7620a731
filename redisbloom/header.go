package redisbloom

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
)

// Every key of a filter begins with a header, all numbers big-endian, as BITFIELD
// reads them:
//
//	 0  8  magic "bloomrds"
//	 8  4  mark, with the version
//	12  2  number of shards
//	14  1  k
//	15  1  0
//	16  8  epoch: random, another one each time the key is made
//	24  8  fingerprint of all that says where a key's bits are
//	32  8  n
//	40  8  p, as IEEE 754
//	48  8  m of this shard
//	56  8  when it expires, in Unix milliseconds, 0 for never
//	64     the bits: as little-endian 64-bit words, bit i is bit i%64 of word i/64
//
// The layout is frozen.
const (
	headerBytes = 64
	headerBits  = headerBytes * 8

	magic = "bloomrds"

	// mark is written by every command that sets bits, where it already stands. On
	// a key that has vanished such a command leaves an orphan, bits without a
	// header, and the mark tells it from somebody else's bitmap.
	mark    = 0xb100f101
	markBit = 8 * 8

	epochBit = 16 * 8
)

type header struct {
	shards      int
	k           int
	epoch       int64
	fingerprint uint64
	n           uint64
	p           float64
	m           uint64
	expires     time.Time // zero for never
}

func (h header) encode() []byte {
	b := make([]byte, headerBytes)
	copy(b, magic)
	binary.BigEndian.PutUint32(b[8:], mark)
	binary.BigEndian.PutUint16(b[12:], uint16(h.shards))
	b[14] = byte(h.k)
	binary.BigEndian.PutUint64(b[16:], uint64(h.epoch))
	binary.BigEndian.PutUint64(b[24:], h.fingerprint)
	binary.BigEndian.PutUint64(b[32:], h.n)
	binary.BigEndian.PutUint64(b[40:], math.Float64bits(h.p))
	binary.BigEndian.PutUint64(b[48:], h.m)
	binary.BigEndian.PutUint64(b[56:], uint64(unixMilli(h.expires)))
	return b
}

// decodeHeader reads what begins a key's value; ok is false if that is no header.
func decodeHeader(b []byte) (h header, ok bool) {
	if len(b) < headerBytes || string(b[:8]) != magic || binary.BigEndian.Uint32(b[8:]) != mark {
		return header{}, false
	}
	h = header{
		shards:      int(binary.BigEndian.Uint16(b[12:])),
		k:           int(b[14]),
		epoch:       int64(binary.BigEndian.Uint64(b[16:])),
		fingerprint: binary.BigEndian.Uint64(b[24:]),
		n:           binary.BigEndian.Uint64(b[32:]),
		p:           math.Float64frombits(binary.BigEndian.Uint64(b[40:])),
		m:           binary.BigEndian.Uint64(b[48:]),
	}
	if ms := int64(binary.BigEndian.Uint64(b[56:])); ms != 0 {
		h.expires = time.UnixMilli(ms)
	}
	return h, true
}

// isOrphan reports whether b begins a value that an add left on a key that had
// vanished: the mark, and otherwise zeros in place of a header.
func isOrphan(b []byte) bool {
	if len(b) < headerBytes {
		return false
	}
	var orphan [headerBytes]byte
	binary.BigEndian.PutUint32(orphan[8:], mark)
	return string(b[:headerBytes]) == string(orphan[:])
}

// fingerprintOf condenses all that says where a key's bits are.
func fingerprintOf(s bloom.Scheme, shards int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "redisbloom 1 shards=%d %s", shards, s.Identity()))
	return binary.BigEndian.Uint64(sum[:])
}

// newEpoch returns a random number other than 0, which is what a vanished key
// reads as.
func newEpoch() int64 {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails
		if e := int64(binary.BigEndian.Uint64(b[:])); e != 0 {
			return e
		}
	}
}

func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
