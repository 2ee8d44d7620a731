// Package tickets counts down from a number, in several cache lines, so that goroutines do not
// contend for one.
package tickets

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Box holds tickets, one for each key. Its methods are safe for concurrent use.
//
// A goroutine that has taken a ticket keeps it for a key, gives it back, or loses it. Each goroutine takes
// from a cell of its own, without a lock. If that is empty, it moves half of another cell there. So
// every ticket is given out, mostly from a cache line that no other processor writes.
type Box struct {
	cells []cell
	shift uint
	size  uint64 // tickets in all

	moving sync.Mutex   // held while tickets go from one cell to another
	given  atomic.Int64 // given back, and in no cell yet
	lost   atomic.Int64
}

type cell struct {
	left atomic.Int64
	_    [64 - 8]byte // a cache line each
}

// New returns a box for a filter of that many bits: taken tickets have keys, and left ones can be taken.
func New(taken, left, bits uint64) *Box {
	// Four cells per processor: goroutines choose theirs by hashing, and seldom meet. Few tickets
	// get few cells. So do few bits: a file may claim any number of tickets.
	cells, shift := 4, uint(62)
	for cells < 4*runtime.GOMAXPROCS(0) && cells < 256 && uint64(cells) < min(left, bits)/64 {
		cells, shift = cells*2, shift-1
	}
	b := &Box{cells: make([]cell, cells), shift: shift, size: taken + left}
	each, more := left/uint64(cells), left%uint64(cells)
	for i := range b.cells {
		b.cells[i].left.Store(int64(each))
		if uint64(i) < more {
			b.cells[i].left.Add(1)
		}
	}
	return b
}

// own returns which cell this goroutine should use. The address of its stack serves as an
// identity: goroutines that run at the same time have different stacks. It is only a hint.
func (b *Box) own() uint64 {
	var here byte
	stack := uint64(uintptr(unsafe.Pointer(&here))) >> 11 // no stack is smaller than 2 KiB
	return stack * 0x9e3779b97f4a7c15 >> b.shift
}

// Take takes a ticket and reports whether there was one.
func (b *Box) Take() bool {
	own := &b.cells[b.own()]
	return own.take() || b.fetch(own)
}

func (c *cell) take() bool {
	for {
		left := c.left.Load()
		if left == 0 {
			return false
		}
		if c.left.CompareAndSwap(left, left-1) {
			return true
		}
	}
}

// fetch takes a ticket that was given back, or moves half of another cell to own and takes one.
func (b *Box) fetch(own *cell) bool {
	if !b.any() {
		return false
	}
	b.moving.Lock()
	defer b.moving.Unlock()
	if given := b.given.Swap(0); given > 0 {
		own.left.Add(given - 1)
		return true
	}
	for i := range b.cells {
		from := &b.cells[i]
		for {
			left := from.left.Load()
			if left == 0 {
				break
			}
			half := (left + 1) / 2
			if from.left.CompareAndSwap(left, left-half) {
				own.left.Add(half - 1)
				return true
			}
		}
	}
	return false
}

// any reports whether it sees a ticket.
func (b *Box) any() bool {
	for i := range b.cells {
		if b.cells[i].left.Load() > 0 {
			return true
		}
	}
	return b.given.Load() > 0
}

// Give gives a ticket back.
func (b *Box) Give() { b.given.Add(1) }

// Lose records that a taken ticket has no key and does not come back.
func (b *Box) Lose() { b.lost.Add(1) }

// Count returns how many tickets have a key, or may get one by an add that is under way, and how many are
// left. These are no more than are left at some moment of the call, so a stored number never counts a
// ticket that is taken by then.
//
// No ticket is counted twice. Lost tickets are counted first, given ones next, then the cells: a ticket
// that is counted where it was does not come back to a place that is counted later. The lock keeps
// tickets from moving between cells.
func (b *Box) Count() (taken, left uint64) {
	b.moving.Lock()
	defer b.moving.Unlock()
	lost := b.lost.Load()
	sum := b.given.Load()
	for i := range b.cells {
		sum += b.cells[i].left.Load()
	}
	return b.size - uint64(lost+sum), uint64(sum)
}
