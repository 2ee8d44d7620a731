// Package tickets counts down from a number, in as many places as there are
// processors, so that goroutines that count do not contend for one cache line.
package tickets

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Box holds tickets. Its methods, except Refill, are safe for concurrent use.
//
// Who has taken a ticket either uses it or gives it back. Each goroutine takes from a cell of
// its own, without a lock, and when that is empty, moves half of another one there. So the
// tickets are given out to the last one, but mostly from a cache line that no other processor
// writes.
type Box struct {
	cells []cell
	shift uint
	size  uint64 // tickets in all

	moving sync.Mutex   // held while tickets go from one cell to another
	given  atomic.Int64 // given back, and in no cell yet
}

type cell struct {
	left   atomic.Int64
	used   atomic.Int64
	inside atomic.Int64
	_      [64 - 24]byte // a cache line each
}

// New returns a box of n tickets. They are for a filter of so many bits.
func New(n, bits uint64) *Box {
	// Four cells to a processor: goroutines find theirs by hashing, and seldom meet. But
	// where tickets are few, memory for them should be, too; and where there are more than
	// bits, as a file may say, their number is no reason to ask for any.
	cells, shift := 4, uint(62)
	for cells < 4*runtime.GOMAXPROCS(0) && cells < 256 && uint64(cells) < min(n, bits)/64 {
		cells, shift = cells*2, shift-1
	}
	b := &Box{cells: make([]cell, cells), shift: shift}
	b.Refill(n)
	return b
}

// Refill makes it a box of n tickets, as [New] does. No other goroutine may use it
// meanwhile.
func (b *Box) Refill(n uint64) {
	b.size = n
	b.given.Store(0)
	each, more := n/uint64(len(b.cells)), n%uint64(len(b.cells))
	for i := range b.cells {
		left := each
		if uint64(i) < more {
			left++
		}
		b.cells[i].left.Store(int64(left))
		b.cells[i].used.Store(0)
	}
}

// own returns which cell this goroutine should use. The address of its stack is as
// good as an identity, which the language does not have: goroutines that run at the
// same time have different stacks. It is no more than a hint.
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

// fetch takes a ticket of those that were given back or are in another cell, and moves half of
// the others there with it.
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

// Use says that a ticket which was taken is never given back.
func (b *Box) Use() { b.cells[b.own()].used.Add(1) }

// Give gives a ticket back.
func (b *Box) Give() { b.given.Add(1) }

// UsedUp reports whether all tickets are used: none is left, and none can come back.
func (b *Box) UsedUp() bool {
	var used int64
	for i := range b.cells {
		used += b.cells[i].used.Load()
	}
	return uint64(used) == b.size
}

// Left returns how many tickets are left: no more than there are at some moment of the call,
// so that a stored number never counts a ticket that is taken by then.
//
// None is counted twice. What is given back is counted before the cells, so that a ticket
// which was counted in its cell and then given back is not; and meanwhile none goes from one
// cell to another.
func (b *Box) Left() uint64 {
	b.moving.Lock()
	defer b.moving.Unlock()
	sum := b.given.Load()
	for i := range b.cells {
		sum += b.cells[i].left.Load()
	}
	return uint64(sum)
}

// Enter says that the caller uses what the box stands for, until it
// calls Leave of the result.
func (b *Box) Enter() Visit {
	c := &b.cells[b.own()]
	c.inside.Add(1)
	return Visit{c}
}

// A Visit is what [Box.Enter] began.
type Visit struct{ c *cell }

// Leave ends the visit.
func (v Visit) Leave() { v.c.inside.Add(-1) }

// Idle reports whether nobody is inside. It is certain only of those who cannot
// enter any more: who enters and then finds out that it came too late may leave
// again at any time.
func (b *Box) Idle() bool {
	for i := range b.cells {
		if b.cells[i].inside.Load() != 0 {
			return false
		}
	}
	return true
}
