package redisfilter

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// A slot is a counter in the value of a shard that belongs to one handle, by which the
// handle notices that the value is older than what was confirmed to it: because a replica
// that lagged behind was promoted, an older dump was restored, or an append-only file had
// lost its end.
//
//	 0  8  number: in its upper half the owner, random, 0 for a slot that was never used;
//	       in its lower half the count of the owner's adds
//	 8  4  used: when the owner was last seen, in Unix seconds by the server's clock
//	12  4  0
//
// The command that adds also adds 1 to the number, the command that asks reads it; both tell
// by it, and by nothing else, that the value is the one it should be. Another owner or a
// lower count than one that was seen before comes from another value or an older one. One
// counter for all handles would not do: after a rollback, the adds of others would soon raise
// it past what was seen.
//
// A handle takes a slot before its first add, so that those which only ask take none.
// If all are taken, it takes the one that has not been used for longest: mostly its
// owner has ended. Should it live, it sees with its next command another owner, and
// must take this for a loss.
type slot struct {
	at     uint64       // where it begins in the value
	number atomic.Int64 // the highest one that was seen

	clock   time.Time    // of the server, when the slot was taken,
	taken   time.Time    // and here
	touched atomic.Int64 // what "used" was set to last
}

const (
	slotBytes = 16
	usedAt    = 8

	// maxOwner leaves the sign and one more bit of a number, see compareAndSet.
	maxOwner = 1<<30 - 1

	// maxCount is after how many adds a handle takes another slot: the count must never
	// run over into the owner.
	maxCount = 1 << 31

	// touchAfter is after how many seconds a handle renews "used". The commands of an
	// add do it along with the rest.
	touchAfter = 10
)

// ownerOf returns the owner that a number names.
func ownerOf(number int64) int64 { return number >> 32 }

func (s *slot) owner() int64 { return ownerOf(s.number.Load()) }

// full reports whether it is time to take another slot.
func (s *slot) full() bool { return s.number.Load()&math.MaxUint32 >= maxCount }

// now returns the server's time in seconds, without asking it.
func (s *slot) now() int64 { return s.clock.Add(time.Since(s.taken)).Unix() }

// touch reports whether it is time to renew "used", and to what. Of several goroutines,
// one is told so.
func (s *slot) touch() (used int64, due bool) {
	used = s.now()
	before := s.touched.Load()
	return used, used-before >= touchAfter && s.touched.CompareAndSwap(before, used)
}

// see notes a number from a reply; least is what it must be. It reports false if the
// value is older than that.
func (s *slot) see(number, least int64) bool {
	if number < least {
		return false
	}
	for {
		before := s.number.Load()
		if before >= number || s.number.CompareAndSwap(before, number) {
			return true
		}
	}
}

// claimTries is how often another handle may be faster.
const claimTries = 50

// claim gives each life a slot that has none. failed has the errors by shard; err is that of
// ctx.
func (f *Filter) claim(ctx context.Context, shards []*shard) (failed map[*shard]error) {
	for range claimTries {
		var todo []*shard
		for _, s := range shards {
			if l := s.life.Load(); l.slot.Load() == nil && !l.lost.Load() && failed[s] == nil {
				todo = append(todo, s)
			}
		}
		if len(todo) == 0 {
			return failed
		}
		failed = f.claimOnce(ctx, todo, failed)
	}
	for _, s := range shards {
		if l := s.life.Load(); l.slot.Load() == nil && failed[s] == nil {
			failed = fail(failed, s, fmt.Errorf("redisfilter: key %q: other handles took the slot in each of %d tries", s.name, claimTries))
		}
	}
	return failed
}

func fail(failed map[*shard]error, s *shard, err error) map[*shard]error {
	if failed == nil {
		failed = make(map[*shard]error)
	}
	failed[s] = err
	return failed
}

