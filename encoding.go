package bloom

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// The format, version 1, frozen. All numbers are little-endian, n and p are 0 if
// unknown, h is 48+S+H rounded up to a multiple of 64.
//
//	offset  bytes        field
//	0       7            magic: 89 62 6c 6f 6f 6d 0a ("bloom" between a byte that is no text and a newline)
//	7       1            version: 1
//	8       4            CRC-32 of the header's other bytes, [0, 8) and [12, h)
//	12      1            k, bits that belong to a key: 1 to 64, or 255 with some strategies
//	13      1            S, the length of the strategy's name
//	14      1            H, the length of the hash's name
//	15      1            0
//	16      8            m, bits of the filter: at least 1
//	24      8            n, keys it is planned for
//	32      8            p, false-positive rate at n keys: IEEE 754
//	40      8            the seed, or what stands for the secret key
//	48      S            the strategy's name
//	48+S    H            the hash's name
//	48+S+H  …            zeros
//	h       8·⌈m/64⌉     words: bit i of the filter is bit i%64 of word i/64; bits from m on are 0
//	…       4            CRC-32 of everything before it
//	…       4            CRC-32C of everything before it
//
// Bytes 0 to 15 keep their meaning in every version, so that damage is told from
// news. The words begin a cache line where the file is mapped into memory.
// docs/format.md has the numbers, and a reader in Python.
//
// CRC-32 is that of zlib, polynomial 0x04c11db7; CRC-32C has 0x1edc6f41. Together
// they are a CRC of 64 bits, for a seventh of the time of hash/crc64, which has
// no hardware behind it. They find every change of up to three bits in a file of
// any size, every odd number of them and every burst of up to 32; any other damage
// goes unnoticed once in 2^64 times. They are no defence against someone who
// means to forge a filter.
const (
	fileMagic    = "\x89bloom\n"
	fileVersion  = 1
	checkAt      = 8  // where the header's checksum is
	fixedHeader  = 48 // what the header has before the name
	headerUnit   = 64
	maxName      = math.MaxUint8
	trailerBytes = 8

	// chunkBytes are written at a time: few enough to stay in the cache between
	// the filling, the checksums and the copy that Write makes. BenchmarkWriteTo.
	chunkBytes = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A checksum is that of the bytes so far.
type checksum struct{ ieee, castagnoli uint32 }

func (c *checksum) add(p []byte) {
	c.ieee = crc32.Update(c.ieee, crc32.IEEETable, p)
	c.castagnoli = crc32.Update(c.castagnoli, castagnoli, p)
}

// append appends the two checksums to dst, the second over the first too: a change
// of three bits, one of them in the first, is then odd for the second.
func (c checksum) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.ieee)
	return binary.LittleEndian.AppendUint32(dst, crc32.Update(c.castagnoli, castagnoli, dst[len(dst)-4:]))
}

// encodedBytes returns the size of the filter in its format.
func (f *BloomFilter) encodedBytes() uint64 {
	return uint64(f.scheme.orNone().headerBytes()) + f.SizeBytes() + trailerBytes
}

