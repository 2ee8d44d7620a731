package stepped

import (
	"sync"
	"unsafe"
)

// A Bool replaces atomic.Bool. Its operations are steps.
type Bool struct{ x Int64 }

func (b *Bool) Load() bool       { return b.x.Load() != 0 }
func (b *Bool) Store(value bool) { b.x.Store(bit(value)) }

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A Shared replaces atomic.Pointer. Its operations are steps.
type Shared[T any] struct{ p *T }

func (x *Shared[T]) do(f func(old *T) (next *T, found uint64)) {
	access(unsafe.Pointer(x), nil, func() (found, before, after uint64) {
		old := x.p
		next, found := f(old)
		x.p = next
		return found, nameOf(unsafe.Pointer(old)), nameOf(unsafe.Pointer(next))
	})
}

func (x *Shared[T]) Load() (value *T) {
	x.do(func(old *T) (*T, uint64) { value = old; return old, nameOf(unsafe.Pointer(old)) })
	return value
}

func (x *Shared[T]) Store(value *T) {
	x.do(func(*T) (*T, uint64) { return value, 0 })
}

func (x *Shared[T]) Swap(value *T) (before *T) {
	x.do(func(old *T) (*T, uint64) { before = old; return value, nameOf(unsafe.Pointer(old)) })
	return before
}

// A Mutex replaces sync.Mutex. To Explore, the result of Lock is a hash of the results of earlier holders: these
// determine the data that the lock protects.
type Mutex struct {
	locked bool
	past   uint64
}

func (m *Mutex) Lock() {
	access(unsafe.Pointer(m), func() bool { return !m.locked }, func() (found, before, after uint64) {
		if m.locked {
			panic("stepped: locked, and no thread can unlock it")
		}
		m.locked = true
		return m.past, m.past, m.past + 1
	})
}

// Name locks and unlocks the given locks in order. The function that makes a World calls it, so that Explore recognises
// each lock in every run.
func Name(locks ...sync.Locker) {
	for _, l := range locks {
		l.Lock()
		defer l.Unlock()
	}
}

func (m *Mutex) TryLock() bool {
	if m.locked {
		return false
	}
	m.Lock()
	return true
}

func (m *Mutex) Unlock() {
	access(unsafe.Pointer(m), nil, func() (found, before, after uint64) {
		before = m.past + 1
		m.locked = false
		if current != nil {
			m.past = mix(current.found, current.id)
		}
		return 0, before, m.past
	})
}

// A Once replaces sync.Once. The function passed to Do must have no steps.
type Once struct{ done Int64 }

func (o *Once) Do(f func()) {
	if o.done.Swap(1) == 0 {
		f()
	}
}

// Closed lets the thread wait until a channel is closed.
func Closed(c <-chan struct{}) {
	closed := func() bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	Until(closed)
}

// Until lets the thread wait until ready returns true. ready must have no steps.
func Until(ready func() bool) {
	if current != nil && current.pause != nil {
		access(nil, ready, func() (found, before, after uint64) { return 0, 0, 0 })
	}
}
