package redisbloom

import (
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/layered"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

const maxChunk = 16 << 20

// Chunks yields the filter in chunks, each an iterator and bytes, for BF.LOADCHUNK in this order. The first chunk has
// iterator 1 and the header. The others have the bits of the layers, the oldest first, at most 16 MiB of one layer per
// chunk. Bit i of a layer is bit i%8 of byte i/8. The iterator of a chunk with bits is 1 plus the number of bytes of
// bits up to the chunk's end.
//
// The bytes are valid until the next chunk. Do not add keys until Chunks has ended, because the header has the number
// of keys.
func (f *Filter) Chunks() iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		var buf []byte
		f.chunks(func(end int64, header []byte, words []atomic.Uint64) bool {
			buf = append(slices.Grow(buf[:0], len(words)*8), header...)
			buf = format.AppendWords(buf, words)
			return yield(end, buf)
		})
	}
}

// chunks yields the header, and then the bits in parts of at most maxChunk bytes, until yield returns false. end is the
// iterator of the chunk.
func (f *Filter) chunks(yield func(end int64, header []byte, words []atomic.Uint64) bool) {
	header, layers := f.state()
	end := int64(1)
	more := yield(end, header.append(nil), nil)
	for _, l := range layers {
		for words := l.Words(); more && len(words) > 0; {
			part := words[:min(len(words), maxChunk/8)]
			words = words[len(part):]
			end += int64(len(part)) * 8
			more = yield(end, nil, part)
		}
	}
}

// state returns the layers and a header that agrees with them in the numbers of layers and keys.
func (f *Filter) state() (header, layered.Layers) {
	f.adding.Lock()
	defer f.adding.Unlock()
	h, layers := f.header, f.all()
	h.layers = slices.Clone(h.layers)
	for i := range layers {
		h.layers[i].items, _ = layers[i].Tickets.Count()
	}
	return h, layers
}

// FromDump returns the filter that BF.SCANDUMP returns. It calls scan with 0 and then with the iterator of the last
// call, until scan returns iterator 0. It does not retain data. The filter grows as it would in the server.
//
// The data may be untrusted: FromDump checks every field, and allocates memory as the bytes arrive. There is no
// checksum, so damaged bits are not detected. The only option is [bloom.WithMaxBytes].
//
// The error wraps bloom.ErrCorrupt if the chunks are not a complete filter, bloom.ErrIncompatible if the header has
// options that RedisBloom does not set or a layer has a k above 255, bloom.ErrInvalid for another option of opts, and
// bloom.ErrTooLarge if there is too little memory. If scan fails, FromDump returns its error.
func FromDump(scan func(iterator int64) (next int64, data []byte, err error), opts ...bloom.Option) (*Filter, error) {
	s := &scanner{scan: scan}
	f, err := Read(s, opts...)
	switch {
	case s.err != nil:
		return nil, s.err
	case err == io.EOF:
		return nil, corrupt("no chunk at all")
	}
	return f, err
}

// A scanner reads the replies of BF.SCANDUMP as one stream.
type scanner struct {
	scan       func(iterator int64) (next int64, data []byte, err error)
	iterator   int64
	head, data []byte // of the last chunk, without the bytes that were read
	err        error  // of scan
}

func (s *scanner) Read(p []byte) (int, error) {
	if len(s.head)+len(s.data) == 0 {
		next, data, err := s.scan(s.iterator)
		if err != nil || next == 0 {
			s.err = err
			return 0, cmp.Or(err, io.EOF)
		}
		s.iterator, s.head, s.data = next, appendHead(next, len(data)), data
	}
	from := &s.head
	if len(s.head) == 0 {
		from = &s.data
	}
	n := copy(p, *from)
	*from = (*from)[n:]
	return n, nil
}

// Len lets foreign.Read allocate a layer of one chunk at once.
func (s *scanner) Len() int { return len(s.data) }

// Redis has no file format for a filter. This one is the project's own: for each chunk, in the order of BF.SCANDUMP,
//
//	bytes  field
//	8      iterator, little-endian
//	8      length of the data, little-endian, at most 16 MiB
//	…      data
//
// The empty reply that ends a dump is left out.
const chunkHead = 16

func appendHead(iterator int64, length int) []byte {
	head := binary.LittleEndian.AppendUint64(nil, uint64(iterator))
	return binary.LittleEndian.AppendUint64(head, uint64(length))
}

