package rebloom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
)

// A filter in a file. Redis has no format for it, so this is the project's own: for each chunk,
// in the order of BF.SCANDUMP,
//
//	bytes  field
//	8      iterator, little-endian
//	8      length of the data, little-endian, at most 16 MiB
//	…      data
//
// and nothing before, between or after. The empty reply that ends a dump is left out.
const chunkHead = 16

// WriteTo writes the chunks to w as a file of them, which [Read] and the command line read.
// Keys must not be added meanwhile. A snapshot that survives a crash is persist.Save(path, f).
//
// The error is that of w.
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) {
	write := func(p []byte) error {
		m, err := w.Write(p)
		n += int64(m)
		if err == nil && m < len(p) {
			err = io.ErrShortWrite
		}
		return err
	}
	for c := range f.Chunks() {
		head := binary.LittleEndian.AppendUint64(nil, uint64(c.Iterator))
		head = binary.LittleEndian.AppendUint64(head, uint64(len(c.Data)))
		if err := errors.Join(write(head), write(c.Data)); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Read reads a filter that [Filter.WriteTo] has written, or that somebody has made of the
// replies of BF.SCANDUMP in this way, to the end of r. Options and errors are those of
// [FromChunks], or it is the error of r. At the end of the stream it is io.EOF itself.
func Read(r io.Reader, opts ...Option) (*Filter, error) {
	return FromChunks(func(yield func(Chunk, error) bool) {
		var data bytes.Buffer
		for first := true; ; first = false {
			c, err := readChunk(r, &data)
			if err == io.EOF && !first || !yield(c, err) || err != nil {
				return
			}
		}
	}, opts...)
}

// readChunk returns io.EOF if there is none. Memory is asked for as the bytes come.
func readChunk(r io.Reader, data *bytes.Buffer) (c Chunk, err error) {
	var head [chunkHead]byte
	if _, err := format.Full(r, head[:], "the head of a chunk", true); err != nil {
		return c, err
	}
	length := binary.LittleEndian.Uint64(head[8:])
	if length > maxChunk {
		return c, corrupt("a chunk of %d bytes, want at most %d", length, maxChunk)
	}
	data.Reset()
	n, err := io.CopyN(data, r, int64(length))
	if err == io.EOF {
		err = fmt.Errorf("%w: it ends after %d of a chunk's %d bytes: %w", bloom.ErrCorrupt, n, length, io.ErrUnexpectedEOF)
	}
	return Chunk{int64(binary.LittleEndian.Uint64(head[:])), data.Bytes()}, err
}
