package redisfilter

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/interop/bitsandblooms"
	"github.com/seed3447c163/bloom/interop/guava"
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

// The value of each key of a filter, all numbers big-endian, as BITFIELD reads them. It is
// described in docs/redis-layout.md, and frozen.
//
//	  0   8  magic "bloomrds"
//	  8   4  mark, with the version
//	 12   2  number of shards
//	 14   1  k
//	 15   1  0
//	 16   8  epoch: random, another one each time the key is made
//	 24   8  fingerprint of all that says where a key's bits are
//	 32   8  n
//	 40   8  p, as IEEE 754
//	 48   8  m of this shard
//	 56   8  when it expires, in Unix milliseconds, 0 for never
//	 64   2  slots
//	 66  62  strategy and hash, as text that may be cut off
//	128      the bits: as little-endian 64-bit words, bit i is bit i%64 of word i/64
//	 ...     slots of 16 bytes each, see slot
//	 end-8   the epoch again: a value that was cut short has none
const (
	headerBytes = 128
	headerBits  = headerBytes * 8
	tailBytes   = 8

	magic = "bloomrds"

	// mark is written by every BITFIELD that sets bits, where it already stands. On
	// a key that has vanished such a command leaves an orphan, bits without a
	// header, and the mark tells it from somebody else's bitmap.
	mark    = 0xb100f102
	markBit = 8 * 8

	textAt = 66
)

// A layout says where the parts of a shard's value are, in bytes.
type layout struct {
	bits   uint64 // length of the bits
	slots  int
	tail   uint64 // where the epoch at the end begins
	length uint64
}

// layoutOf returns the layout of a value with so many bytes of bits. A slot costs 16
// bytes; one for each KiB of bits is 1.6 % more memory, and 512 of them are enough for
// the processes of a large crawl.
func layoutOf(bits uint64) layout {
	slots := int(min(max(bits/1024, 16), 512))
	tail := headerBytes + bits + uint64(slots)*slotBytes
	return layout{bits: bits, slots: slots, tail: tail, length: tail + tailBytes}
}

// table returns where the slots begin.
func (l layout) table() uint64 { return headerBytes + l.bits }

// slotAt returns where a slot begins.
func (l layout) slotAt(slot int) uint64 { return l.table() + uint64(slot)*slotBytes }

type header struct {
	shards      int
	k           int
	epoch       int64
	fingerprint uint64
	n           uint64
	p           float64
	m           uint64
	expires     time.Time // zero for never
	slots       int
	text        string // strategy and hash
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
	binary.BigEndian.PutUint16(b[64:], uint16(h.slots))
	copy(b[textAt:], h.text)
	return b
}

// tailOf returns the last bytes of the value.
func (h header) tailOf() []byte { return binary.BigEndian.AppendUint64(nil, uint64(h.epoch)) }

// decodeHeader reads what begins a key's value; ok is false if that is no header.
func decodeHeader(b []byte) (h header, ok bool) {
	if len(b) < headerBytes || string(b[:8]) != magic || binary.BigEndian.Uint32(b[8:]) != mark {
		return header{}, false
	}
	text, _, _ := bytes.Cut(b[textAt:headerBytes], []byte{0})
	h = header{
		shards:      int(binary.BigEndian.Uint16(b[12:])),
		k:           int(b[14]),
		epoch:       int64(binary.BigEndian.Uint64(b[16:])),
		fingerprint: binary.BigEndian.Uint64(b[24:]),
		n:           binary.BigEndian.Uint64(b[32:]),
		p:           math.Float64frombits(binary.BigEndian.Uint64(b[40:])),
		m:           binary.BigEndian.Uint64(b[48:]),
		slots:       int(binary.BigEndian.Uint16(b[64:])),
		text:        string(text),
	}
	if ms := int64(binary.BigEndian.Uint64(b[56:])); ms != 0 {
		h.expires = time.UnixMilli(ms)
	}
	return h, true
}

// orphan is what begins a value that an add left on a key that had vanished: the mark,
// and otherwise zeros in place of a header.
var orphan = func() []byte {
	b := make([]byte, headerBytes)
	binary.BigEndian.PutUint32(b[8:], mark)
	return b
}()

func isOrphan(b []byte) bool { return len(b) >= headerBytes && bytes.Equal(b[:headerBytes], orphan) }

// fingerprintOf condenses all that says where a key's bits are.
func fingerprintOf(s bloom.Scheme, shards int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "redisfilter 2 shards=%d %s", shards, s.Identity()))
	return binary.BigEndian.Uint64(sum[:])
}

// named returns the options of somebody who joins the filter, after those that the text names.
func (h header) named(opts []bloom.Option) []bloom.Option {
	return identity.Named(h.text, opts,
		bloom.DoubleHashing, bloom.SeededHashing, bloom.Blocked1, bloom.Blocked2, bloom.Blocked4, bloom.Blocked8, bloom.SplitBlock,
		guava.Mitz64, guava.Mitz32, bitsandblooms.Strategy)
}

// maxNonce is the largest random number that the compare-and-set in slot can store.
const maxNonce = 1<<62 - 1

// newNonce returns a random number from 1 to maxNonce. What has vanished reads as 0; so that the
// last byte alone cannot vanish unseen, it is not 0.
func newNonce() int64 {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails
		if n := int64(binary.BigEndian.Uint64(b[:]) & maxNonce); n&0xff != 0 {
			return n
		}
	}
}

func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
