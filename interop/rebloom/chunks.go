package rebloom

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/remaining"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

const maxChunk = 16 << 20

// Chunks yields the filter in chunks, an iterator and bytes, for BF.LOADCHUNK in this order. The first has
// iterator 1 and the header. The others have the bits of one layer after the other, each at most 16 MiB of
// one layer. Their iterator is 1 plus the number of bytes up to the chunk's end.
//
// The bytes are valid until the next chunk. Keys must not be added before the last chunk: the header, which
// counts them, is the first.
func (f *Filter) Chunks() iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		var buf []byte
		for end, c := range f.chunks() {
			buf = append(slices.Grow(buf[:0], len(c.words)*8), c.header...)
			buf = format.AppendWords(buf, c.words)
			if !yield(end, buf) {
				return
			}
		}
	}
}

// A chunk is a header or words.
type chunk struct {
	header []byte
	words  []atomic.Uint64
}

func (f *Filter) chunks() iter.Seq2[int64, chunk] {
	return func(yield func(int64, chunk) bool) {
		layers, h := f.all(), f.header
		for _, l := range layers {
			h.layers = append(h.layers, shape{l.Params(), l.bitsPerKey, l.items.Load()})
		}
		end := int64(1)
		if !yield(end, chunk{header: h.append(nil)}) {
			return
		}
		for _, l := range layers {
			for words := l.Words(); len(words) > 0; {
				part := words[:min(len(words), maxChunk/8)]
				words = words[len(part):]
				end += int64(len(part)) * 8
				if !yield(end, chunk{words: part}) {
					return
				}
			}
		}
	}
}

// FromDump returns the filter that BF.SCANDUMP returns. It calls scan with 0 and then with the iterator of
// the last call, until scan returns iterator 0, and keeps nothing of the data. The filter then grows as the
// server's would.
//
// The data may be untrusted: every field is checked, and memory is requested as the bytes
// arrive. There is no checksum, so damaged bits go unnoticed. The option is [bloom.WithMaxBytes].
//
// The error wraps bloom.ErrCorrupt if the chunks are not a whole filter, bloom.ErrIncompatible
// if the filter has options that RedisBloom's own filters do not have, or a layer with a k above 255,
// bloom.ErrInvalid or bloom.ErrTooLarge. Otherwise it is the error of scan.
func FromDump(scan func(iterator int64) (next int64, data []byte, err error), opts ...bloom.Option) (*Filter, error) {
	iterator := int64(0)
	f, err := read(func() (int64, int64, io.Reader, error) {
		next, data, err := scan(iterator)
		if err == nil && next == 0 {
			err = io.EOF
		}
		iterator = next
		return next, int64(len(data)), bytes.NewReader(data), err
	}, opts)
	if err == io.EOF {
		err = corrupt("no chunk at all")
	}
	return f, err
}

// Redis has no format for a filter in a file, so this one is the project's own: for each chunk,
// in the order of BF.SCANDUMP,
//
//	bytes  field
//	8      iterator, little-endian
//	8      length of the data, little-endian, at most 16 MiB
//	…      data
//
// The empty reply that ends a dump is left out.
const chunkHead = 16

// WriteTo writes the chunks to w as a file, which [Read] and the command read. Do not add keys
// during the call. A snapshot that survives a crash is persist.Save(path, f). It returns any error from w.
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) {
	counter := &format.Counter{W: w}
	for end, c := range f.chunks() {
		head := binary.LittleEndian.AppendUint64(nil, uint64(end))
		head = binary.LittleEndian.AppendUint64(head, uint64(len(c.header)+len(c.words)*8))
		if err := wire.Write(counter, binary.LittleEndian, append(head, c.header...), c.words); err != nil {
			return counter.N, err
		}
	}
	return counter.N, nil
}

