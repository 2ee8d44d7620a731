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
	"github.com/seed3447c163/bloom/redisfilter/internal/identity"
)

// The value of a shard, see docs/redis-layout.md: a header, the body, a slot for each handle that adds, and the
// epoch. A growing filter has further layers after that, each followed by the epoch. All numbers are
// little-endian; those from endField on and those of slots and records are doubles, as Lua has them.
const (
	headerBytes = 192
	endField    = 72
	layersField = 80
	leftField   = 88
	expiryField = 96
	textField   = 104

	blockBytes = 64
	slotBytes  = 24
	epochBytes = 8

	magic   = "bloomrds"
	version = 3
)

// A layout says where the parts of a value with one layer are, in bytes.
type layout struct {
	body   uint64
	table  uint64 // the slots
	slots  uint64
	end    uint64 // the epoch behind the slots
	length uint64
	record uint64 // length of a record, 0 without a window
}

// bodyBytes returns the length of a layer's bits, or of a window's records.
func bodyBytes(s bloom.Scheme, record uint64) uint64 {
	blocks := (s.Params().M + 511) / 512
	switch {
	case record > 0 && blocks > math.MaxInt64/record:
		return math.MaxInt64
	case record > 0:
		return blocks * record
	}
	return s.SizeBytes()
}

// layoutOf returns the layout of a value. A slot per KiB takes 2.3 % more memory.
func layoutOf(s bloom.Scheme, generations int, growth bool) layout {
	l := layout{body: headerBytes}
	if generations > 0 {
		l.record = 8 + uint64(generations+1)*blockBytes
	}
	size := bodyBytes(s, l.record)
	l.slots = min(max(size/1024, 64), 512)
	if growth {
		l.slots = max(l.slots, 256)
	}
	l.table = l.body + size
	l.end = l.table + l.slots*slotBytes
	l.length = l.end + epochBytes
	return l
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
	layers      uint64
	left        uint64
	expires     time.Time // zero for never
	text        string
}

// header returns the header of a new value.
func (f *plan) header(ttl time.Duration) header {
	h := header{
		shards: f.shards, generations: f.generations, slots: f.layout.slots, epoch: newNonce(), fingerprint: f.fingerprint(),
		n: f.n, p: f.p, millis: f.millis, ttl: ttl.Milliseconds(), growth: f.growth, end: f.layout.end,
		text: identity.Text(f.scheme, headerBytes-textField),
	}
	if f.generations == 0 {
		h.layers, h.left = 1, f.layerKeys(0)
	}
	return h
}

// fingerprint is a digest of everything that decides where the bits of a key are.
func (f *plan) fingerprint() uint64 {
	text := fmt.Sprintf("redisfilter %d shards=%d slots=%d generations=%d ms=%d %s", version, f.shards, f.layout.slots, f.generations, f.millis, f.scheme.Identity())
	if f.growth {
		text += fmt.Sprintf(" n=%d p=%016x", f.n, math.Float64bits(f.p))
	}
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:])
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
	le.PutUint64(b[layersField:], math.Float64bits(float64(h.layers)))
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
		return h, fmt.Errorf("%w: key %q holds something that is no filter of this package: choose another name, or delete the key", ErrMismatch, key)
	case le.Uint16(b[8:]) != version:
		return h, fmt.Errorf("%w: key %q has layout version %d, this package has %d", ErrMismatch, key, le.Uint16(b[8:]), version)
	}
	number := func(at int) uint64 { return wholeOf(math.Float64frombits(le.Uint64(b[at:]))) }
	text, _, _ := bytes.Cut(b[textField:headerBytes], []byte{0})
	h = header{
		shards: int(le.Uint16(b[10:])), generations: int(le.Uint16(b[12:])), slots: uint64(le.Uint16(b[14:])),
		epoch: string(b[16:24]), fingerprint: le.Uint64(b[24:]), n: le.Uint64(b[32:]), p: math.Float64frombits(le.Uint64(b[40:])),
		millis: int64(le.Uint64(b[48:])), ttl: int64(le.Uint64(b[56:])), growth: b[64] == 1,
		end: number(endField), layers: number(layersField), left: number(leftField), text: string(text),
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
	o.bloom = identity.Named(h.text, o.bloom)
	o.shards, o.growth, o.windowed, o.generations = h.shards, h.growth, h.generations > 0, h.generations
	o.ttl = time.Duration(h.ttl) * time.Millisecond
	if o.windowed {
		o.window = time.Duration(h.millis) * time.Millisecond * time.Duration(h.generations)
	}
	longest := int64(math.MaxInt64 / time.Millisecond)
	if h.shards < 1 || h.shards > maxShards || h.ttl < 0 || h.ttl > longest || o.growth && o.windowed ||
		o.windowed && (h.generations > maxGenerations || h.millis < 1 || h.millis > longest/int64(h.generations)) {
		return o, fmt.Errorf("%w: key %q has a header with impossible numbers: %v", ErrMismatch, key, h)
	}
	return o, nil
}

// String describes what a filter was made for.
func (h header) String() string {
	text := fmt.Sprintf("n = %d, p = %v, %d shards", h.n, h.p, h.shards)
	if h.generations > 0 {
		text += fmt.Sprintf(", %d generations of %d ms", h.generations, h.millis)
	}
	if h.growth {
		text += ", growing"
	}
	return text + ", " + h.text
}

// check compares a header with the plan.
func (f *plan) check(key string, h header) error {
	switch {
	case h.fingerprint != f.fingerprint() || h.slots != f.layout.slots || h.growth != f.growth:
		return fmt.Errorf("%w: key %q was made for %v; opened for %v", ErrMismatch, key, h, f.header(0))
	case f.generations > 0 && h.end != f.layout.end:
		return fmt.Errorf("%w: key %q says that it ends at %d, want %d", ErrMismatch, key, h.end, f.layout.end)
	case f.generations > 0:
		return nil
	case h.layers < 1 || h.layers > maxLayers || !f.growth && h.layers != 1:
		return fmt.Errorf("%w: key %q says that it has %d layers, want 1 to %d", ErrMismatch, key, h.layers, maxLayers)
	}
	layers, err := f.grown(int(h.layers), f.limit)
	if err != nil {
		return fmt.Errorf("key %q: %w", key, err)
	}
	newest := layers[h.layers-1]
	if h.left > newest.keys || h.end != newest.end {
		return fmt.Errorf("%w: key %q says that its newest layer has room for %d keys and ends at %d, want at most %d and %d", ErrMismatch, key, h.left, h.end, newest.keys, newest.end)
	}
	return nil
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
