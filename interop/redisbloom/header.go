package redisbloom

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
)

// Bits of the options in a header. RedisBloom sets the first two for all filters.
const (
	optionNoRound   = 1 // m is not rounded to a power of two
	optionForce64   = 4 // 64-bit hashes
	optionNoScaling = 8
	madeBy          = optionNoRound | optionForce64
)

const (
	headerBytes = 20      // of the filter
	layerBytes  = 53      // of each layer
	maxLayers   = 1 << 11 // the rate halves per layer, which float64 allows 1,075 times
)

// A header has the decoded first chunk of a filter.
type header struct {
	options   uint32
	expansion uint32
	layers    []shape
}

// A shape is the part of a header for one layer.
type shape struct {
	bloom.Params
	bitsPerKey float64
	items      uint64
}

func (h *header) scaling() bool { return h.options&optionNoScaling == 0 }

// plan returns the arguments of BF.RESERVE for a filter with this header whose first layer has the given n and p.
func (h *header) plan(n uint64, p float64) Plan {
	if h.scaling() {
		return Plan{n, 2 * p, h.expansion}
	}
	return Plan{N: n, P: p}
}

func (h *header) append(b []byte) []byte {
	le := binary.LittleEndian
	items := uint64(0)
	for _, l := range h.layers {
		items += l.items
	}
	b = le.AppendUint64(b, items)
	b = le.AppendUint32(b, uint32(len(h.layers)))
	b = le.AppendUint32(b, h.options)
	b = le.AppendUint32(b, h.expansion)
	for _, l := range h.layers {
		b = le.AppendUint64(b, l.M/8)
		b = le.AppendUint64(b, l.M)
		b = le.AppendUint64(b, l.items)
		b = le.AppendUint64(b, math.Float64bits(l.P))
		b = le.AppendUint64(b, math.Float64bits(l.bitsPerKey))
		b = le.AppendUint32(b, uint32(l.K))
		b = le.AppendUint64(b, l.N)
		b = append(b, 0) // would be log2 of m if m were rounded to a power of two
	}
	return b
}

// ReadPlan returns the [Filter.Plan] of the filter with this header, the data that BF.SCANDUMP returns for iterator 0.
// For a bad header it returns the errors of [FromDump].
func ReadPlan(header []byte) (Plan, error) {
	h, err := readHeader(header, math.MaxUint64)
	if err != nil {
		return Plan{}, err
	}
	return h.plan(h.layers[0].N, h.layers[0].P), nil
}

// readHeader reads a header. It makes the checks of the server, and checks that the fields agree with each other and
// that the layers have at most limit bytes.
func readHeader(b []byte, limit uint64) (h header, err error) {
	le := binary.LittleEndian
	if len(b) < headerBytes {
		return h, corrupt("a header of %d bytes, want at least %d", len(b), headerBytes)
	}
	items, count := le.Uint64(b), le.Uint32(b[8:])
	h.options, h.expansion = le.Uint32(b[12:]), le.Uint32(b[16:])
	switch {
	case count == 0 || count > maxLayers:
		return h, corrupt("%d layers, want 1 to %d", count, maxLayers)
	case len(b) != headerBytes+int(count)*layerBytes:
		return h, corrupt("a header of %d bytes for %d layers, want %d", len(b), count, headerBytes+int(count)*layerBytes)
	case h.options&^optionNoScaling != madeBy:
		return h, failure.Errorf(bloom.ErrIncompatible, "options %#x, want %#x with or without %#x", h.options, madeBy, optionNoScaling)
	case !h.scaling() && count > 1:
		return h, corrupt("%d layers of a filter that does not grow", count)
	case h.scaling() && h.expansion == 0:
		return h, corrupt("expansion 0 of a filter that grows")
	}
	size, keys, capacity := uint64(0), uint64(0), uint64(0)
	for i := range int(count) {
		s, err := readShape(b[headerBytes+i*layerBytes:])
		if err != nil {
			return h, fmt.Errorf("%w, in layer %d", err, i)
		}
		if keys += s.items; s.N > math.MaxUint64-capacity {
			return h, corrupt("%d layers for 2^64 keys or more", i+1)
		}
		capacity += s.N                                        // capacity >= keys, so keys cannot overflow either
		if size += s.M / 8; size > min(limit, math.MaxInt64) { // cannot overflow, because m/8 < 2^61
			return h, failure.Errorf(bloom.ErrTooLarge, "%d layers are %d bytes, want at most %d", i+1, size, min(limit, math.MaxInt64))
		}
		h.layers = append(h.layers, s)
	}
	if items != keys {
		return h, corrupt("%d keys in all, and the layers have %d", items, keys)
	}
	return h, nil
}

func readShape(b []byte) (s shape, err error) {
	le := binary.LittleEndian
	bytes, m, k := le.Uint64(b), le.Uint64(b[8:]), le.Uint32(b[40:])
	s.items, s.bitsPerKey = le.Uint64(b[16:]), math.Float64frombits(le.Uint64(b[32:]))
	s.Params = bloom.Params{N: le.Uint64(b[44:]), P: math.Float64frombits(le.Uint64(b[24:])), M: m, K: int(k)}
	switch {
	case m == 0 || m%64 != 0 || bytes != m/8:
		return s, corrupt("m = %d bits in %d bytes, want a multiple of 64, and an eighth", m, bytes)
	case !(s.P > 0 && s.P < 1):
		return s, corrupt("rate %v, want 0 < p < 1", s.P)
	case !(s.bitsPerKey > 0) || float64(k) != math.Ceil(ln2*s.bitsPerKey):
		return s, corrupt("k = %d with %v bits per key", k, s.bitsPerKey)
	case b[52] != 0:
		return s, failure.Errorf(bloom.ErrIncompatible, "a size of 2^%d bits, want one that is not rounded", b[52])
	case s.N == 0 || s.items > s.N:
		return s, corrupt("%d keys in a layer for %d", s.items, s.N)
	}
	return s, nil
}

func corrupt(text string, args ...any) error { return failure.Errorf(bloom.ErrCorrupt, text, args...) }