// Read reads a filter that [Filter.WriteTo] has written, or that was made of the replies of
// BF.SCANDUMP in this format, to the end of r. It takes the options and returns the errors of [FromDump], or
// any error from r. At the end of the stream it returns io.EOF itself.
func Read(r io.Reader, opts ...bloom.Option) (*Filter, error) {
	return read(func() (int64, int64, io.Reader, error) {
		var head [chunkHead]byte
		if _, err := format.Full(r, head[:], "the head of a chunk", true); err != nil {
			return 0, 0, nil, err
		}
		iterator, length := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
		if length > maxChunk {
			return 0, 0, nil, corrupt("a chunk of %d bytes, want at most %d", length, maxChunk)
		}
		return int64(iterator), int64(length), r, nil
	}, opts)
}

// read returns the filter of the chunks that fetch returns, one per call, and then io.EOF.
func read(fetch func() (iterator, length int64, data io.Reader, err error), opts []bloom.Option) (*Filter, error) {
	if err := checkOptions(opts); err != nil {
		return nil, err
	}
	iterator, length, data, err := fetch()
	switch {
	case err != nil:
		return nil, err
	case iterator != 1:
		return nil, corrupt("the first chunk has iterator %d, want 1, the header's", iterator)
	case length > headerBytes+maxLayers*layerBytes:
		return nil, corrupt("a header of %d bytes, want at most %d", length, headerBytes+maxLayers*layerBytes)
	}
	raw := make([]byte, length)
	if _, err := format.Full(data, raw, "the header", false); err != nil {
		return nil, err
	}
	f := &Filter{maxBytes: bloom.MaxBytes(opts...)}
	if f.header, err = readHeader(raw, f.maxBytes); err != nil {
		return nil, err
	}
	d := &dump{fetch: fetch, end: 1}
	var layers []*layer
	for i, shape := range f.header.layers {
		if shape.K > maxK {
			return nil, format.Errorf(bloom.ErrIncompatible, "layer %d of %d needs k = %d, want at most %d",
				i+1, len(f.header.layers), shape.K, maxK)
		}
		if err := d.next(); err == io.EOF {
			return nil, corrupt("the chunks end before layer %d of %d", i, len(f.header.layers))
		} else if err != nil {
			return nil, err
		}
		s, err := bloom.NewSchemeWithParams(shape.Params, required...)
		if err != nil {
			return nil, err
		}
		l := &layer{bitsPerKey: shape.bitsPerKey}
		l.items.Store(shape.items)
		if l.BloomFilter, err = wire.Read(d, binary.LittleEndian, s); err != nil {
			return nil, cmp.Or(d.err, err)
		}
		layers = append(layers, l)
	}
	f.header.layers = nil
	f.layers.Store(&layers)
	if _, length, _, err = fetch(); err == nil || d.left > 0 {
		return nil, corrupt("%d bytes after the last layer", d.left+length)
	} else if err != io.EOF {
		return nil, err
	}
	return f, nil
}

// A dump is the chunks after the header as one stream.
type dump struct {
	fetch func() (iterator, length int64, data io.Reader, err error)
	end   int64 // iterator of the last chunk
	left  int64 // bytes of the last chunk that were not read
	data  io.Reader
	err   error // of fetch, except io.EOF
}

// next begins a chunk if all bytes of the last one were read.
func (d *dump) next() error {
	if d.left > 0 {
		return nil
	}
	iterator, length, data, err := d.fetch()
	if err == nil && (length <= 0 || iterator != d.end+length) {
		err = corrupt("a chunk of %d bytes with iterator %d after %d: one is missing, or out of order", length, iterator, d.end)
	}
	if err != nil {
		if err != io.EOF {
			d.err = err
		}
		return err
	}
	d.end, d.left, d.data = iterator, length, data
	return nil
}

func (d *dump) Read(p []byte) (int, error) {
	if err := d.next(); err != nil {
		return 0, err
	}
	n, err := d.data.Read(p[:min(int64(len(p)), d.left)])
	d.left -= int64(n)
	if n > 0 {
		err = nil // it comes again
	}
	return n, err
}

// Remaining lets a layer get its memory at once.
func (d *dump) Remaining(remaining.Own) uint64 { return remaining.Of(d.data) }
