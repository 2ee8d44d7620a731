// Package tickets limits the number of keys of a filter. It counts down in several cache lines, so that goroutines do
// not contend for one.
package tickets

import (
	"runtime"
	"sync/atomic"
)

// A Box holds tickets, one for each key. Its methods are safe for concurrent use.
//
// A goroutine takes a ticket before it adds a key. If the key is new, the goroutine keeps the ticket. Otherwise it
// gives the ticket back or records it as lost.
type Box struct {
	cells []Cell
	size  uint64 // number of tickets at the beginning
}

// A Cell has some of the tickets. They never move to another cell, so no ticket is counted twice.
type Cell struct {
	left, lost atomic.Uint64
	_          [64 - 16]byte // a cache line each
}

// New returns a box with taken + left tickets, for a filter of the given number of bits. left tickets can still be
// taken.
func New(taken, left, bits uint64) *Box {
	// Up to four per processor; fewer for few tickets or bits, because a file may claim any number of tickets.
	cells := uint64(4)
	for cells < uint64(4*runtime.GOMAXPROCS(0)) && cells < 256 && cells < min(left, bits)/64 {
		cells *= 2
	}
	b := &Box{cells: make([]Cell, cells), size: taken + left}
	for i := range b.cells {
		b.cells[i].left.Store(left / cells)
		if uint64(i) < left%cells {
			b.cells[i].left.Add(1)
		}
	}
	return b
}

// Take takes a ticket and returns its cell, or nil if none is left. It begins with a cell that the key's digest
// selects.
func (b *Box) Take(digest uint64) *Cell {
	for i := range uint64(len(b.cells)) {
		c := &b.cells[(digest+i)&uint64(len(b.cells)-1)]
		for left := c.left.Load(); left > 0; left = c.left.Load() {
			if c.left.CompareAndSwap(left, left-1) {
				return c
			}
		}
	}
	return nil
}

// Give gives a ticket back.
func (c *Cell) Give() { c.left.Add(1) }

// Lose records that a taken ticket has no key and is not given back.
func (c *Cell) Lose() { c.lost.Add(1) }

// Count returns the number of tickets that have a key or are held by a running add, and the number that are left.
func (b *Box) Count() (taken, left uint64) {
	taken = b.size
	for i := range b.cells {
		taken -= b.cells[i].lost.Load() // before left: a ticket that is lost later counts as taken
		left += b.cells[i].left.Load()
	}
	return taken - left, left
}