// WriteTo writes the chunks to w, in a format that [Read] and the command bloom read: per chunk, the iterator and the
// length, in 8 little-endian bytes each, and the bytes. Do not add keys during the call. To save a filter in a file,
// call persist.Save. WriteTo returns any error from w, or one that wraps bloom.ErrInvalid if f is nil or the zero
// Filter.
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) {
	if f == nil || f.layers.Load() == nil {
		return 0, failure.Errorf(bloom.ErrInvalid, "a filter of RedisBloom that is nil or zero, want one of redisbloom.New or Read")
	}
	counter := &format.Counter{W: w}
	f.chunks(func(end int64, header []byte, words []atomic.Uint64) bool {
		head := append(appendHead(end, len(header)+len(words)*8), header...)
		err = foreign.Write(counter, binary.LittleEndian, head, words)
		return err == nil
	})
	return counter.N, err
}

// Read reads a filter that [Filter.WriteTo] has written, or replies of BF.SCANDUMP in this format, to the end of r. It
// takes the option and returns the errors of [FromDump], or any error from r. At the end of the stream it returns
// io.EOF itself.
func Read(r io.Reader, opts ...bloom.Option) (*Filter, error) {
	if err := checkOptions(opts); err != nil {
		return nil, err
	}
	d := &dump{r: r}
	if err := d.next(); err != nil {
		return nil, err
	}
	if most := uint64(headerBytes + maxLayers*layerBytes); d.left > most {
		return nil, corrupt("a header of %d bytes, want at most %d", d.left, most)
	}
	raw := make([]byte, d.left)
	if _, err := format.Full(d, raw, "the header", false); err != nil {
		return nil, err
	}
	f := &Filter{maxBytes: bloom.MaxBytes(opts...)}
	var err error
	if f.header, err = readHeader(raw, f.maxBytes); err != nil {
		return nil, err
	}
	var layers layered.Layers
	for i, shape := range f.header.layers {
		if uint(shape.K) > foreign.MaxK { // on 32 bits, K may be negative
			return nil, failure.Errorf(bloom.ErrIncompatible, "layer %d of %d needs k = %d, want at most %d",
				i+1, len(f.header.layers), shape.K, foreign.MaxK)
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
		l, err := foreign.Read(d, binary.LittleEndian, s)
		if err != nil {
			return nil, cmp.Or(d.err, err)
		}
		layers = layers.Append(l, 0, shape.items, shape.N-shape.items)
	}
	f.layers.Store(&layers)
	if err := d.next(); err == nil {
		return nil, corrupt("%d bytes after the last layer", d.left)
	} else if err != io.EOF {
		return nil, err
	}
	return f, nil
}

// A dump reads the data of the chunks as one stream.
type dump struct {
	r    io.Reader
	end  uint64 // iterator of the last chunk, or 0
	left uint64 // bytes of the last chunk that were not read
	err  error  // set if the head of a chunk is bad
}

// next begins a chunk if all bytes of the last one were read. At the end it returns io.EOF itself.
func (d *dump) next() error {
	if d.left > 0 {
		return nil
	}
	var head [chunkHead]byte
	if _, err := format.Full(d.r, head[:], "the head of a chunk", true); err != nil {
		return err
	}
	iterator, length := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
	switch {
	case length > maxChunk:
		d.err = corrupt("a chunk of %d bytes, want at most %d", length, maxChunk)
	case d.end == 0 && iterator != 1:
		d.err = corrupt("the first chunk has iterator %d, want 1, the header's", int64(iterator))
	case d.end > 0 && (length == 0 || iterator != d.end+length):
		d.err = corrupt("a chunk of %d bytes with iterator %d after %d: one is missing, or out of order", length, int64(iterator), d.end)
	}
	d.end, d.left = iterator, length
	return d.err
}

func (d *dump) Read(p []byte) (int, error) {
	if err := d.next(); err != nil {
		return 0, err
	}
	n, err := d.r.Read(p[:min(uint64(len(p)), d.left)])
	d.left -= uint64(n)
	return n, err
}

// Len returns the number of bytes that are left, so that foreign.Read allocates a layer at once.
func (d *dump) Len() int { return format.AsLen(format.Remaining(d.r)) }
