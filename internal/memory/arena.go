package memory

import (
	"reflect"
	"sync"
	"unsafe"
)

// An Arena is memory for functions that callers give to the library. It is on the heap, and no piece of
// it is given out twice. So a function may keep what it gets: no other call and no stack shares the
// bytes. One allocation serves many calls.
//
// The zero Arena is ready to use. It is not safe for concurrent use.
type Arena[E any] struct {
	block []E
	used  int
}

// The first block is small, and each next one twice as large, up to largestBlock bytes.
const firstBlock, largestBlock = 1 << 10, 64 << 10

// Room returns an empty slice with room for n elements. They are given out again unless Use is called.
func (a *Arena[E]) Room(n int) []E {
	if len(a.block)-a.used < n {
		a.more(n)
	}
	return a.block[a.used : a.used : a.used+n]
}

// Use makes the first n elements of the last Room the caller's.
func (a *Arena[E]) Use(n int) { a.used += n }

func (a *Arena[E]) more(n int) {
	size := int(unsafe.Sizeof(*new(E)))
	a.block, a.used = make([]E, max(n, min(2*len(a.block), largestBlock/size), firstBlock/size)), 0
}

// Copy returns a copy of a slice.
func (a *Arena[E]) Copy(s []E) []E {
	c := append(a.Room(len(s)), s...)
	a.Use(len(s))
	return c
}

// CopyKey returns a copy of a key from an Arena, for a function that the caller gave to the library.
func CopyKey(key []byte) []byte {
	a := keys.Get().(*Arena[byte])
	c := a.Copy(key)
	keys.Put(a)
	return c
}

var keys = sync.Pool{New: func() any { return new(Arena[byte]) }}

// Own says that a function of this module does not keep the key that it gets: it needs no CopyKey.
func Own[F any](f F) F {
	own.Store(reflect.ValueOf(f).Pointer(), nil)
	return f
}

// IsOwn reports whether Own was called with the function.
func IsOwn(f any) bool {
	_, ok := own.Load(reflect.ValueOf(f).Pointer())
	return ok
}

var own sync.Map // of the addresses of their code
