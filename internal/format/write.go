package format

import (
	"encoding/binary"
	"io"
	"sync/atomic"
)

// ChunkBytes is the size of a write. The bytes stay in the cache while they are filled, checksummed and written. See
// BenchmarkEncoding of package bloom.
const ChunkBytes = 64 << 10

// FileBytes returns the size of a file with the given number of words.
func (h *Header) FileBytes(words int) uint64 {
	return uint64(h.Bytes()) + uint64(words)*8 + TrailerBytes
}

// Write writes a file. Other goroutines may add keys meanwhile.
func (h *Header) Write(w io.Writer, words []atomic.Uint64) (written int64, err error) {
	var sum Checksum
	buf := h.Append(make([]byte, 0, min(h.FileBytes(len(words)), ChunkBytes+TrailerBytes)))
	for done := false; !done; buf = buf[:0] {
		fit := min(len(words), (ChunkBytes-len(buf))/8)
		buf = AppendWords(buf, words[:fit])
		words = words[fit:]
		sum.Add(buf)
		if done = len(words) == 0; done {
			buf = sum.AppendTrailer(buf)
		}
		n, err := w.Write(buf)
		written += int64(n)
		if err == nil && n < len(buf) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// AppendWords appends the bytes of the words to dst. dst must have the capacity. AppendWords loads each word
// atomically, because keys may be added meanwhile. One bounds check for eight words takes a third of the time.
func AppendWords(dst []byte, words []atomic.Uint64) []byte {
	le, out := binary.LittleEndian, dst[len(dst):len(dst)+len(words)*8]
	dst = dst[:len(dst)+len(out)]
	for ; len(words) >= 8; words, out = words[8:], out[64:] {
		w, o := (*[8]atomic.Uint64)(words), (*[64]byte)(out)
		le.PutUint64(o[0:], w[0].Load())
		le.PutUint64(o[8:], w[1].Load())
		le.PutUint64(o[16:], w[2].Load())
		le.PutUint64(o[24:], w[3].Load())
		le.PutUint64(o[32:], w[4].Load())
		le.PutUint64(o[40:], w[5].Load())
		le.PutUint64(o[48:], w[6].Load())
		le.PutUint64(o[56:], w[7].Load())
	}
	for i := range words {
		le.PutUint64(out[i*8:], words[i].Load())
	}
	return dst
}

// A Counter writes to W and counts the bytes.
type Counter struct {
	W io.Writer
	N int64
}

func (c *Counter) Write(p []byte) (int, error) {
	n, err := c.W.Write(p)
	c.N += int64(n)
	return n, err
}
