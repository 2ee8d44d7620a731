package memory

import (
	"bytes"
	"math/bits"
	"sync"
)

// A Buffer holds the copy of a key that a custom function gets. It is on the heap. A function that wrongly keeps the
// key later reads bytes of other keys, but never a stack or freed memory.
type Buffer struct{ room []byte }

// mostPooled is the length of the longest key that is copied into a Buffer.
const mostPooled = 64 << 10

// Copy returns a copy of a key. The copy is valid until the next call of Copy. A copy of more than 64 KiB is allocated,
// so that one long key does not leave a large Buffer.
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

// GetBuffer returns a Buffer for the caller alone, until Free.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free returns the Buffer to the pool.
func (b *Buffer) Free() { buffers.Put(b) }

var buffers = sync.Pool{New: func() any { return new(Buffer) }}
