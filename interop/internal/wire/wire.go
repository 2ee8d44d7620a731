// Package wire reads and writes a filter's words for the formats of other systems.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom"
	"github.com/seed3447c163/bloom/internal/format"
	"github.com/seed3447c163/bloom/internal/memory"
)

// chunkWords are read and written at a time.
const chunkWords = 8192

// Read reads the words of a filter with the given scheme, and no byte more. Memory
// is asked for as the words arrive, at most three times as much and 64 KiB. What the
// machine could not hold is refused before.
func Read(r io.Reader, order binary.ByteOrder, s bloom.Scheme) (*bloom.BloomFilter, error) {
	var (
		f     *bloom.BloomFilter
		words []uint64
		total = s.SizeBytes() / 8
	)
	if limit := memory.Limit(); s.SizeBytes() > limit {
		return nil, fmt.Errorf("%w: m = %d bits are %d bytes, this machine has at most %d", bloom.ErrTooLarge, s.Params().M, s.SizeBytes(), limit)
	}
	for read := uint64(0); read < total; {
		if read == uint64(len(words)) { // all of the first half have arrived: the next is the filter itself
			room := max(2*read, chunkWords)
			if all, known := r.(interface{ Len() int }); known && uint64(all.Len())/8 >= total-read { // they are there, in memory
				room = total
			}
			var larger []uint64
			if room < total {
				larger = make([]uint64, room)
			} else {
				var err error
				if f, err = s.Filter(); err != nil {
					return nil, err
				}
				larger = plain(f.Words())
			}
			copy(larger, words)
			words = larger
		}
		next := words[read:min(read+chunkWords, uint64(len(words)))]
		chunk := unsafe.Slice((*byte)(unsafe.Pointer(&next[0])), len(next)*8)
		if _, err := format.Full(r, chunk, "the bits", false); err != nil {
			return nil, err
		}
		if order == binary.BigEndian { // one instruction a word, where order itself would be a call
			for i := range next {
				next[i] = binary.BigEndian.Uint64(chunk[i*8:])
			}
		} else {
			for i := range next {
				next[i] = binary.LittleEndian.Uint64(chunk[i*8:])
			}
		}
		read += uint64(len(next))
	}
	return f, nil
}

// plain views words as such, while no other goroutine has them: atomic stores would take
// three times as long.
func plain(words []atomic.Uint64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// Differs returns what a scheme has in place of a system's strategy and hash, or "".
func Differs(s bloom.Scheme, strategy bloom.Strategy, hash bloom.Hash) string {
	if s.Strategy() == strategy && s.Hash() == hash {
		return ""
	}
	return fmt.Sprintf("strategy %q and hash %q, want %q and %q", s.Strategy(), s.Hash(), strategy, hash)
}

// Write writes a head and then words. It may run while keys are added.
func Write(w io.Writer, order binary.ByteOrder, head []byte, words []atomic.Uint64) error {
	buf := append(make([]byte, 0, len(head)+min(len(words), chunkWords)*8), head...)
	for {
		next := words[:min(len(words), chunkWords)]
		if order == binary.BigEndian { // as in Read
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