// claimOnce looks at the slots of some shards and tries to take one of each.
func (f *Filter) claimOnce(ctx context.Context, shards []*shard, failed map[*shard]error) map[*shard]error {
	var looks []*send.Command
	var tables []*redis.StringCmd
	for _, s := range shards {
		table := redis.NewStringCmd(ctx, "GETRANGE", s.name, f.layout.table(), f.layout.length-1)
		tables = append(tables, table)
		looks = append(looks, &send.Command{Key: s.name, Cmd: table})
	}
	clock, err := f.serverTime(ctx)
	if err == nil {
		err = f.ask(ctx, looks)
	}
	if err != nil {
		for _, s := range shards {
			failed = fail(failed, s, send.Explain(s.name, err))
		}
		return failed
	}
	var claims []*send.Command
	var claimed []*shard
	var slots []*slot
	var replies []*redis.Cmd
	for i, s := range shards {
		table, err := tables[i].Bytes()
		l := s.life.Load()
		switch {
		case err != nil:
			failed = fail(failed, s, send.Explain(s.name, err))
			continue
		case uint64(len(table)) != f.layout.length-f.layout.table() || int64(binary.BigEndian.Uint64(table[len(table)-tailBytes:])) != l.epoch:
			failed = fail(failed, s, f.diagnose(ctx, s, l))
			continue
		}
		index, before := choose(table[:len(table)-tailBytes])
		slot := &slot{at: f.layout.slotAt(index), clock: clock, taken: time.Now()}
		slot.number.Store((1 + newNonce()%maxOwner) << 32)
		slot.touched.Store(clock.Unix())
		reply := redis.NewCmd(ctx, compareAndSet(s.name, slot.at, before, slot.number.Load(), clock.Unix(), f.layout.tail)...)
		replies = append(replies, reply)
		claims = append(claims, &send.Command{Key: s.name, Cmd: send.Once{Cmd: reply}})
		claimed, slots = append(claimed, s), append(slots, slot)
	}
	if err := f.ask(ctx, claims); err != nil {
		for _, s := range claimed {
			failed = fail(failed, s, send.Explain(s.name, err))
		}
		return failed
	}
	for i, s := range claimed {
		l := s.life.Load()
		values, err := replies[i].Slice()
		switch {
		case err != nil:
			failed = fail(failed, s, send.Explain(s.name, err))
		case len(values) != 8 || values[7] != l.epoch:
			failed = fail(failed, s, f.diagnose(ctx, s, l))
		case values[4] == slots[i].number.Load():
			l.slot.CompareAndSwap(nil, slots[i]) // another goroutine of this handle may have been faster
		}
	}
	return failed
}

// choose returns a slot that was never used, or else the one that has not been used for
// longest, and its number. Of several, it returns one by chance: handles that start at the
// same time should not all want the same.
func choose(table []byte) (index int, number int64) {
	oldest, equals := uint64(math.MaxUint64), 0
	for i := 0; i*slotBytes < len(table); i++ {
		s := table[i*slotBytes:]
		used := uint64(binary.BigEndian.Uint32(s[usedAt:])) + 1
		n := int64(binary.BigEndian.Uint64(s))
		if n == 0 {
			used = 0
		}
		if used < oldest {
			oldest, equals = used, 0
		}
		if used == oldest {
			if equals++; rand.IntN(equals) == 0 {
				index, number = i, n
			}
		}
	}
	return index, number
}

// compareAndSet returns a BITFIELD that makes after the number of a slot, if before is,
// and changes no number otherwise. Both are at most maxNonce. The fifth reply is after if it
// was done; the eighth is the epoch.
//
// BITFIELD has no condition, but OVERFLOW FAIL makes an INCRBY one: it is left out if the
// result does not fit. With max the largest number of 63 bits, a number that is before goes
// to max, to 0, (stays,) to max, and to after. A larger one is left alone by all five; a
// smaller one is raised by the first and lowered by the third. A 0 is a slot
// without an owner, and becomes after whatever before was.
func compareAndSet(key string, at uint64, before, after, used int64, tail uint64) []any {
	const most = math.MaxInt64
	bit := at*8 + 1 // the first bit of the 64 is always 0
	args := []any{"BITFIELD", key, "OVERFLOW", "FAIL"}
	for _, by := range []int64{most - before, -most, before - most, most, after - most} {
		args = append(args, "INCRBY", "u63", bit, by)
	}
	return append(args,
		"SET", "u32", markBit, uint64(mark),
		"SET", "u32", (at+usedAt)*8, used,
		"GET", "i64", tail*8)
}

// keep renews "used" of a handle that has only asked for a while. It looks before, for on a
// key that has vanished the command would leave an orphan.
func (f *Filter) keep(ctx context.Context, s *shard, l *life, slot *slot, used int64) error {
	if err := f.alive(ctx, s, l); err != nil {
		return err
	}
	_, err := f.sender.Do(ctx, "BITFIELD", s.name, "SET", "u32", markBit, uint64(mark), "SET", "u32", (slot.at+usedAt)*8, used)
	return send.Explain(s.name, err)
}
