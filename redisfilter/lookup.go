package redisfilter

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/seed3447c163/bloom/redisfilter/internal/send"
)

// Constant arguments as interfaces, so that they are not allocated for each word.
var argGet, argWord any = "GET", "i64"

// A reading is one command that looks up keys of a batch in all layers, without a script. It also reads the number of
// layers or the generation.
type reading struct {
	batch     *batch
	call      *send.Call
	cmd       *redis.IntSliceCmd
	record    uint64   // where the record begins; 0 for a handle without confirmed adds
	confirmed numbers  // confirmed numbers of the lanes when the command was made
	known     uint64   // known state when the command was made
	to        int      // end of the keys
	masks     []uint64 // of the words of the keys
	offsets   []uint64 // of all words that are read, in bits
}

// headWords is the largest number of words that a lookup reads before the words of the keys: the record, the last
// epoch, the state, the shift, and the time of the last add.
const headWords = recordBytes/8 + 4

// read sends one command for each batch, which looks up its next keys.
func (f *handle) read(ctx context.Context, batches []*batch) {
	readings, calls := make([]*reading, 0, len(batches)), make([]*send.Call, 0, len(batches))
	for _, b := range batches {
		if b.begin != nil && b.begin() == 0 {
			continue
		}
		if b.layers, b.err = b.value.plan.mode.reading(b.state); b.err == nil {
			r := f.newReading(ctx, b)
			readings, calls = append(readings, r), append(calls, r.call)
		}
	}
	f.sender.Send(ctx, calls...)
	for _, r := range readings {
		f.answered(ctx, r)
	}
}

// newReading makes the command for the next keys of a batch.
func (f *handle) newReading(ctx context.Context, b *batch) *reading {
	// The confirmed numbers are read before the offset of the record, which has them even after it has moved.
	r := &reading{batch: b, to: b.next(), confirmed: b.value.slot.confirmed(), known: b.value.state.Load()}
	if r.confirmed != (numbers{}) {
		r.record = b.value.slot.record.Load()
	}
	perKey := 0
	for _, l := range b.layers {
		perKey += l.words
	}
	r.offsets = make([]uint64, 0, headWords+(r.to-b.done)*perKey)
	r.masks = make([]uint64, 0, (r.to-b.done)*perKey)
	args := make([]any, 2, 2+3*cap(r.offsets))
	args[0], args[1] = "BITFIELD_RO", b.shard.name
	get := func(at uint64) {
		r.offsets = append(r.offsets, at*8)
		args = append(args, argGet, argWord, &r.offsets[len(r.offsets)-1])
	}
	// A record with the tag shows that the value is the right one, and not truncated before the record.
	if r.record != 0 {
		for at := uint64(0); at < recordBytes; at += 8 {
			get(r.record + at)
		}
	}
	if r.record == 0 || !f.plan.fixed() {
		get(b.layers[len(b.layers)-1].end)
	}
	if !f.plan.fixed() {
		get(stateField)
		get(shiftField)
	}
	if f.plan.opts.windowed {
		get(addedField)
	}
	for i := b.done; i < r.to; i++ {
		for _, l := range b.layers {
			block := b.blockOf(i, l, f.plan.scheme)
			for word, mask := range block.masks {
				if mask != 0 {
					r.masks = append(r.masks, mask)
					get(l.at + block.index*blockBytes + uint64(word)*8)
				}
			}
		}
	}
	r.cmd = redis.NewIntSliceCmd(ctx, args...)
	r.call = &send.Call{Key: b.shard.name, Cmd: r.cmd}
	f.sender.Counts.Keys.Add(uint64(r.to - b.done))
	return r
}

