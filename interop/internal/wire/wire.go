// Package wire reads and writes the words of filters in the formats of other systems.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
	"github.com/seed3447c163/bloom/internal/remaining"
)

// chunkBytes are read and written at a time.
const chunkBytes = 64 << 10

// A Growing is a filter whose bytes arrive piece by piece. It takes at most three times the
// memory of the bytes that have arrived, and exactly the filter's if they are known to come.
type Growing struct {
	scheme bloom.Scheme
	filter *bloom.BloomFilter // nil until the second half of the bytes arrives
	room   []byte
	used   int
}

// NewGrowing returns a filter with the given scheme of which no byte has arrived. It refuses
// a filter that the machine cannot hold.
func NewGrowing(s bloom.Scheme) (*Growing, error) {
	if limit := memory.Limit(); s.SizeBytes() > limit {
		return nil, fmt.Errorf("%w: m = %d bits are %d bytes, this machine has at most %d", bloom.ErrTooLarge, s.Params().M, s.SizeBytes(), limit)
	}
	return &Growing{scheme: s}, nil
}

// Missing returns how many bytes have not arrived.
func (g *Growing) Missing() uint64 { return g.scheme.SizeBytes() - uint64(g.used) }

// Next returns memory for the next bytes, all of which count as arrived. It returns at least
// one byte if some are missing, and at most limit. sure means that all missing bytes are known
// to come.
func (g *Growing) Next(limit int, sure bool) ([]byte, error) {
	if g.used == len(g.room) {
		size := max(2*uint64(g.used), chunkBytes)
		if total := g.scheme.SizeBytes(); size < total && !sure {
			g.room = append(make([]byte, 0, size), g.room...)[:size]
		} else {
			f, err := g.scheme.Filter()
			if err != nil {
				return nil, err
			}
			all := bytesOf(f.Words())
			copy(all, g.room)
			g.filter, g.room = f, all
		}
	}
	next := g.room[g.used:]
	next = next[:min(len(next), limit)]
	g.used += len(next)
	return next, nil
}

// Filter returns the filter whose bytes have all arrived, in words of the given byte order.
func (g *Growing) Filter(order binary.ByteOrder) *bloom.BloomFilter {
	toNative(g.room, order)
	return g.filter
}

// Read reads the words of a filter with the given scheme, and no byte more. It asks for
// memory as the words arrive.
func Read(r io.Reader, order binary.ByteOrder, s bloom.Scheme) (*bloom.BloomFilter, error) {
	g, err := NewGrowing(s)
	if err != nil {
		return nil, err
	}
	sure := remaining.Of(r) >= s.SizeBytes()
	for g.Missing() > 0 {
		next, err := g.Next(chunkBytes, sure)
		if err != nil {
			return nil, err
		}
		if _, err := format.Full(r, next, "the bits", false); err != nil {
			return nil, err
		}
	}
	return g.Filter(order), nil
}

// ReadAt reads the little-endian words of a filter with the given scheme from offset on, in
// one call.
func ReadAt(r io.ReaderAt, offset int64, s bloom.Scheme) (*bloom.BloomFilter, error) {
	g, err := NewGrowing(s)
	if err != nil {
		return nil, err
	}
	all, err := g.Next(int(s.SizeBytes()), true)
	if err != nil {
		return nil, err
	}
	if err := FullAt(r, all, offset, "the bits"); err != nil {
		return nil, err
	}
	return g.Filter(binary.LittleEndian), nil
}

// FullAt fills p, a part of what, from offset on. An early end wraps bloom.ErrCorrupt.
func FullAt(r io.ReaderAt, p []byte, offset int64, what string) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return format.Truncated(what)
	}
	return fmt.Errorf("bloom: reading %s: %w", what, err)
}

// bytesOf views words as memory while no other goroutine has them. Atomic stores would take
// three times as long.
func bytesOf(words []atomic.Uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

// toNative turns words of an order into the machine's.
func toNative(words []byte, order binary.ByteOrder) {
	if order.Uint16([]byte{1, 0}) == binary.NativeEndian.Uint16([]byte{1, 0}) {
		return
	}
	view := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/8)
	for i, w := range view {
		view[i] = bits.ReverseBytes64(w)
	}
}

// Differs returns the strategy and hash of a scheme if they are not those of a system, or "".
func Differs(s bloom.Scheme, strategy bloom.Strategy, hash bloom.Hash) string {
	if s.Strategy() == strategy && s.Hash() == hash {
		return ""
	}
	return fmt.Sprintf("strategy %q and hash %q, want %q and %q", s.Strategy(), s.Hash(), strategy, hash)
}

// Write writes a head and then words. It may run while keys are added.
func Write(w io.Writer, order binary.ByteOrder, head []byte, words []atomic.Uint64) error {
	buf := append(make([]byte, 0, len(head)+min(len(words)*8, chunkBytes)), head...)
	for {
		next := words[:min(len(words), chunkBytes/8)]
		if order == binary.BigEndian { // one instruction per word; a method of order would be a call
			for i := range next {
				buf = binary.BigEndian.AppendUint64(buf, next[i].Load())
			}
		} else {
			for i := range next {
				buf = binary.LittleEndian.AppendUint64(buf, next[i].Load())
			}
		}
		if n, err := w.Write(buf); err != nil {
			return err
		} else if n < len(buf) {
			return io.ErrShortWrite
		}
		if words = words[len(next):]; len(words) == 0 {
			return nil
		}
		buf = buf[:0]
	}
}
