package redisfilter

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
)

// The value of a shard, see docs/layout.md: a header, the body, a slot for each handle that adds, and the epoch. A growing
// filter has further layers after that, each followed by the epoch. All numbers are little-endian; those from endField to
// claimsField are doubles, as Lua has them.
const (
	headerBytes = 192
	endField    = 72
	stateField  = 80
	leftField   = 88
	expiryField = 96
	shiftField  = 104
	claimsField = 112
	textField   = 120

	blockBytes = 64
	epochBytes = 8

	magic   = "bloomrds"
	version = 4
)

// A layout says where the parts of a value with one layer are, in bytes.
type layout struct {
	body   uint64
	table  uint64 // the slots
	slots  uint64
	end    uint64 // the epoch behind the slots
	length uint64
}

// layoutOf returns the layout of a value whose body has some layers of one scheme.
func layoutOf(s bloom.Scheme, layers int) (l layout, err error) {
	each := s.SizeBytes()
	if each > math.MaxInt64/uint64(layers)/2 {
		return l, tooLarge("%d layers of %d bytes", layers, each)
	}
	size := each * uint64(layers)
	l = layout{body: headerBytes, table: headerBytes + size, slots: min(max((size+1023)/1024, 128), 4096)}
	l.end = l.table + l.slots*slotBytes
	l.length = l.end + epochBytes
	return l, nil
}

type header struct {
	shards      int
	generations int
	slots       uint64
	epoch       string // 8 bytes
	fingerprint uint64
	n           uint64
	p           float64
	millis      int64
	ttl         int64 // milliseconds
	growth      bool
	end         uint64
	state       uint64 // layers, or the latest generation
	left        uint64
	shift       uint64
	expires     time.Time // zero for never
	claims      uint64    // of slots
	text        string
}

// encode returns the header without the expiry, which the server computes.
func (h header) encode() []byte {
	b := make([]byte, headerBytes)
	le := binary.LittleEndian
	copy(b, magic)
	le.PutUint16(b[8:], version)
	le.PutUint16(b[10:], uint16(h.shards))
	le.PutUint16(b[12:], uint16(h.generations))
	le.PutUint16(b[14:], uint16(h.slots))
	copy(b[16:24], h.epoch)
	le.PutUint64(b[24:], h.fingerprint)
	le.PutUint64(b[32:], h.n)
	le.PutUint64(b[40:], math.Float64bits(h.p))
	le.PutUint64(b[48:], uint64(h.millis))
	le.PutUint64(b[56:], uint64(h.ttl))
	if h.growth {
		b[64] = 1
	}
	le.PutUint64(b[endField:], math.Float64bits(float64(h.end)))
	le.PutUint64(b[stateField:], math.Float64bits(float64(h.state)))
	le.PutUint64(b[leftField:], math.Float64bits(float64(h.left)))
	copy(b[textField:], h.text)
	return b
}

// decodeHeader reads the beginning of the value of a key. The error wraps ErrMismatch.
func decodeHeader(key, value string) (h header, err error) {
	b := []byte(value)
	le := binary.LittleEndian
	switch {
	case len(b) < headerBytes || string(b[:8]) != magic:
		return h, fmt.Errorf("%w: key %q does not hold a filter of this package; choose another name, or delete the key", ErrMismatch, key)
	case le.Uint16(b[8:]) != version:
		return h, fmt.Errorf("%w: key %q has layout version %d, this package has %d", ErrMismatch, key, le.Uint16(b[8:]), version)
	}
	number := func(at int) uint64 { return wholeOf(math.Float64frombits(le.Uint64(b[at:]))) }
	text, _, _ := bytes.Cut(b[textField:headerBytes], []byte{0})
	h = header{
		shards: int(le.Uint16(b[10:])), generations: int(le.Uint16(b[12:])), slots: uint64(le.Uint16(b[14:])),
		epoch: string(b[16:24]), fingerprint: le.Uint64(b[24:]), n: le.Uint64(b[32:]), p: math.Float64frombits(le.Uint64(b[40:])),
		millis: int64(le.Uint64(b[48:])), ttl: int64(le.Uint64(b[56:])), growth: b[64] == 1,
		end: number(endField), state: number(stateField), left: number(leftField), shift: number(shiftField), claims: number(claimsField),
		text: string(text),
	}
	if ms := number(expiryField); ms > 0 && ms < math.MaxUint64 {
		h.expires = time.UnixMilli(int64(ms))
	}
	return h, nil
}

// wholeOf returns a double as an integer, or math.MaxUint64 if no script can have written it.
func wholeOf(x float64) uint64 {
	if !(x >= 0 && x <= 1<<53) || x != math.Trunc(x) {
		return math.MaxUint64
	}
	return uint64(x)
}

// options returns the options of a handle that joins a filter with this header.
func (h header) options(key string, o options) (options, error) {
	o.bloom = named(h.text, o.bloom)
	o.shards, o.growth, o.windowed, o.generations = h.shards, h.growth, h.generations > 0, h.generations
	o.ttl = time.Duration(h.ttl) * time.Millisecond
	if o.windowed {
		o.window = time.Duration(h.millis) * time.Millisecond * time.Duration(h.generations)
	}
	longest := int64(math.MaxInt64 / time.Millisecond)
	if h.shards < 1 || h.shards > maxShards || h.ttl < 0 || h.ttl > longest || o.growth && o.windowed ||
		o.windowed && (h.generations > maxGenerations || h.millis < 1 || h.millis > longest/int64(h.generations)) {
		return o, fmt.Errorf("%w: key %q has impossible numbers in its header: %v", ErrMismatch, key, h)
	}
	return o, nil
}

// String describes what a filter was made for.
func (h header) String() string {
	shards := "1 shard"
	if h.shards != 1 {
		shards = fmt.Sprintf("%d shards", h.shards)
	}
	text := fmt.Sprintf("n = %d, p = %v, %s", h.n, h.p, shards)
	if h.generations > 0 {
		text += fmt.Sprintf(", %d generations of %d ms", h.generations, h.millis)
	}
	if h.growth {
		text += ", growing"
	}
	return text + ", " + h.text
}

// newNonce returns 8 random bytes. A part of a value that has vanished reads as 0; the last byte is not
// 0, so that it cannot vanish unnoticed.
func newNonce() string {
	var b [8]byte
	for {
		rand.Read(b[:]) // never fails
		if b[7] != 0 && b[0] != 0 {
			return string(b[:])
		}
	}
}

// textOf returns the name of the hash for a header.
func textOf(s bloom.Scheme) string {
	text := fmt.Sprintf("hash %q", s.Hash().Name())
	return text[:min(len(text), headerBytes-textField)]
}

// named returns the options of a handle that joins a filter: the hash that the header names, then the caller's. A filter
// with a secret has its own hash.
func named(text string, opts []bloom.Option) []bloom.Option {
	keyed, err := bloom.NewScheme(1, 0.1, opts...)
	if text == fmt.Sprintf("hash %q", bloom.RapidHash.Name()) && !(err == nil && keyed.Keyed()) {
		opts = append([]bloom.Option{bloom.WithHash(bloom.RapidHash)}, opts...)
	}
	return opts
}
