package bloom

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/remaining"
)

// Read reads a filter that [BloomFilter.WriteTo] has written, in O(m), and nothing
// beyond its end: several filters may follow each other in a stream. At the end of
// the stream it returns io.EOF itself.
//
// Options say what the reader knows or wants. A filter made [WithKey] needs the
// same key, one with a strategy or hash of one's own needs that, by [WithStrategy] or
// [WithHash]: it is found by its name. Whatever is given, also a builtin strategy, a hash or a seed,
// must be what the filter was made with; without options every other filter is
// read. [WithMaxBytes] bounds the filter's memory.
//
// The bytes may come from a stranger: every field is checked, and memory is asked
// for as the bytes arrive, never more than three times as much. Damage is found:
// always if the end is missing or up to three bits differ, otherwise but once in
// 2^64 times. It is not if someone made it who can compute a CRC: such a filter is
// sound, but may contain everything, which [BloomFilter.FillRatio] shows.
//
// The error wraps [ErrCorrupt] if the bytes are not a filter or damaged, and
// io.ErrUnexpectedEOF too if they end too early, [ErrIncompatible] if the filter
// does not agree with the options or needs one that is missing, or was written by
// a later version of this package, [ErrTooLarge] if it is larger than the machine's
// memory or WithMaxBytes, or the error of r.
func Read(r io.Reader, opts ...Option) (*BloomFilter, error) {
	o, err := options{maxBytes: math.MaxUint64}.with(opts)
	if err != nil {
		return nil, err
	}
	f, _, err := read(r, o)
	return f, err
}

// ReadFrom replaces the filter by one that it reads as [Read] does, exactly one,
// and not until the end of r. The receiver may be the zero BloomFilter. The secret key,
// the strategy or the hash of one's own with which it was made serves to read, as if given
// to Read by [WithKey], [WithStrategy] and [WithHash]; otherwise it does not matter what
// it was. For other options, use Read.
//
// If there is an error, the receiver is unchanged. Unlike the other methods,
// ReadFrom must not be called while others use the filter.
func (f *BloomFilter) ReadFrom(r io.Reader) (int64, error) {
	o, own := options{maxBytes: math.MaxUint64}, f.scheme.orNone()
	if own.strategy.get().own() {
		o.strategy = own.strategy
	}
	switch {
	case own.hash.hash == &sipHash:
		key := own.hash.key()
		o.key = &key
	case own.hash.hash.own():
		o.hash = own.hash.hash
	}
	g, n, err := read(r, o)
	if err != nil {
		return n, err
	}
	*f = *g
	return n, nil
}

// UnmarshalBinary is [BloomFilter.ReadFrom] for bytes that are one filter, and
// nothing more. It keeps nothing of data, and like ReadFrom must not be called while
// others use the filter. It implements encoding.BinaryUnmarshaler, so that
// encoding/gob works.
func (f *BloomFilter) UnmarshalBinary(data []byte) error {
	r := bytes.NewReader(data)
	var g BloomFilter
	g.scheme = f.scheme
	switch _, err := g.ReadFrom(r); {
	case err == io.EOF:
		return truncated("a filter", err)
	case err != nil:
		return err
	case r.Len() > 0:
		return fmt.Errorf("%w: %d bytes after the end of the filter", ErrCorrupt, r.Len())
	}
	*f = g
	return nil
}

// UnmarshalText is [BloomFilter.UnmarshalBinary] of text in base64. Newlines in it
// are ignored. It implements encoding.TextUnmarshaler, so that encoding/json works.
func (f *BloomFilter) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return f.UnmarshalBinary(data)
}

// read reads a filter and checks it against the options. n is how many bytes were
// read, also in case of an error.
func read(r io.Reader, o options) (f *BloomFilter, n int64, err error) {
	in := &source{r: r}
	h, err := in.header()
	if err != nil {
		return nil, in.n, err
	}
	s, err := h.scheme(o)
	if err != nil {
		return nil, in.n, err
	}
	b, err := in.words(s.params.M)
	if err != nil {
		return nil, in.n, err
	}
	if err := in.trailer(); err != nil {
		return nil, in.n, err
	}
	if tail := s.params.M % 64; tail != 0 {
		if last := b[len(b)-1].Load(); last>>tail != 0 {
			return nil, in.n, fmt.Errorf("%w: last word %#x has bits beyond m = %d, want none", ErrCorrupt, last, s.params.M)
		}
	}
	return s.filter(b), in.n, nil
}

// A source counts and checksums the bytes that are read from it.
type source struct {
	r   io.Reader
	n   int64
	sum checksum
}

// full fills p, which is part of what.
func (in *source) full(p []byte, what string) error {
	n, err := io.ReadFull(in.r, p)
	in.n += int64(n)
	in.sum.add(p[:n])
	switch {
	case err == nil:
		return nil
	case in.n == 0 && err == io.EOF:
		return err
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return truncated(what, err)
	}
	return fmt.Errorf("bloom: reading %s: %w", what, err)
}

// truncated is the error for bytes that end within what.
func truncated(what string, err error) error {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: it ends within %s: %w", ErrCorrupt, what, err)
}

// words reads m bits. The array grows as they arrive, to at most double their
// size; where it is known that they are there, it is made at once.
func (in *source) words(m uint64) (bitArray, error) {
	if err := checkMemory(m); err != nil {
		return nil, err
	}
	total := wordsFor(m)
	room := min(total, headerUnit) // about as much as has arrived
	if remaining.Of(in.r) >= total*8 {
		room = total
	}
	b, err := tryWords(m, room)
	if err != nil {
		return nil, err
	}
	for read := uint64(0); read < total; {
		if read == room {
			room = min(total, 2*room)
			larger, err := tryWords(m, room)
			if err != nil {
				return nil, err
			}
			copy(larger.bytes(), b.bytes())
			b = larger
		}
		end := min(room, read+chunkBytes/8)
		if err := in.full(b[read:end].bytes(), "the words"); err != nil {
			return nil, err
		}
		read = end
	}
	b.fromLittleEndian()
	return b, nil
}

// trailer reads the checksum and compares.
func (in *source) trailer() error {
	want := in.sum.append(nil)
	got := make([]byte, trailerBytes)
	if err := in.full(got, "the checksum"); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: checksum %x, want %x", ErrCorrupt, got, want)
	}
	return nil
}

// bytes views the words as memory, while nobody else knows of them.
func (b bitArray) bytes() []byte {
	return unsafe.Slice((*byte)(b.start()), len(b)*8)
}

// fromLittleEndian makes words of the little-endian bytes in their memory.
func (b bitArray) fromLittleEndian() {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return
	}
	raw := b.bytes()
	for i := range b {
		b[i].Store(binary.LittleEndian.Uint64(raw[i*8:]))
	}
}
