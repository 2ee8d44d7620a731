package rebloom

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/remaining"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// A Chunk is a reply of BF.SCANDUMP, and what BF.LOADCHUNK takes: an iterator and bytes. The
// first has iterator 1 and the header, the others have the bits of one layer after the other,
// each at most 16 MiB of one layer. Their iterator is 1 plus the number of bytes up to the
// chunk's end. docs/formats.md describes the header.
type Chunk struct {
	Iterator int64
	Data     []byte
}

const (
	headerBytes = 20 // of the filter
	layerBytes  = 53 // of each layer
	maxChunk    = 16 << 20
	maxLayers   = 1 << 10 // each layer has half the rate of the one before, so servers have fewer
)

// Chunks yields the filter in chunks, for BF.LOADCHUNK in this order. The data is valid
// until the next one. Keys must not be added meanwhile: the header is written first, and
// would not count them.
func (f *Filter) Chunks() iter.Seq[Chunk] {
	return func(yield func(Chunk) bool) {
		layers := f.all()
		if !yield(Chunk{1, f.header(layers)}) {
			return
		}
		var buf []byte
		for end, words := range parts(layers) {
			if size := len(words) * 8; cap(buf) < size {
				buf = make([]byte, 0, size)
			}
			buf = buf[:0]
			for i := range words {
				buf = binary.LittleEndian.AppendUint64(buf, words[i].Load())
			}
			if !yield(Chunk{end, buf}) {
				return
			}
		}
	}
}

// parts yields the words of each chunk after the header, with its iterator.
func parts(layers []*layer) iter.Seq2[int64, []atomic.Uint64] {
	return func(yield func(int64, []atomic.Uint64) bool) {
		end := int64(1)
		for _, l := range layers {
			for words := l.Words(); len(words) > 0; {
				part := words[:min(len(words), maxChunk/8)]
				words = words[len(part):]
				end += int64(len(part)) * 8
				if !yield(end, part) {
					return
				}
			}
		}
	}
}

func (f *Filter) header(layers []*layer) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, itemsOf(layers))
	b = le.AppendUint32(b, uint32(len(layers)))
	b = le.AppendUint32(b, f.options)
	b = le.AppendUint32(b, f.expansion)
	for _, l := range layers {
		p := l.Params()
		b = le.AppendUint64(b, p.M/8)
		b = le.AppendUint64(b, p.M)
		b = le.AppendUint64(b, l.items.Load())
		b = le.AppendUint64(b, math.Float64bits(p.P))
		b = le.AppendUint64(b, math.Float64bits(l.bitsPerKey))
		b = le.AppendUint32(b, uint32(p.K))
		b = le.AppendUint64(b, p.N)
		b = append(b, 0) // log2 of m, where the server rounds m to a power of two
	}
	return b
}

// FromChunks returns the filter of these chunks: replies of BF.SCANDUMP in their order,
// without the empty one that ends them, or what [Filter.Chunks] yields. It keeps nothing of
// their data. The filter then grows as the server's would.
//
// The chunks may be untrusted: every field is checked, and memory is asked for as the bytes
// arrive. There is no checksum, so damaged bits go unnoticed. Of the options, [WithBloom] sets
// the limit; the others are in the header, and must not contradict it.
//
// The error wraps bloom.ErrCorrupt if the chunks are not a whole filter, bloom.ErrIncompatible
// if the filter has options that RedisBloom's own filters do not have, bloom.ErrInvalid,
// bloom.ErrTooLarge, or is that of the chunks.
func FromChunks(chunks iter.Seq2[Chunk, error], opts ...Option) (*Filter, error) {
	c, err := newConfig(config{}, opts)
	if err != nil {
		return nil, err
	}
	r := reader{limit: c.maxBytes}
	for chunk, err := range chunks {
		if err == nil {
			err = r.take(chunk.Iterator, uint64(len(chunk.Data)), bytes.NewReader(chunk.Data))
		}
		if err != nil {
			return nil, err
		}
	}
	return r.filter(c)
}

// A reader puts a filter together.
type reader struct {
	limit  uint64
	f      *Filter
	shapes []shape
	layers []*layer
	next   *wire.Growing // layer len(layers)
	end    int64         // iterator of the last chunk
}

// A shape is what a header says of a layer.
type shape struct {
	bloom.Scheme
	bitsPerKey float64
	items      uint64
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", bloom.ErrCorrupt, fmt.Sprintf(format, args...))
}

