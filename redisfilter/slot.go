package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// lanesPerSlot is the number of adds of one handle that can be under way to a shard.
const lanesPerSlot = 4

// numbers are the numbers of the last adds of each lane.
type numbers [lanesPerSlot]uint64

// lack reports whether a value with the numbers have lacks an add that was confirmed.
func (have numbers) lack(confirmed numbers) bool {
	for lane, n := range confirmed {
		if have[lane] < n {
			return true
		}
	}
	return false
}

// A ticket names an add to the server: its lane, its number, and the last confirmed number of each lane. The server
// executes the add only if its own numbers are at least the confirmed ones and its number of the lane is below the add's.
// It then stores the add's number.
type ticket struct {
	lane      int
	number    uint64
	confirmed numbers
}

// lanes number the adds of a handle. At most one add is under way on each lane. The next number of a lane is sent only
// when the add before is settled: confirmed, or given up, and then its reply is ignored.
//
// Why no confirmed add is lost unnoticed: a value whose number of a lane is at least c got there by the add c, or by a
// later add of the lane. That add named c, or a later number, as confirmed, so it was executed on a value that had it. By
// induction, every value that passes the check has every confirmed add in its history. This holds for any number of
// servers, copies, restores and late or repeated commands. Within one history the numbers only grow, so there is no false
// alarm.
type lanes struct{ sent, confirmed numbers }

func (l *lanes) ticket(lane int) ticket {
	l.sent[lane]++
	return ticket{lane, l.sent[lane], l.confirmed}
}

func (l *lanes) confirm(t ticket) { l.confirmed[t.lane] = t.number }

// A slot is a place in the value of a shard that belongs to one handle: its tag, how recently it was used, and the
// numbers of its lanes.
type slot struct {
	at      uint64 // in the value
	tag     string // random, for each claim another
	claim   uint64 // how many claims of slots the value had seen with this one
	free    chan int
	stamped atomic.Int64 // when an add last stamped the slot, in nanoseconds

	mu    sync.Mutex
	lanes lanes
}

// Fields of a slot in the value: the tag of 8 bytes, the stamp of 4, and a number of 5 bytes for each lane. The stamp is
// the number of claims that the value had seen when the slot was last used.
const (
	slotBytes   = 32
	free        = "\x00\x00\x00\x00\x00\x00\x00\x00" // the tag of a slot that was never claimed
	lanesField  = 12
	numberBytes = 5
)

func newSlot(at uint64, tag string, claim uint64) *slot {
	s := &slot{at: at, tag: tag, claim: claim, free: make(chan int, lanesPerSlot)}
	for lane := range lanesPerSlot {
		s.free <- lane
	}
	return s
}

// take returns a ticket if a lane is free. The caller gives the lane back by release.
func (s *slot) take() (t ticket, ok bool) {
	select {
	case lane := <-s.free:
		return s.ticket(lane), true
	default:
		return t, false
	}
}

// wait waits for a lane.
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

// stampAfter is the age of a stamp at which the next add renews it. A handle that adds keeps its slot unless all other
// slots are claimed within this time.
const stampAfter = 10 * time.Millisecond

// stamp reports whether an add is to stamp the slot. One of several goroutines is told so.
func (s *slot) stamp() bool {
	now, before := time.Now().UnixNano(), s.stamped.Load()
	return now-before >= int64(stampAfter) && s.stamped.CompareAndSwap(before, now)
}

// args are the first arguments of a script that adds: where the slot begins and ends, where the number of the lane
// begins, and the ticket.
func (s *slot) args(epoch string, t ticket) []any {
	b := make([]byte, 0, 8+8+1+(1+lanesPerSlot)*numberBytes)
	b = append(append(append(b, epoch...), s.tag...), byte(t.lane))
	b = appendNumber(b, t.number)
	for _, n := range t.confirmed {
		b = appendNumber(b, n)
	}
	return []any{s.at, s.at + slotBytes - 1, s.at + lanesField + numberBytes*uint64(t.lane), b}
}

func appendNumber(b []byte, n uint64) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(n)), byte(n>>32))
}

// numbersOf decodes the numbers behind the stamp of a slot.
func numbersOf(b []byte) (n numbers) {
	for lane := range n {
		n[lane] = uint64(binary.LittleEndian.Uint32(b[numberBytes*lane:])) | uint64(b[numberBytes*lane+4])<<32
	}
	return n
}