// WriteTo writes the filter to w, in O(m): [BloomFilter.SizeBytes] and from 72 to
// 568 bytes more. The bytes are the same on every architecture and readable for
// ever, by [Read] and by [BloomFilter.ReadFrom]. They hold no secret key, only a
// number by which it is recognised.
//
// It needs 64 KiB of memory, whatever the filter's size, and may run while keys
// are added: what it writes contains every key whose Add had returned before
// WriteTo was called. (It may contain some bits of later ones.)
//
// The error is that of w, or wraps [ErrNotPortable] if the bytes would mean
// nothing to another process: with [MapHash], or with a strategy or a hash of one's own
// that has no name. Then nothing is written.
func (f *BloomFilter) WriteTo(w io.Writer) (int64, error) {
	if err := f.scheme.orNone().portable(); err != nil {
		return 0, err
	}
	var (
		sum     checksum
		written int64
		words   = f.bits
		buf     = f.scheme.appendHeader(make([]byte, 0, min(f.encodedBytes(), chunkBytes+trailerBytes)))
	)
	for done := false; !done; buf = buf[:0] {
		fit := min(len(words), (chunkBytes-len(buf))/8)
		buf = words[:fit].appendTo(buf)
		words = words[fit:]
		sum.add(buf)
		if done = len(words) == 0; done {
			buf = sum.append(buf)
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

// appendTo appends the words' bytes to dst, which has room for them. The words are
// loaded one by one and atomically, as others may be adding keys. Eight at a time,
// without a check between them, takes a third of the time. BenchmarkWriteTo.
func (b bitArray) appendTo(dst []byte) []byte {
	le, out := binary.LittleEndian, dst[len(dst):len(dst)+len(b)*8]
	dst = dst[:len(dst)+len(out)]
	for ; len(b) >= blockWords; b, out = b[blockWords:], out[blockWords*8:] {
		w, o := (*block)(b), (*[blockWords * 8]byte)(out)
		le.PutUint64(o[0:], w[0].Load())
		le.PutUint64(o[8:], w[1].Load())
		le.PutUint64(o[16:], w[2].Load())
		le.PutUint64(o[24:], w[3].Load())
		le.PutUint64(o[32:], w[4].Load())
		le.PutUint64(o[40:], w[5].Load())
		le.PutUint64(o[48:], w[6].Load())
		le.PutUint64(o[56:], w[7].Load())
	}
	for i := range b {
		le.PutUint64(out[i*8:], b[i].Load())
	}
	return dst
}

// appender is an io.Writer that never fails.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// The marshalling methods have values as receivers, as a filter that is a field of
// a struct, not a pointer, would otherwise be taken by encoding/json for a struct
// without fields, and all its keys be lost without an error.

// AppendBinary appends what [BloomFilter.WriteTo] writes to dst. It implements
// encoding.BinaryAppender. The error is WriteTo's, or wraps [ErrTooLarge] on a 32-bit
// system if there is no slice that long.
func (f BloomFilter) AppendBinary(dst []byte) ([]byte, error) {
	if err := f.scheme.orNone().portable(); err != nil {
		return dst, err
	}
	size, err := f.roomFor(1)
	if err != nil {
		return dst, err
	}
	a := appender(slices.Grow(dst, size))
	_, err = f.WriteTo(&a)
	return a, err
}

// roomFor returns the size of the encoded filter, times times of which must fit a slice.
func (f *BloomFilter) roomFor(times uint64) (int, error) {
	size := f.encodedBytes()
	if size > math.MaxInt/times {
		return 0, fmt.Errorf("%w: the filter is written as %d bytes, want at most %d: use WriteTo", ErrTooLarge, size, math.MaxInt/times)
	}
	return int(size), nil
}

// MarshalBinary returns what [BloomFilter.WriteTo] writes. It implements
// encoding.BinaryMarshaler, so that encoding/gob works.
func (f BloomFilter) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }

// AppendText appends what [BloomFilter.WriteTo] writes, in base64, to dst. It
// implements encoding.TextAppender.
func (f BloomFilter) AppendText(dst []byte) ([]byte, error) {
	if err := f.scheme.orNone().portable(); err != nil {
		return dst, err
	}
	size, err := f.roomFor(2)
	if err != nil {
		return dst, err
	}
	a := appender(slices.Grow(dst, base64.StdEncoding.EncodedLen(size)))
	text := base64.NewEncoder(base64.StdEncoding, &a)
	if _, err = f.WriteTo(text); err == nil {
		err = text.Close()
	}
	return a, err
}

// MarshalText returns what [BloomFilter.WriteTo] writes, in base64. It implements
// encoding.TextMarshaler, so that encoding/json works.
func (f BloomFilter) MarshalText() ([]byte, error) { return f.AppendText(nil) }
