package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// lanesPerSlot is the number of adds of one handle to a shard that can run at the same time.
const lanesPerSlot = 4

// numbers has the number of an add for each lane.
type numbers [lanesPerSlot]uint64

// lack reports whether a value with the numbers have lacks a confirmed add.
func (have numbers) lack(confirmed numbers) bool {
	for lane, n := range confirmed {
		if have[lane] < n {
			return true
		}
	}
	return false
}

// A ticket identifies an add: its lane, its number, and the last confirmed number of each lane. The server executes the
// add only if its stored numbers are at least the confirmed ones, and that of the lane is below the add's. Then it
// stores the add's number, which is even, or this number plus 1 if a key was new.
type ticket struct {
	lane      int
	number    uint64
	confirmed numbers
}

// lanes number the adds of a handle. Each lane has at most one running add. The next number of a lane is sent only
// after the add before was confirmed or given up; the reply of an add that was given up is ignored.
//
// An add without a reply is sent again with its number, to any server. The server executes it, or replies that it was
// executed, which confirms it: no greater number was sent, so the stored number is that of this add.
//
// Why no confirmed add is lost unnoticed: if the stored number of a lane is at least c, the value has the add c, or a
// later add of the lane. The later add named c or a later number as confirmed, so it was executed on a value with that
// add. By induction, every value that passes the check has every confirmed add in its history. This holds for any
// number of servers, copies, restores and late or repeated commands. Within one history the numbers only grow, so there
// is no false alarm.
type lanes struct{ sent, confirmed numbers }

func (l *lanes) ticket(lane int) ticket {
	l.sent[lane] += 2
	return ticket{lane, l.sent[lane], l.confirmed}
}

func (l *lanes) confirm(t ticket) { l.confirmed[t.lane] = t.number }

// A slot is the handle's side of its record in the value of a shard: its tag, the numbers of its lanes, and its offset.
type slot struct {
	tag     string        // random, a new one for each incarnation of the shard
	record  atomic.Uint64 // offset of the record in the value, 0 before the first claim
	free    chan int      // lanes without a running add
	stamped atomic.Int64  // local time when an add last stamped the slot, in nanoseconds

	mu    sync.Mutex
	lanes lanes
}

// A slot in the value has two records: of the handle that has it, and of the handle that had it before. A record has
// the tag, 8 bytes, the stamp, 4 bytes, and a number of 5 bytes for each lane. The stamp is the number of claims of the
// value, modulo 2^32, when the record was last used.
//
// A record moves with its numbers: to the second half of its slot when another handle takes the slot, and to the first
// half of another slot when its handle claims again. So the numbers of a tag only grow within one history, and the
// proof at lanes holds for each record with the tag. A record that was displaced twice is gone. Then nothing shows that
// the value is intact.
const (
	recordBytes = 32
	slotBytes   = 2 * recordBytes // slots begin at multiples of it
	lanesField  = 12
	numberBytes = 5
)

func newSlot(tag string) *slot {
	s := &slot{tag: tag, free: make(chan int, lanesPerSlot)}
	for lane := range lanesPerSlot {
		s.free <- lane
	}
	return s
}

// owns reports whether a record is in the first half of its slot, so that its handle may add.
func owns(record uint64) bool { return record != 0 && record%slotBytes == 0 }

// otherHalf returns the offset of the other record of the same slot.
func otherHalf(record uint64) uint64 { return record ^ recordBytes }

// take returns a ticket if a lane is free. The caller frees the lane by release.
func (s *slot) take() (t ticket, ok bool) {
	select {
	case lane := <-s.free:
		return s.ticket(lane), true
	default:
		return t, false
	}
}

// wait waits until a lane is free and returns a ticket.
func (s *slot) wait(ctx context.Context) (ticket, error) {
	select {
	case lane := <-s.free:
		return s.ticket(lane), nil
	case <-ctx.Done():
		return ticket{}, fmt.Errorf("stopped waiting for one of %d adds under way: %w", lanesPerSlot, ctx.Err())
	}
}

func (s *slot) release(t ticket) { s.free <- t.lane }

func (s *slot) ticket(lane int) ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lanes.ticket(lane)
}

func (s *slot) confirm(t ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes.confirm(t)
}

func (s *slot) confirmed() numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lanes.confirmed
}

// stampAfter is the age from which an add renews the stamp. A handle that adds keeps its slot unless all other slots
// are claimed within this time.
const stampAfter = 10 * time.Millisecond

// stamp reports whether the caller's add should stamp the slot. It returns true to only one of several goroutines.
func (s *slot) stamp() bool {
	now, before := int64(elapsed()), s.stamped.Load()
	return (before == 0 || now-before >= int64(stampAfter)) && s.stamped.CompareAndSwap(before, now)
}

// args returns the first arguments of add.lua: where the record begins and ends, where the number of the lane begins,
// and the epoch, the tag and the ticket.
func (t ticket) args(epoch, tag string, record uint64) []any {
	b := append(append(append(make([]byte, 0, 8+8+1+(1+lanesPerSlot)*numberBytes), epoch...), tag...), byte(t.lane))
	b = t.confirmed.appendTo(appendNumber(b, t.number))
	return []any{record, record + recordBytes - 1, record + lanesField + numberBytes*uint64(t.lane), b}
}

func (n numbers) appendTo(b []byte) []byte {
	for _, number := range n {
		b = appendNumber(b, number)
	}
	return b
}

func appendNumber(b []byte, n uint64) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(n)), byte(n>>32))
}

// numbersOf decodes the numbers of a record; b begins with them.
func numbersOf(b []byte) (n numbers) {
	for lane := range n {
		n[lane] = uint64(binary.LittleEndian.Uint32(b[numberBytes*lane:])) | uint64(b[numberBytes*lane+4])<<32
	}
	return n
}
