// Package format reads and writes the file of a filter: a header, the words, two checksums; and frames, the files of
// several filters. docs/spec.md describes the bytes. Package bloom interprets the fields of the header.
package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/memory"
)

// A Reader reads a file: call Header, Words and End in this order. It counts the bytes and computes their checksums.
type Reader struct {
	N   int64 // bytes that were read, also if an error followed
	r   io.Reader
	sum Checksum
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

func (in *Reader) full(p []byte, what string) error {
	n, err := Full(in.r, p, what, in.N == 0)
	in.N += int64(n)
	in.sum.Add(p[:n])
	return err
}

// Header reads the header and checks its checksum and version.
func (in *Reader) Header() (Header, error) {
	const what = "the header"
	buf := make([]byte, unit, MaxHeader)
	err := in.full(buf, what)
	if begin := buf[:min(in.N, int64(len(magic)))]; in.N > 0 && !strings.HasPrefix(magic, string(begin)) {
		return Header{}, Unexpected(begin, magic)
	}
	if err != nil {
		return Header{}, err
	}
	strategyEnd := fixed + int(buf[13])
	hashEnd := strategyEnd + int(buf[14])
	buf = buf[:headerBytes(hashEnd-fixed)]
	if err := in.full(buf[unit:], what); err != nil {
		return Header{}, err
	}
	if got, want := sum(buf), binary.LittleEndian.Uint32(buf[checkAt:]); got != want {
		return Header{}, failure.Errorf(failure.ErrCorrupt, "the header has checksum %#08x, want %#08x", got, want)
	}
	if got := buf[len(magic)]; got != Version {
		return Header{}, failure.Errorf(failure.ErrIncompatible, "the data has format version %d, want %d", got, Version)
	}
	for i, b := range buf {
		if (i == 15 || i >= hashEnd) && b != 0 {
			return Header{}, failure.Errorf(failure.ErrCorrupt, "byte %d of the header is %#x, want 0", i, b)
		}
	}
	return Header{
		K:        int(buf[12]),
		M:        binary.LittleEndian.Uint64(buf[16:]),
		N:        binary.LittleEndian.Uint64(buf[24:]),
		P:        math.Float64frombits(binary.LittleEndian.Uint64(buf[32:])),
		Check:    binary.LittleEndian.Uint64(buf[40:]),
		Strategy: string(buf[fixed:strategyEnd]),
		Hash:     string(buf[strategyEnd:hashEnd]),
	}, nil
}

// Words reads the words of m bits, see [ReadWords].
func (in *Reader) Words(m uint64, makeWords MakeWords) ([]atomic.Uint64, error) {
	return ReadWords(binary.LittleEndian, m, Remaining(in.r), makeWords, func(p []byte) error {
		for len(p) > 0 { // in parts, so that the checksums read from the cache
			part := p[:min(len(p), ChunkBytes)]
			if err := in.full(part, "the words"); err != nil {
				return err
			}
			p = p[len(part):]
		}
		return nil
	})
}

// MakeWords is the type of a function that returns n words, all zero.
type MakeWords = func(n uint64) ([]atomic.Uint64, error)

// ReadWords reads the words of m bits. full reads len(p) bytes into p. left is the number of bytes that are known to be
// left in the source. If the words take more, m may be forged. Then ReadWords first reads half of the words in pieces,
// each as large as all pieces before it. So it never holds more than three times what has arrived, and in all allocates
// 1.5 times the memory of the words.
func ReadWords(order binary.ByteOrder, m, left uint64, makeWords MakeWords, full func(p []byte) error) ([]atomic.Uint64, error) {
	total := m/64 + min(m%64, 1)
	var pieces [][]atomic.Uint64
	read, half := uint64(0), total-total/2
	for left < total*8 && total > unit && read < half {
		piece, err := makeWords(min(max(read, unit), half-read))
		if err == nil {
			err = full(memory.BytesOfWords(piece))
		}
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece)
		read += uint64(len(piece))
	}
	all, err := makeWords(total)
	if err != nil {
		return nil, err
	}
	rest := memory.BytesOfWords(all)
	for _, piece := range pieces {
		rest = rest[copy(rest, memory.BytesOfWords(piece)):]
	}
	if err := full(rest); err != nil {
		return nil, err
	}
	ToNative(all, order)
	return all, nil
}

// ToNative converts words from the given byte order to the machine's. No other goroutine may use the words, because
// ToNative uses ordinary stores. They take a third of the time of atomic ones.
func ToNative(w []atomic.Uint64, order binary.ByteOrder) {
	if order.Uint16([]byte{1, 0}) == binary.NativeEndian.Uint16([]byte{1, 0}) {
		return
	}
	plain := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
	for i, x := range plain {
		plain[i] = bits.ReverseBytes64(x)
	}
}

// End reads the checksums and compares them.
func (in *Reader) End() error {
	want := in.sum.AppendTrailer(nil)
	got := make([]byte, TrailerBytes)
	if err := in.full(got, "the checksum"); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return failure.Errorf(failure.ErrCorrupt, "checksum %x, want %x", got, want)
	}
	return nil
}

// Full fills p from r. If r ends too early, the error wraps ErrCorrupt and io.ErrUnexpectedEOF and names what. If first
// is true and nothing was read, the error is io.EOF itself.
func Full(r io.Reader, p []byte, what string, first bool) (int, error) {
	n, err := io.ReadFull(r, p)
	switch {
	case err == nil || err == io.EOF && first:
		return n, err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return n, Truncated(what)
	}
	return n, failure.Reading(what, err)
}

// Truncated returns the error for bytes that end too early. what names the part in which they end.
func Truncated(what string) error {
	return failure.Errorf(failure.ErrCorrupt, "it ends within %s: %w", what, io.ErrUnexpectedEOF)
}
