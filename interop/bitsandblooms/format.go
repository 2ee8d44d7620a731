package bitsandblooms

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// The format of WriteTo, MarshalBinary and GobEncode:
//
//	offset  bytes  field
//	0       8      m, big-endian
//	8       8      k, big-endian
//	16      8      length of the bit set: m, or the bits of its words
//	24      8 each words: bit i of the filter is bit i%64 of word i/64
//
// The last two fields are the bit set. It is big-endian, or little-endian in a program that has called
// bitset.LittleEndian. The JSON text is {"m":m,"k":k,"b":"…"}, where b is the bit set in base64 with the URL alphabet,
// or with the standard alphabet in a program that has called bitset.Base64StdEncoding. There is no magic and no
// checksum.

// Read reads a filter that WriteTo of bits-and-blooms or [Write] has written, in O(m), and nothing beyond its end:
// several filters may follow each other in a stream. At the end of the stream it returns io.EOF itself. The data has no
// n and p, so [bloom.BloomFilter.Params] has 0 for both. Read accepts both byte orders of the bit set, and tells them
// apart by its length. If the bytes of the length read the same forwards and backwards, it assumes big-endian, the
// default. Such lengths below 2^40 are multiples of 0x101000000.
//
// Unlike the decoder of bits-and-blooms, Read refuses m = 0, k = 0, fewer bits than m, and set bits beyond m. It
// allocates memory as the bytes arrive. The only option is [bloom.WithMaxBytes]: Read refuses larger filters at once.
// The format has no checksum, so damaged words are not detected.
//
// The error wraps [bloom.ErrCorrupt] if the bytes are not a filter or k is above 255, and also io.ErrUnexpectedEOF if
// they end too early. It wraps [bloom.ErrTooLarge] if the filter is larger than WithMaxBytes or the machine's memory.
// If r fails, it wraps the error of r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var head [24]byte
	if _, err := format.Full(r, head[:], "the head", true); err != nil {
		return nil, err
	}
	s, order, err := shape(binary.BigEndian.Uint64(head[:]), binary.BigEndian.Uint64(head[8:]), head[16:], opts)
	if err != nil {
		return nil, err
	}
	return foreign.Read(r, order, s)
}

// shape returns the scheme of a filter and the byte order of its bit set. length is the bit set's length field.
func shape(m, k uint64, length []byte, opts []bloom.Option) (s *bloom.Scheme, order binary.ByteOrder, err error) {
	switch {
	case m == 0:
		return s, nil, failure.Errorf(bloom.ErrCorrupt, "m = 0 bits, want at least 1")
	case k == 0 || k > foreign.MaxK:
		return s, nil, failure.Errorf(bloom.ErrCorrupt, "k = %d, want 1 to %d", k, foreign.MaxK)
	}
	if len(opts) == 0 {
		s, err = Scheme(m, int(k))
	} else {
		s, err = foreign.Scheme(bloom.Params{M: m, K: int(k)}, required, opts)
	}
	if err != nil {
		return s, nil, err
	}
	// Only one byte order gives a length that fits m, unless both give the same.
	for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
		if holds(order.Uint64(length), m) {
			return s, order, nil
		}
	}
	return s, nil, failure.Errorf(bloom.ErrCorrupt, "a set of %d bits for m = %d, want %d words",
		binary.BigEndian.Uint64(length), m, s.SizeBytes()/8)
}

// holds reports whether a bit set of length bits has m bits, and as many words as m bits need.
func holds(length, m uint64) bool { return length >= m && (length-1)/64 == (m-1)/64 }

// Write writes the filter as WriteTo of bits-and-blooms does by default, in O(m): [bloom.BloomFilter.SizeBytes] and 24
// bytes. It needs 64 KiB of memory. It may run while keys are added: it writes every key whose Add had returned before
// the call.
//
// Write returns any error from w. It writes nothing and returns an error that wraps [bloom.ErrNotPortable] if the
// filter has another strategy than [Strategy], or [bloom.ErrInvalid] if f is nil or the zero BloomFilter.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := portable(f); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint64(nil, f.Params().M)
	return writeBitSet(w, binary.BigEndian.AppendUint64(head, uint64(f.Params().K)), f)
}

// portable returns the errors of foreign.Portable in a tenth of the time. It checks only the strategy, because filters
// of this strategy have no choice of hash or seed.
func portable(f *bloom.BloomFilter) error {
	if f != nil && f.Scheme() != nil && f.Scheme().Strategy() == Strategy {
		return nil
	}
	return foreign.Portable(f, required...)
}

func writeBitSet(w io.Writer, head []byte, f *bloom.BloomFilter) error {
	return foreign.Write(w, binary.BigEndian, binary.BigEndian.AppendUint64(head, f.Params().M), f.Words())
}

// ReadJSON reads a filter that MarshalJSON of bits-and-blooms or [WriteJSON] has made. It reads r to the end. Only
// white space may follow the value. It reads both alphabets of base64. [bloom.WithMaxBytes] limits only the bits: limit
// untrusted text with an io.LimitReader. Otherwise ReadJSON is like [Read].
func ReadJSON(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var parts struct {
		M uint64  `json:"m"`
		K uint64  `json:"k"`
		B *string `json:"b"`
	}
	set, err := foreign.ReadJSON(r, &parts, []string{"b"}, opts)
	if err != nil {
		return nil, err
	}
	if parts.B == nil || *parts.B != "" || set.Bytes < 8 { // a second field, such as "B", may have overwritten b
		return nil, failure.Errorf(bloom.ErrCorrupt, "field b has %d bytes, want at least 8, once", set.Bytes)
	}
	s, order, err := shape(parts.M, parts.K, memory.BytesOfWords(set.Words[:1]), opts)
	if err != nil {
		return nil, err
	}
	if want := 8 + s.SizeBytes(); set.Bytes != want {
		return nil, failure.Errorf(bloom.ErrCorrupt, "field b has %d bytes, want %d for m = %d", set.Bytes, want, parts.M)
	}
	return foreign.Over(s, order, set.Words[1:])
}

// WriteJSON writes what MarshalJSON of bits-and-blooms returns by default, in O(m):
// about 4/3 of [bloom.BloomFilter.SizeBytes]. It returns the errors of [Write].
func WriteJSON(w io.Writer, f *bloom.BloomFilter) error {
	if err := portable(f); err != nil {
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
