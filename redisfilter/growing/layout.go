package growing

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
)

// The value: a header; a slot for each handle that adds; and the layers, oldest first, behind
// each the epoch again, so that the value ends with it. The numbers of the header are big-endian,
// all others doubles, little-endian: the numbers of Lua, exact up to 2^53. It is described in
// docs/redis-layout.md.
//
//	  0   8  magic "bloomgro"
//	  8   4  mark, with the version
//	 12   4  0
//	 16   8  epoch: random, another one each time the key is made
//	 24   8  fingerprint of all that says where a key's bits are
//	 32   8  n
//	 40   8  p, as IEEE 754
//	 48   8  how many layers there are, a double
//	 56   8  how many more keys the newest takes, a double
//	 64  56  strategy and hash, as text that may be cut off
//	120   8  when it expires, in Unix milliseconds, 0 for never, a double
//	128      the slots
//	6272     the layers
//
// A slot is that of [onekey.Slot]; when it was last used is in seconds.
const (
	headerBytes = 128
	layersAt    = 48
	leftAt      = 56
	textAt      = 64
	expiresAt   = 120
	epochBytes  = 8
	blockBytes  = 64

	slotsAt   = headerBytes
	slotBytes = 24
	slots     = 256

	magic = "bloomgro"
	mark  = 0xb100f401
)

type header struct {
	epoch        string // 8 bytes
	fingerprint  uint64
	n            uint64
	p            float64
	layers, left uint64
	text         string
	expires      time.Time // zero for never
}

// encode returns the header without the expiry, which the server adds.
func (h header) encode() []byte {
	b := make([]byte, expiresAt)
	copy(b, magic)
	binary.BigEndian.PutUint32(b[8:], mark)
	copy(b[16:24], h.epoch)
	binary.BigEndian.PutUint64(b[24:], h.fingerprint)
	binary.BigEndian.PutUint64(b[32:], h.n)
	binary.BigEndian.PutUint64(b[40:], math.Float64bits(h.p))
	binary.LittleEndian.PutUint64(b[layersAt:], math.Float64bits(float64(h.layers)))
	binary.LittleEndian.PutUint64(b[leftAt:], math.Float64bits(float64(h.left)))
	copy(b[textAt:], h.text)
	return b
}

// decodeHeader reads what begins a value; ok is false if that is no header.
func decodeHeader(b []byte) (h header, ok bool) {
	if len(b) < headerBytes || string(b[:8]) != magic || binary.BigEndian.Uint32(b[8:]) != mark {
		return header{}, false
	}
	text, _, _ := bytes.Cut(b[textAt:expiresAt], []byte{0})
	h = header{
		epoch:       string(b[16:24]),
		fingerprint: binary.BigEndian.Uint64(b[24:]),
		n:           binary.BigEndian.Uint64(b[32:]),
		p:           math.Float64frombits(binary.BigEndian.Uint64(b[40:])),
		layers:      wholeOf(math.Float64frombits(binary.LittleEndian.Uint64(b[layersAt:]))),
		left:        wholeOf(math.Float64frombits(binary.LittleEndian.Uint64(b[leftAt:]))),
		text:        string(text),
	}
	if ms := wholeOf(math.Float64frombits(binary.LittleEndian.Uint64(b[expiresAt:]))); ms > 0 && ms < math.MaxUint64 {
		h.expires = time.UnixMilli(int64(ms))
	}
	return h, true
}

// wholeOf returns a number of the value, or math.MaxUint64 if it is none that a script has
// written.
func wholeOf(x float64) uint64 {
	if !(x >= 0 && x <= 1<<53) || x != math.Trunc(x) {
		return math.MaxUint64
	}
	return uint64(x)
}

// String describes what a filter was made for.
func (h header) String() string { return fmt.Sprintf("n = %d, p = %v (%s)", h.n, h.p, h.text) }

// fingerprintOf condenses all that says where a key's bits are, in all layers to come.
func fingerprintOf(first bloom.Scheme, n uint64, p float64) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "redisfilter/growing 1 n=%d p=%016x %s", n, math.Float64bits(p), first.Identity()))
	return binary.BigEndian.Uint64(sum[:])
}
