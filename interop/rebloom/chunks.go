package rebloom

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"github.com/seed3447c163/bloom"
)

// A Chunk is a reply of BF.SCANDUMP, and what BF.LOADCHUNK takes: an iterator and bytes.
// The first has iterator 1 and the header, the others parts of the layers.
//
// All numbers are little-endian. The header:
//
//	bytes  field
//	8      items: keys of all layers
//	4      number of layers, at least 1
//	4      options: 1 no rounding of m, 4 64-bit hashes, 8 no scaling
//	4      expansion
//
// and for each layer, oldest first:
//
//	8      bytes of its bits
//	8      m, bits
//	8      items
//	8      rate: IEEE 754
//	8      bits a key: IEEE 754
//	4      k
//	8      capacity: keys it is for
//	1      log2 of m, where that is a power of two, or 0
//
// The chunks that follow have the bits of one layer after the other, each at most 16 MiB and
// of one layer. Their iterator is 1 and the number of bytes up to the chunk's end. Bit i of
// a layer is bit i%8 of byte i/8.
type Chunk struct {
	Iterator int64
	Data     []byte
}

const (
	headerBytes = 20
	layerBytes  = 53
	maxChunk    = 16 << 20
	maxLayers   = 1 << 10 // no server gets there: each layer is for half the rate of the one before
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
		end := int64(1)
		var buf []byte
		for _, l := range layers {
			for words := l.Words(); len(words) > 0; {
				part := words[:min(len(words), maxChunk/8)]
				words = words[len(part):]
				buf = buf[:0]
				for i := range part {
					buf = binary.LittleEndian.AppendUint64(buf, part[i].Load())
				}
				end += int64(len(buf))
				if !yield(Chunk{end, buf}) {
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
		b = le.AppendUint64(b, math.Float64bits(l.rate))
		b = le.AppendUint64(b, math.Float64bits(l.bitsPerKey))
		b = le.AppendUint32(b, uint32(p.K))
		b = le.AppendUint64(b, l.capacity)
		b = append(b, l.n2)
	}
	return b
}

// FromChunks returns the filter of these chunks: replies of BF.SCANDUMP in their order,
// without the empty one that ends them, or what [Filter.Chunks] yields. It keeps nothing of
// their data. The filter then grows as the server's would.
//
// The chunks may come from a stranger: every field is checked, and memory is asked for as
// the bytes arrive. There is no checksum, so damaged bits go unnoticed. Of the options,
// [WithBloom] sets the limit; the others are in the header, and must not contradict it.
//
// The error wraps bloom.ErrCorrupt if the chunks are not a filter or not all of one,
// bloom.ErrIncompatible if the filter has options that RedisBloom's own filters do not have,
// bloom.ErrInvalid, bloom.ErrTooLarge, or is that of the chunks.
func FromChunks(chunks iter.Seq2[Chunk, error], opts ...Option) (*Filter, error) {
	c, err := newConfig(config{}, opts)
	if err != nil {
		return nil, err
	}
	r := reader{limit: c.maxBytes}
	for chunk, err := range chunks {
		if err != nil {
			return nil, err
		}
		if err := r.take(chunk); err != nil {
			return nil, err
		}
	}
	f, err := r.filter()
	if err != nil {
		return nil, err
	}
	scaling := f.options&optionNoScaling == 0
	if c.noScaling && scaling || c.expansion != 0 && (!scaling || c.expansion != f.expansion) {
		return nil, fmt.Errorf("%w: the filter has expansion %d (0 for none), want %d", bloom.ErrIncompatible, f.Plan().Expansion, c.expansion)
	}
	return f, nil
}

// A reader puts a filter together.
type reader struct {
	limit  uint64
	f      *Filter
	layers []*layer
	shapes []bloom.Params // of those whose bits have not come
	end    int64          // iterator of the last chunk
	bits   []byte         // of the layer that is being read
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", bloom.ErrCorrupt, fmt.Sprintf(format, args...))
}

func (r *reader) take(c Chunk) error {
	if r.f == nil {
		if c.Iterator != 1 {
			return corrupt("the first chunk has iterator %d, want 1, the header's", c.Iterator)
		}
		r.end = 1
		return r.header(c.Data)
	}
	done := len(r.layers) - len(r.shapes)
	switch {
	case len(r.shapes) == 0:
		return corrupt("a chunk of %d bytes after the last layer", len(c.Data))
	case len(c.Data) == 0 || c.Iterator != r.end+int64(len(c.Data)):
		return corrupt("a chunk of %d bytes with iterator %d after %d: one is missing, or out of order", len(c.Data), c.Iterator, r.end)
	}
	want := r.shapes[0].M / 8
	if uint64(len(r.bits))+uint64(len(c.Data)) > want {
		return corrupt("layer %d has %d bytes, and the chunks have %d", done, want, uint64(len(r.bits))+uint64(len(c.Data)))
	}
	r.end = c.Iterator
	r.bits = append(r.bits, c.Data...)
	if uint64(len(r.bits)) < want {
		return nil
	}
	layer, err := bloom.NewWithParams(r.shapes[0], layerOptions()...)
	if err != nil {
		return err
	}
	r.layers[done].BloomFilter = layer
	words := layer.Words()
	for i := range words {
		words[i].Store(binary.LittleEndian.Uint64(r.bits[i*8:]))
	}
	r.shapes, r.bits = r.shapes[1:], r.bits[:0]
	return nil
}

// filter returns what was read, if that was all.
func (r *reader) filter() (*Filter, error) {
	switch {
	case r.f == nil:
		return nil, corrupt("no chunk at all")
	case len(r.shapes) > 0:
		return nil, corrupt("the chunks end within layer %d of %d", len(r.layers)-len(r.shapes), len(r.layers))
	}
	r.f.layers.Store(&r.layers)
	return r.f, nil
}

// header checks what the server checks, and that nothing contradicts something else.
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
	case options&^(optionNoRound|optionSizeIsBits|optionForce64|optionNoScaling) != 0:
		return corrupt("options %#x, of which some are unknown", options)
	case options&^optionNoScaling != madeBy:
		return fmt.Errorf("%w: options %#x, want %#x with or without %#x", bloom.ErrIncompatible, options, madeBy, optionNoScaling)
	case options&optionNoScaling != 0 && count > 1:
		return corrupt("%d layers of a filter that does not grow", count)
	case options&optionNoScaling == 0 && expansion == 0:
		return corrupt("expansion 0 of a filter that grows")
	}
	r.f = &Filter{options: options, expansion: expansion, maxBytes: r.limit}
	total, sum := uint64(0), uint64(0)
	for i := range int(count) {
		at := b[headerBytes+i*layerBytes:]
		bytes, m := le.Uint64(at), le.Uint64(at[8:])
		l := &layer{
			rate: math.Float64frombits(le.Uint64(at[24:])), bitsPerKey: math.Float64frombits(le.Uint64(at[32:])),
			capacity: le.Uint64(at[44:]), n2: at[52],
		}
		l.items.Store(le.Uint64(at[16:]))
		k := le.Uint32(at[40:])
		switch {
		case m == 0 || m%64 != 0 || bytes != m/8:
			return corrupt("layer %d has m = %d bits in %d bytes, want a multiple of 64, and an eighth", i, m, bytes)
		case !(l.rate > 0 && l.rate < 1):
			return corrupt("layer %d has rate %v, want 0 < p < 1", i, l.rate)
		case !(l.bitsPerKey > 0) || float64(k) != math.Ceil(0.693147180559945*l.bitsPerKey):
			return corrupt("layer %d has k = %d with %v bits a key", i, k, l.bitsPerKey)
		case k > maxK:
			return fmt.Errorf("%w: layer %d has k = %d, want at most %d", bloom.ErrIncompatible, i, k, maxK)
		case l.n2 != 0:
			return fmt.Errorf("%w: layer %d has a size of 2^%d, which the server does not make", bloom.ErrIncompatible, i, l.n2)
		case l.capacity == 0:
			return corrupt("layer %d is for 0 keys", i)
		case l.items.Load() > l.capacity:
			return corrupt("layer %d has %d keys and is for %d", i, l.items.Load(), l.capacity)
		}
		total += l.items.Load()
		if sum += bytes; sum < bytes || sum > math.MaxInt64-1 {
			return corrupt("the layers have more bytes than an iterator counts")
		}
		if sum > r.limit {
			return fmt.Errorf("%w: %d layers are more than %d bytes", bloom.ErrTooLarge, i+1, r.limit)
		}
		params := l.params(m, int(k))
		if _, err := bloom.NewSchemeWithParams(params, layerOptions()...); err != nil {
			return fmt.Errorf("%w, in layer %d", err, i)
		}
		r.layers = append(r.layers, l)
		r.shapes = append(r.shapes, params)
	}
	if total != items {
		return corrupt("%d keys in all, and the layers have %d", items, total)
	}
	return nil
}
