package window

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/onekey"
)

// The value: a header, which never changes; a record for each block of 512 bits; a slot for
// each handle that adds; and the end, which each command reads. The numbers of the header are
// big-endian. All others are doubles, little-endian: the numbers of Lua, exact up to 2^53.
//
//	  0   8  magic "bloomwin"
//	  8   4  mark, with the version
//	 12   2  generations
//	 14   2  slots
//	 16   8  epoch: random, another one each time the key is made
//	 24   8  fingerprint of all that says where a key's bits are
//	 32   8  n
//	 40   8  p, as IEEE 754
//	 48   8  m of a generation
//	 56   8  length of a generation in milliseconds
//	 64   1  k
//	 65  63  strategy and hash, as text that may be cut off
//	128      the records
//	 ...     the slots
//	 end-24  the latest generation, the shift, the epoch
//
// A record is the generation in which it was last written, and generations+1 places of 64
// bytes. Generation g has place g modulo generations+1. What a record says of generations
// after its own is of no account.
//
// A slot is that of [onekey.Slot], where it was last used in milliseconds, and the lanes: each the
// number of its last command and the reply to that, so that a command that is sent again gets the
// same reply.
const (
	headerBytes = 128
	textAt      = 65
	endBytes    = 24
	placeBytes  = 64

	lanes      = 8
	replyBytes = 64 // a bit for each key of a command
	batchKeys  = 500
	laneBytes  = 8 + replyBytes
	laneAt     = 24
	slotBytes  = laneAt + lanes*laneBytes

	magic = "bloomwin"
	mark  = 0xb100f301
)

// A layout says where the parts of the value are, in bytes.
type layout struct {
	record uint64 // length of one
	table  uint64 // where the slots begin
	slots  int
	end    uint64 // where the end begins
	length uint64
}

// layoutOf returns the layout of so many blocks. A slot for each 32 KiB of records is 1.8 %
// more memory; 512 are enough for the processes of a large crawl.
func layoutOf(blocks uint64, generations int) (layout, error) {
	l := layout{record: 8 + uint64(generations+1)*placeBytes}
	if blocks > onekey.MaxValue/l.record {
		return l, fmt.Errorf("%w: %d blocks of %d bytes each, want at most %d bytes in all: use several filters, or fewer generations", bloom.ErrTooLarge, blocks, l.record, onekey.MaxValue)
	}
	records := blocks * l.record
	l.slots = int(min(max(records>>15, 16), 512))
	l.table = headerBytes + records
	l.end = l.table + uint64(l.slots)*slotBytes
	l.length = l.end + endBytes
	if l.length > onekey.MaxValue {
		return l, fmt.Errorf("%w: %d bytes, want at most %d: use several filters, or fewer generations", bloom.ErrTooLarge, l.length, onekey.MaxValue)
	}
	return l, nil
}

type header struct {
	generations int
	slots       int
	epoch       string // 8 bytes
	fingerprint uint64
	n           uint64
	p           float64
	m           uint64
	millis      int64
	k           int
	text        string
}

func (h header) encode() []byte {
	b := make([]byte, headerBytes)
	copy(b, magic)
	binary.BigEndian.PutUint32(b[8:], mark)
	binary.BigEndian.PutUint16(b[12:], uint16(h.generations))
	binary.BigEndian.PutUint16(b[14:], uint16(h.slots))
	copy(b[16:24], h.epoch)
	binary.BigEndian.PutUint64(b[24:], h.fingerprint)
	binary.BigEndian.PutUint64(b[32:], h.n)
	binary.BigEndian.PutUint64(b[40:], math.Float64bits(h.p))
	binary.BigEndian.PutUint64(b[48:], h.m)
	binary.BigEndian.PutUint64(b[56:], uint64(h.millis))
	b[64] = byte(h.k)
	copy(b[textAt:], h.text)
	return b
}

// decodeHeader reads what begins a value; ok is false if that is no header.
func decodeHeader(b []byte) (h header, ok bool) {
	if len(b) < headerBytes || string(b[:8]) != magic || binary.BigEndian.Uint32(b[8:]) != mark {
		return header{}, false
	}
	text, _, _ := bytes.Cut(b[textAt:headerBytes], []byte{0})
	h = header{
		generations: int(binary.BigEndian.Uint16(b[12:])),
		slots:       int(binary.BigEndian.Uint16(b[14:])),
		epoch:       string(b[16:24]),
		fingerprint: binary.BigEndian.Uint64(b[24:]),
		n:           binary.BigEndian.Uint64(b[32:]),
		p:           math.Float64frombits(binary.BigEndian.Uint64(b[40:])),
		m:           binary.BigEndian.Uint64(b[48:]),
		millis:      int64(binary.BigEndian.Uint64(b[56:])),
		k:           int(b[64]),
		text:        string(text),
	}
	return h, h.generations > 0 && h.millis > 0 && h.millis <= longestMillis(h.generations)
}

// window returns how long keys are remembered at least.
func (h header) window() time.Duration {
	return time.Duration(h.millis) * time.Millisecond * time.Duration(h.generations)
}

// String describes what a filter was made for.
func (h header) String() string {
	return fmt.Sprintf("n = %d, p = %v, %d generations of %v (m = %d bits each, k = %d, %s)",
		h.n, h.p, h.generations, time.Duration(h.millis)*time.Millisecond, h.m, h.k, h.text)
}

// fingerprintOf condenses all that says where a key's bits are, and when.
func fingerprintOf(s bloom.Scheme, generations int, millis int64) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "redisfilter/window 1 generations=%d ms=%d %s", generations, millis, s.Identity()))
	return binary.BigEndian.Uint64(sum[:])
}
