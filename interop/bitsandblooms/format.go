package bitsandblooms

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/interop/internal/wire"
)

// The format of WriteTo, MarshalBinary and GobEncode:
//
//	offset  bytes  field
//	0       8      m, big-endian
//	8       8      k, big-endian
//	16      8      length of the bit set: m, or the bits of its words
//	24      8 each words: bit i of the filter is bit i%64 of word i/64
//
// The bit set, the last two fields, is big-endian, or little-endian in a program that has called
// bitset.LittleEndian. In JSON it is {"m":m,"k":k,"b":"…"}, where b is the bit set in base64, with the URL
// alphabet, or the standard one in a program that has called bitset.Base64StdEncoding. There is no magic and
// no checksum.

// Read reads a filter that WriteTo of bits-and-blooms or [Write] has written, in O(m), and nothing
// beyond its end: several filters may follow each other in a stream. At the end of the stream it
// returns io.EOF itself. The data has no n and p, so [bloom.BloomFilter.Params] has 0 for both.
// It reads both byte orders of the bit set.
//
// Unlike the decoder of bits-and-blooms, it refuses m = 0, k = 0, fewer bits than m, and set bits
// from m on. It allocates memory as the bytes arrive. [bloom.WithMaxBytes], the only option,
// refuses larger filters at once. The format has no checksum, so damage in the words goes
// unnoticed.
//
// The error wraps [bloom.ErrCorrupt] if the bytes are not a filter or k is above 255, and
// io.ErrUnexpectedEOF too if they end too early, [bloom.ErrTooLarge] if the filter is larger than
// WithMaxBytes or the machine's memory, or the error of r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var head [16]byte
	if _, err := format.Full(r, head[:], "the head", true); err != nil {
		return nil, err
	}
	return readBitSet(r, binary.BigEndian.Uint64(head[:]), binary.BigEndian.Uint64(head[8:]), opts)
}

// readBitSet reads the length and the words of a filter with the given m and k.
func readBitSet(r io.Reader, m, k uint64, opts []bloom.Option) (*bloom.BloomFilter, error) {
	switch {
	case m == 0:
		return nil, format.Errorf(bloom.ErrCorrupt, "m = 0 bits, want at least 1")
	case k == 0 || k > maxK:
		return nil, format.Errorf(bloom.ErrCorrupt, "k = %d, want 1 to %d", k, maxK)
	}
	s, err := wire.Scheme(bloom.Params{M: m, K: int(k)}, required, opts)
	if err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := format.Full(r, head[:], "the head", false); err != nil {
		return nil, err
	}
	// The length tells the byte orders apart: no m that fits a memory is the same in both.
	order, length := binary.ByteOrder(binary.BigEndian), binary.BigEndian.Uint64(head[:])
	if swapped := bits.ReverseBytes64(length); !holds(length, m) && holds(swapped, m) {
		order, length = binary.LittleEndian, swapped
	}
	if !holds(length, m) {
		return nil, format.Errorf(bloom.ErrCorrupt, "a set of %d bits for m = %d, want %d words", length, m, s.SizeBytes()/8)
	}
	return wire.Read(r, order, s)
}

// holds reports whether a set of that length has m bits, and as many words.
func holds(length, m uint64) bool { return length >= m && (length-1)/64 == (m-1)/64 }

// Write writes the filter as WriteTo of bits-and-blooms does by default, in O(m):
// [bloom.BloomFilter.SizeBytes] and 24 bytes. It needs 64 KiB of memory and may run
// while keys are added: what it writes contains every key whose Add had returned
// before.
//
// Write returns any error from w, or one that wraps [bloom.ErrNotPortable] if the filter has
// another strategy than [Strategy]. Then it writes nothing.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := wire.Portable(f, required...); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint64(nil, f.Params().M)
	return writeBitSet(w, binary.BigEndian.AppendUint64(head, uint64(f.Params().K)), f)
}

func writeBitSet(w io.Writer, head []byte, f *bloom.BloomFilter) error {
	return wire.Write(w, binary.BigEndian, binary.BigEndian.AppendUint64(head, f.Params().M), f.Words())
}

// ReadJSON reads a filter that MarshalJSON of bits-and-blooms or [WriteJSON] has made, to the end of
// r, and nothing but white space after it. It reads both alphabets of base64. If m and k come after b
// it needs the memory of the bits twice, and then [bloom.WithMaxBytes] does not limit the first copy:
// bound untrusted text by an io.LimitReader. Otherwise it is like [Read].
func ReadJSON(r io.Reader, opts ...bloom.Option) (f *bloom.BloomFilter, err error) {
	var m, k uint64
	err = wire.ReadJSON(r, wire.Object{"m": &m, "k": &k, "b": wire.Bits{
		Ready: func() bool { return m > 0 && k > 0 },
		Read: func(bits io.Reader) (err error) {
			f, err = readBitSet(bits, m, k, opts)
			return err
		},
	}})
	if err == nil && f == nil {
		err = format.Errorf(bloom.ErrCorrupt, "an object without b, want m, k and b")
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// WriteJSON writes what MarshalJSON of bits-and-blooms returns by default, in O(m):
// about 4/3 of [bloom.BloomFilter.SizeBytes]. It returns the errors of [Write].
func WriteJSON(w io.Writer, f *bloom.BloomFilter) error {
	if err := wire.Portable(f, required...); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"m":%d,"k":%d,"b":"`, f.Params().M, f.Params().K); err != nil {
		return err
	}
	text := base64.NewEncoder(base64.URLEncoding, w)
	if err := writeBitSet(text, nil, f); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(w, `"}`)
	return err
}
