package redisfilter

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// The value of a shard, see docs/layout.md: a header, the first layers, and the epoch, 8 random bytes that tell this
// value from later ones of the same name. In a growing filter, further layers follow, each with the epoch after it.
// stateField, shiftField and addedField are offsets in the header. All numbers are little-endian.
const (
	headerBytes = 192
	stateField  = 80
	shiftField  = 104
	addedField  = 112

	blockBytes = 64
	epochBytes = 8

	magic   = "bloomrds"
	version = 6
)

// A header has the fields of the first 192 bytes of a value. The scripts change the fields from End to Added.
type header struct {
	Magic                           [8]byte
	Version, Shards, Generations, _ uint16
	Epoch                           [epochBytes]byte
	Fingerprint, N                  uint64
	P                               float64
	Millis, TTL                     int64 // in milliseconds: length of a generation, life of the filter
	Growth                          bool
	_                               [7]byte
	End                             double // offset of the last epoch
	State                           double // number of layers, or the latest generation
	Left                            double // room for more keys in the newest layer or the latest generation
	Expiry                          double // in Unix milliseconds, computed by the server; 0 for never
	Shift                           double // generations to add to the server's clock, see add.lua
	Added                           double // with a window: time of the last add, in Unix microseconds
	_                               double
	Text                            [64]byte
}

// A double is a number as Lua has it: integers are exact up to 2^53.
type double float64

// A double holds every integer up to maxExact exactly. Generations and times stay below it.
const maxExact = 1 << 53

// whole returns x as an integer, or math.MaxUint64 if it is not an integer from 0 to 2^53.
func (x double) whole() uint64 {
	if !(x >= 0 && x <= maxExact) || x != double(math.Trunc(float64(x))) {
		return math.MaxUint64
	}
	return uint64(x)
}

func (h header) encode() []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, h) // cannot fail: all fields have a fixed size
	return b
}

// readHeader reads the header of a shard. The error wraps ErrLost if there is no value. readHeader also returns the
// errors of decodeHeader.
func readHeader(ctx context.Context, sender *send.Sender, name string) (h header, err error) {
	value, err := send.Do[string](ctx, sender, name, "GETRANGE", name, 0, headerBytes-1)
	switch {
	case err != nil:
		return h, err
	case value == "":
		return h, send.Errorf(ErrLost, "there is no filter; Open creates it")
	}
	return decodeHeader(value)
}

// decodeHeader decodes the beginning of a value. The error wraps ErrMismatch.
func decodeHeader(value string) (h header, err error) {
	if _, err := binary.Decode([]byte(value), binary.LittleEndian, &h); err != nil || string(h.Magic[:]) != magic {
		return h, send.Errorf(ErrMismatch, "it does not hold a filter of this package; choose another name, or delete the key")
	}
	if h.Version != version {
		return h, send.Errorf(ErrMismatch, "layout version %d, this package has %d", h.Version, version)
	}
	return h, nil
}

func (h header) epoch() string { return string(h.Epoch[:]) }

func (h header) ttl() time.Duration { return time.Duration(h.TTL) * time.Millisecond }

// expires returns the time of expiry, the zero time for never.
func (h header) expires() (t time.Time) {
	if ms := h.Expiry.whole(); ms > 0 && ms < math.MaxUint64 {
		t = time.UnixMilli(int64(ms))
	}
	return t
}

// options returns the options of a handle that joins a filter with this header. o has the options of the caller.
func (h header) options(o options) (options, error) {
	o.bloom = h.hash(o.bloom)
	o.shards, o.growth, o.windowed, o.generations = int(h.Shards), h.Growth, h.Generations > 0, int(h.Generations)
	o.ttl = h.ttl()
	o.length = time.Duration(h.Millis) * time.Millisecond
	longest := int64(math.MaxInt64 / time.Millisecond)
	if o.shards < 1 || o.shards > maxShards || h.TTL < 0 || h.TTL > longest || o.growth && o.windowed ||
		o.windowed && (o.generations > maxGenerations || h.Millis > longest || o.length < leastGeneration) {
		return o, send.Errorf(ErrMismatch, "impossible numbers in the header: %v", h)
	}
	return o, nil
}

// hash returns opts, preceded by bloom.RapidHash if the header has it and opts have no secret. Otherwise the default
// hash or the hash in opts must be the header's.
func (h header) hash(opts []bloom.Option) []bloom.Option {
	keyed, err := bloom.NewScheme(1, 0.1, opts...)
	if h.Text == textOf(bloom.RapidHash) && !(err == nil && textOf(keyed.Hash()) == secretText) {
		opts = append([]bloom.Option{bloom.WithHash(bloom.RapidHash)}, opts...)
	}
	return opts
}

// textOf returns the text that a header stores for a hash: its name in quotes.
func textOf(hash *bloom.Hash) (text [64]byte) {
	copy(text[:], fmt.Sprintf("hash %q", hash.Name()))
	return text
}

// String describes the parameters of a filter.
func (h header) String() string {
	shards := "1 shard"
	if h.Shards != 1 {
		shards = fmt.Sprintf("%d shards", h.Shards)
	}
	text := fmt.Sprintf("n = %d, p = %v, %s", h.N, h.P, shards)
	if h.Generations > 0 {
		text += fmt.Sprintf(", %d generations of %d ms", h.Generations, h.Millis)
	}
	if h.Growth {
		text += ", growing"
	}
	return fmt.Sprintf("%s, %s", text, bytes.TrimRight(h.Text[:], "\x00"))
}

// newNonce returns 8 random bytes. The first and the last are not 0: missing parts of a value are read as zeros, so a
// truncated nonce is always noticed.
func newNonce() string {
	var b [8]byte
	for b[7] == 0 || b[0] == 0 {
		rand.Read(b[:]) // never fails
	}
	return string(b[:])
}
