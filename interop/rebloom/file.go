package rebloom

import (
	"encoding/binary"
	"io"
	"sync/atomic"

	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// Redis has no format for a filter in a file, so this one is the project's own: for each chunk,
// in the order of BF.SCANDUMP,
//
//	bytes  field
//	8      iterator, little-endian
//	8      length of the data, little-endian, at most 16 MiB
//	…      data
//
// and nothing before, between or after. The empty reply that ends a dump is left out.
const chunkHead = 16

// WriteTo writes the chunks to w as a file of them, which [Read] and the command read. Keys must
// not be added meanwhile. A snapshot that survives a crash is persist.Save(path, f).
//
// The error is that of w.
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) {
	counter := &countingWriter{w: w}
	write := func(iterator int64, data []byte, words []atomic.Uint64) error {
		head := binary.LittleEndian.AppendUint64(nil, uint64(iterator))
		head = binary.LittleEndian.AppendUint64(head, uint64(len(data)+len(words)*8))
		return wire.Write(counter, binary.LittleEndian, append(head, data...), words)
	}
	layers := f.all()
	err = write(1, f.header(layers), nil)
	for end, words := range parts(layers) {
		if err == nil {
			err = write(end, nil, words)
		}
	}
	return counter.n, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Read reads a filter that [Filter.WriteTo] has written, or that was made of the replies of
// BF.SCANDUMP in this format, to the end of r. Options and errors are those of [FromChunks], or
// the error is that of r. At the end of the stream it is io.EOF itself.
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	c, err := newConfig(config{}, opts)
	if err != nil {
		return nil, err
	}
	parts := reader{limit: c.maxBytes}
	for first := true; ; first = false {
		var head [chunkHead]byte
		_, err := format.Full(r, head[:], "the head of a chunk", true)
		if err == io.EOF && !first {
			return parts.filter(c)
		}
		if err != nil {
			return nil, err
		}
		iterator, length := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
		if length > maxChunk {
			return nil, corrupt("a chunk of %d bytes, want at most %d", length, maxChunk)
		}
		if err := parts.take(int64(iterator), length, r); err != nil {
			return nil, err
		}
	}
}