// take reads the length bytes of a chunk from data.
func (r *reader) take(iterator int64, length uint64, data io.Reader) error {
	switch {
	case r.f == nil && iterator != 1:
		return corrupt("the first chunk has iterator %d, want 1, the header's", iterator)
	case r.f == nil && length > headerBytes+maxLayers*layerBytes:
		return corrupt("a header of %d bytes, want at most %d", length, headerBytes+maxLayers*layerBytes)
	case r.f == nil:
		header := make([]byte, length)
		if _, err := format.Full(data, header, "the header", false); err != nil {
			return err
		}
		r.end = 1
		return r.header(header)
	case len(r.layers) == len(r.shapes):
		return corrupt("a chunk of %d bytes after the last layer", length)
	case length == 0 || length > math.MaxInt64-uint64(r.end) || iterator != r.end+int64(length):
		return corrupt("a chunk of %d bytes with iterator %d after %d: one is missing, or out of order", length, iterator, r.end)
	}
	shape := r.shapes[len(r.layers)]
	if r.next == nil {
		var err error
		if r.next, err = wire.NewGrowing(shape.Scheme); err != nil {
			return err
		}
	}
	if length > r.next.Missing() {
		return corrupt("layer %d misses %d bytes, and the chunk has %d", len(r.layers), r.next.Missing(), length)
	}
	r.end = iterator
	sure := remaining.Of(data) >= r.next.Missing()
	for left := length; left > 0; {
		part, err := r.next.Next(int(min(left, 64<<10)), sure)
		if err != nil {
			return err
		}
		if _, err := format.Full(data, part, "a chunk", false); err != nil {
			return err
		}
		left -= uint64(len(part))
	}
	if r.next.Missing() == 0 {
		l := &layer{BloomFilter: r.next.Filter(binary.LittleEndian), bitsPerKey: shape.bitsPerKey}
		l.items.Store(shape.items)
		r.layers, r.next = append(r.layers, l), nil
	}
	return nil
}

// filter returns the filter, if all of it was read and it is what the options ask for.
func (r *reader) filter(c config) (*Filter, error) {
	switch {
	case r.f == nil:
		return nil, corrupt("no chunk at all")
	case len(r.layers) < len(r.shapes):
		return nil, corrupt("the chunks end within layer %d of %d", len(r.layers), len(r.shapes))
	}
	r.f.layers.Store(&r.layers)
	scaling := r.f.options&optionNoScaling == 0
	if c.noScaling && scaling || c.expansion != 0 && (!scaling || c.expansion != r.f.expansion) {
		return nil, fmt.Errorf("%w: the filter has expansion %d (0 for none), want %d", bloom.ErrIncompatible, r.f.Plan().Expansion, c.expansion)
	}
	return r.f, nil
}

// header checks what the server checks, and that the fields agree with each other.
func (r *reader) header(b []byte) error {
	le := binary.LittleEndian
	if len(b) < headerBytes {
		return corrupt("a header of %d bytes, want at least %d", len(b), headerBytes)
	}
	items, count, options, expansion := le.Uint64(b), le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:])
	switch {
	case count == 0 || count > maxLayers:
		return corrupt("%d layers, want 1 to %d", count, maxLayers)
	case len(b) != headerBytes+int(count)*layerBytes:
		return corrupt("a header of %d bytes for %d layers, want %d", len(b), count, headerBytes+int(count)*layerBytes)
	case options&^optionNoScaling != madeBy:
		return fmt.Errorf("%w: options %#x, want %#x with or without %#x", bloom.ErrIncompatible, options, madeBy, optionNoScaling)
	case options&optionNoScaling != 0 && count > 1:
		return corrupt("%d layers of a filter that does not grow", count)
	case options&optionNoScaling == 0 && expansion == 0:
		return corrupt("expansion 0 of a filter that grows")
	}
	total, sum := uint64(0), uint64(0)
	for i := range int(count) {
		s, err := readShape(b[headerBytes+i*layerBytes:])
		if err != nil {
			return fmt.Errorf("%w, in layer %d", err, i)
		}
		total += s.items
		if sum += s.SizeBytes(); sum < s.SizeBytes() || sum > min(r.limit, math.MaxInt64-1) {
			return fmt.Errorf("%w: %d layers are more than %d bytes", bloom.ErrTooLarge, i+1, min(r.limit, math.MaxInt64-1))
		}
		r.shapes = append(r.shapes, s)
	}
	if total != items {
		return corrupt("%d keys in all, and the layers have %d", items, total)
	}
	r.f = &Filter{options: options, expansion: expansion, maxBytes: r.limit}
	return nil
}

func readShape(b []byte) (s shape, err error) {
	le := binary.LittleEndian
	bytes, m, k := le.Uint64(b), le.Uint64(b[8:]), le.Uint32(b[40:])
	s.items, s.bitsPerKey = le.Uint64(b[16:]), math.Float64frombits(le.Uint64(b[32:]))
	p := bloom.Params{N: le.Uint64(b[44:]), P: math.Float64frombits(le.Uint64(b[24:])), M: m, K: int(k)}
	switch {
	case m == 0 || m%64 != 0 || bytes != m/8:
		return s, corrupt("m = %d bits in %d bytes, want a multiple of 64, and an eighth", m, bytes)
	case !(p.P > 0 && p.P < 1):
		return s, corrupt("rate %v, want 0 < p < 1", p.P)
	case !(s.bitsPerKey > 0) || float64(k) != math.Ceil(0.693147180559945*s.bitsPerKey):
		return s, corrupt("k = %d with %v bits per key", k, s.bitsPerKey)
	case k > maxK:
		return s, fmt.Errorf("%w: k = %d, want at most %d", bloom.ErrIncompatible, k, maxK)
	case b[52] != 0:
		return s, fmt.Errorf("%w: a size of 2^%d, want one that is not rounded", bloom.ErrIncompatible, b[52])
	case p.N == 0 || s.items > p.N:
		return s, corrupt("%d keys in a layer for %d", s.items, p.N)
	}
	s.Scheme, err = bloom.NewSchemeWithParams(p, layerOptions()...)
	return s, err
}
