package memory

import (
	"bytes"
	"math/bits"
	"sync"
)

// A Buffer has room for the copy of a key, for a function that the caller gave to the library. It is on the heap. So
// a function that keeps its key, which it must not, later reads the bytes of other keys, and never a stack or freed
// memory.
type Buffer struct{ room []byte }

// mostPooled is the largest key whose copy is in memory that is used again.
const mostPooled = 64 << 10

// Copy returns a copy of a key. It is valid until the next Copy. A key above 64 KiB gets memory of its own, so that
// one long key does not leave a large Buffer.
func (b *Buffer) Copy(key []byte) []byte {
	n := len(key)
	if n > cap(b.room) {
		if n > mostPooled {
			return bytes.Clone(key)[:n:n]
		}
		b.room = make([]byte, max(64, 1<<bits.Len(uint(n-1))))
	}
	copied := b.room[:n:n]
	copy(copied, key)
	return copied
}

// GetBuffer returns a Buffer that no other call has.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free gives the Buffer back.
func (b *Buffer) Free() { buffers.Put(b) }

var buffers = sync.Pool{New: func() any { return new(Buffer) }}
