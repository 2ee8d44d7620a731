package guava

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/failure"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/interop/internal/foreign"
)

// The format of BloomFilter.writeTo, all numbers big-endian:
//
//	offset  bytes  field
//	0       1      strategy: 0 is MURMUR128_MITZ_32, 1 is MURMUR128_MITZ_64
//	1       1      k, positions per key: 1 to 255
//	2       4      number of words: 1 to 2^31-1
//	6       8 each words: bit i of the filter is bit i%64 of word i/64
//
// The format has no magic and no checksum, so almost any bytes are a filter.
const headBytes = 6

var strategies = [...]bloom.Strategy{Mitz32, Mitz64}

// Read reads a filter that Guava's writeTo or [Write] has written, in O(m), and nothing beyond its end: several filters
// may follow each other in a stream. It does not read Java serialization (ObjectOutputStream). At the end of the stream
// it returns io.EOF itself. The data has no n and p, so [bloom.BloomFilter.Params] has 0 for both.
//
// Read allocates memory as the bytes arrive. The only option is [bloom.WithMaxBytes]: Read refuses larger filters at
// once. The format has no checksum, so damaged words are not detected.
//
// The error wraps [bloom.ErrCorrupt] if the bytes are not a filter, and also io.ErrUnexpectedEOF if they end too early.
// It wraps [bloom.ErrTooLarge] if the filter is larger than WithMaxBytes or the machine's memory. If r fails, it wraps
// the error of r.
func Read(r io.Reader, opts ...bloom.Option) (*bloom.BloomFilter, error) {
	var head [headBytes]byte
	if _, err := format.Full(r, head[:], "the head", true); err != nil {
		return nil, err
	}
	ordinal, k, words := head[0], head[1], binary.BigEndian.Uint32(head[2:])
	switch {
	case int(ordinal) >= len(strategies):
		return nil, failure.Errorf(bloom.ErrCorrupt, "strategy %d, want 0 or 1", int8(ordinal))
	case k == 0:
		return nil, failure.Errorf(bloom.ErrCorrupt, "k = 0, want 1 to 255")
	case words == 0 || words > math.MaxInt32:
		return nil, failure.Errorf(bloom.ErrCorrupt, "%d words, want 1 to 2^31-1", int32(words))
	}
	s, err := foreign.Scheme(bloom.Params{M: uint64(words) * 64, K: int(k)}, required(strategies[ordinal]), opts)
	if err != nil {
		return nil, err
	}
	return foreign.Read(r, binary.BigEndian, s)
}

// Write writes the filter as Guava's writeTo does, in O(m): [bloom.BloomFilter.SizeBytes] and 6 bytes. Guava's readFrom
// reads it. Write needs 64 KiB of memory. It may run while keys are added: it writes every key whose Add had returned
// before the call.
//
// Write returns any error from w. It writes nothing and returns an error that wraps [bloom.ErrNotPortable] if Guava has
// no such filter: the strategy must be [Mitz32] or [Mitz64], the hash Murmur3 without a seed, and m a multiple of 64
// below 2^37. The error wraps [bloom.ErrInvalid] if f is nil or the zero BloomFilter.
func Write(w io.Writer, f *bloom.BloomFilter) error {
	if err := foreign.Usable(f); err != nil {
		return err
	}
	p, ordinal := f.Params(), byte(1)
	if f.Scheme().Strategy() == Mitz32 {
		ordinal = 0
	}
	if err := foreign.Portable(f, required(strategies[ordinal])...); err != nil {
		return err
	}
	if p.M%64 != 0 || p.M/64 > maxWords {
		return failure.Errorf(bloom.ErrNotPortable, "m = %d bits, want a multiple of 64 up to %d", p.M, uint64(maxWords*64))
	}
	head := binary.BigEndian.AppendUint32([]byte{ordinal, byte(p.K)}, uint32(p.M/64))
	return foreign.Write(w, binary.BigEndian, head, f.Words())
}