// answered reads the reply to a reading. If a layer was added, no key gets an answer, and b.state is raised.
func (f *handle) answered(ctx context.Context, r *reading) {
	b := r.batch
	if err := r.call.Err(); err != nil {
		b.err = f.refused(b.value, err)
		return
	}
	values := r.cmd.Val()
	if len(values) != len(r.offsets) {
		b.err = fmt.Errorf("%d replies, want %d", len(values), len(r.offsets))
		return
	}
	if b.err = f.readHead(ctx, r, values[:len(values)-len(r.masks)]); b.err != nil || b.again {
		return
	}
	b.value.hear(0, 0)
	values = values[len(values)-len(r.masks):]
	at := 0
	for i := b.done; i < r.to; i++ {
		found := false
		for n, l := range b.layers {
			all := b.alive == nil || b.alive[n]
			for range l.words {
				all = all && bits.ReverseBytes64(uint64(values[at]))&r.masks[at] == r.masks[at]
				at++
			}
			found = found || all
		}
		b.answers[b.indices[i]] = found
	}
	b.settle(f, r.to, answered)
	if r.record != 0 && !owns(r.record) { // before the record is displaced again; the next call notices an error
		f.claim(ctx, b.shard, b.value, r.record)
	}
}

// readHead compares the words before the keys with the known state, and sets which layers count. It sets b.again if the
// keys must be looked up once more.
func (f *handle) readHead(ctx context.Context, r *reading, head []int64) error {
	b, v := r.batch, r.batch.value
	b.again = false
	if r.record != 0 {
		var stored [recordBytes]byte
		for i := range recordBytes / 8 {
			binary.BigEndian.PutUint64(stored[8*i:], uint64(head[i]))
		}
		switch mine := string(stored[:8]) == v.slot.tag; {
		case !mine && v.slot.record.Load() != r.record: // another goroutine has found the record elsewhere
			b.again = true
			return nil
		case !mine && !b.moved: // another handle has taken the slot, so the record is in the other half, or gone
			b.moved, b.again = true, true
			v.slot.record.CompareAndSwap(r.record, otherHalf(r.record))
			return nil
		case !mine: // claim looks at all slots, and notices if the value is gone
			b.tryAgain("other handles took the slot")
			if b.again = b.resend; b.again {
				_, b.err = f.claim(ctx, b.shard, v, r.record)
			}
			return b.err
		case numbersOf(stored[lanesField:]).lack(r.confirmed):
			return f.onLost(v, isOlder)
		}
		head = head[recordBytes/8:]
	}
	if len(head) > 0 && uint64(head[0]) != binary.BigEndian.Uint64([]byte(b.value.epoch)) {
		return f.onLost(b.value, isGone)
	}
	if f.plan.fixed() {
		return nil
	}
	seen := seen{state: readDouble(head[1]).whole(), shift: readDouble(head[2]).whole()}
	if f.plan.opts.windowed {
		seen.added = readDouble(head[3]).whole()
	}
	if _, impossible := v.plan.mode.reading(seen.state); seen.state < r.known || seen.shift >= maxExact || impossible != nil {
		return f.onLost(v, isOlder)
	}
	raise(&v.state, seen.state)
	raise(&v.shift, seen.shift)
	k := v.known()
	alive, next := v.plan.mode.alive(k, b.state, seen)
	if next == ask {
		if k.looked, b.err = f.askClock(ctx, b.shard, v); b.err != nil {
			return b.err
		}
		if b.repacked++; k.looked.added != seen.added && b.repacked <= 10 { // a key was added meanwhile
			next = again
		} else {
			k.time, k.age = 0, 0
			alive, next = v.plan.mode.alive(k, b.state, seen)
		}
	}
	b.alive, b.again, b.state = alive, next != judge, seen.state
	return nil
}

// askClock gets the server's clock, by open.lua. It returns the generation at that time.
func (f *handle) askClock(ctx context.Context, s *shard, v *incarnation) (l look, err error) {
	sent := elapsed()
	is, err := f.opened(f.open(ctx, false, []*shard{s}, found{plan: v.plan})[0], v.plan)
	switch {
	case err != nil && !errors.Is(err, ErrMismatch):
		return l, f.refused(v, err)
	case err != nil || is.state != 'w' || is.epoch() != v.epoch:
		return l, f.onLost(v, isGone)
	}
	v.hear(is.us, sent)
	now := known{state: is.State.whole(), shift: is.Shift.whole(), time: time.Duration(is.us) * time.Microsecond}
	l = look{v.plan.mode.expect(now), is.Added.whole()}
	v.looked.Store(&l)
	return l, nil
}

// readDouble decodes a number that a script has written and BITFIELD_RO has read.
func readDouble(value int64) double {
	return double(math.Float64frombits(bits.ReverseBytes64(uint64(value))))
}
