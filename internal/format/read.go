package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/seed3447c163/bloom/internal/remaining"
)

// A Reader reads a file: its header, its words, its end. It counts and checksums the bytes.
type Reader struct {
	N   int64 // bytes that were read, also in case of an error
	r   io.Reader
	sum Checksum
}

// NewReader returns a Reader that has read nothing yet.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

func (in *Reader) full(p []byte, what string) error {
	n, err := Full(in.r, p, what, in.N == 0)
	in.N += int64(n)
	in.sum.Add(p[:n])
	return err
}

// Words reads the words of m bits, in arrays that makeWords makes. They grow as the words
// arrive, to at most double their size; where it is known that they are there, the whole is
// made at once.
func (in *Reader) Words(m uint64, makeWords func(words uint64) ([]atomic.Uint64, error)) ([]atomic.Uint64, error) {
	total := m/64 + min(m%64, 1)
	room := min(total, unit) // about as much as has arrived
	if remaining.Of(in.r) >= total*8 {
		room = total
	}
	words, err := makeWords(room)
	if err != nil {
		return nil, err
	}
	for read := uint64(0); read < total; {
		if read == room {
			room = min(total, 2*room)
			larger, err := makeWords(room)
			if err != nil {
				return nil, err
			}
			copy(memoryOf(larger), memoryOf(words))
			words = larger
		}
		end := min(room, read+ChunkBytes/8)
		if err := in.full(memoryOf(words[read:end]), "the words"); err != nil {
			return nil, err
		}
		read = end
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		raw := memoryOf(words)
		for i := range words {
			words[i].Store(binary.LittleEndian.Uint64(raw[i*8:]))
		}
	}
	return words, nil
}

// End reads the checksums and compares them.
func (in *Reader) End() error {
	want := in.sum.AppendTrailer(nil)
	got := make([]byte, TrailerBytes)
	if err := in.full(got, "the checksum"); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: checksum %x, want %x", ErrCorrupt, got, want)
	}
	return nil
}

// memoryOf views words as memory, while nobody else knows of them.
func memoryOf(words []atomic.Uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}
